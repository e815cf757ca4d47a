"""A baked scene as JSON, format "maxik-bake/1": strict JSON (null for NaN), numbers that round-trip float32.

Tracks are lists of rows, one a frame, or a single row where nothing changes. `rotation` is the usual unit quaternion
(x, y, z, w); `euler` is Euler XYZ in radians where the rotation is one; for joints that a chain solves, `euler_bits`
holds its float32 bit patterns. Positions are local, scene units.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxik.errors import FileFormatError
from maxik.formats.quaternions import from_row_matrices
from maxik.formats.writers import WriteOptions
from maxik.scene.motion import BakedScene, NodeMotion
from maxik.scene.scene import Node

FORMAT = "maxik-bake/1"


def render_json(baked: BakedScene, certificate: Mapping[str, Any], _options: WriteOptions | None = None) -> bytes:
    """Return the bake as UTF-8 JSON."""
    scene = baked.scene
    return _dump(
        {
            "format": FORMAT,
            "source": scene.file,
            "frame_rate": baked.frame_rate,
            "ticks": baked.ticks.tolist(),
            "units": {"name": scene.units.name, "metres": scene.units.metres},
            "up": "z",
            "nodes": [_node(node, motion) for node, motion in zip(scene.nodes, baked.nodes, strict=True)],
            "chains": [
                {
                    "name": scene.chains[motion.chain].name,
                    "joints": list(motion.joints),
                    "goal": scene.chains[motion.chain].goal,
                    "end": scene.chains[motion.chain].end,
                    "solved": motion.solved.tolist(),
                    "goal_miss": _numbers(motion.goal_miss),
                    "degenerate": {cause: np.flatnonzero(mask).tolist() for cause, mask in motion.causes.items()},
                }
                for motion in baked.chains
            ],
            "certificate": dict(certificate),
        }
    )


def read_bake_json(path: str | Path) -> dict[str, Any]:
    """Return a bake as plain JSON data; FileFormatError when the file is not one."""
    try:
        told = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"is no bake: {error}"
        raise FileFormatError(message, file=str(path)) from error
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        message = f"is not of the format {FORMAT}"
        raise FileFormatError(message, file=str(path))
    return told


def _node(node: Node, motion: NodeMotion) -> dict[str, Any]:
    entry = {
        "name": node.name,
        "parent": node.parent,
        "object": node.object_class,
        "solved_by": list(motion.solved_by),
        "position": _numbers(motion.position),
        "rotation": _numbers(from_row_matrices(motion.rotation).astype(np.float32)),
        "scale": _numbers(motion.scale),
        "scale_axis": _numbers(motion.scale_axis),
    }
    if motion.euler is not None:
        entry["euler"] = _numbers(motion.euler)
        if motion.solved_by:
            words = np.ascontiguousarray(motion.euler).view(np.uint32)
            entry["euler_bits"] = [[f"{word:08x}" for word in row] for row in words.tolist()]
    return entry


def _numbers(array: NDArray[np.float32]) -> Any:  # noqa: ANN401 - nested lists
    """Return nested lists of the shortest decimals that round-trip float32, None for what is not finite."""
    if array.ndim > 1:
        return [_numbers(row) for row in array]
    return [float(str(value)) if np.isfinite(value) else None for value in array]


def _dump(entry: Mapping[str, Any]) -> bytes:
    return (json.dumps(entry, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n").encode()
