"""A baked scene as tables: CSV for people and spreadsheets, NPZ for scripts; float32 bits survive in both.

CSV: one row a frame and node. Numbers are the shortest decimals that round-trip float32; beside them stand the bit
patterns of local position and Euler angles. Position and rotation are local (parent space, scene units, radians;
quaternion x, y, z, w of the usual convention), `world_*` is the node's position in world space.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxik.formats.quaternions import from_row_matrices
from maxik.formats.writers import WriteOptions
from maxik.scene.motion import BakedScene, NodeMotion
from maxik.scene.scene import TICKS_PER_SECOND

CSV_COLUMNS = (
    *("frame", "tick", "time_s", "node", "name"),
    *("x", "y", "z"),
    *("qx", "qy", "qz", "qw"),
    *("euler_x", "euler_y", "euler_z"),
    *("scale_x", "scale_y", "scale_z"),
    *("world_x", "world_y", "world_z"),
    *("position_bits", "euler_bits"),
    "solved_by",
)
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of every entry of an NPZ file, so that the same bake gives the same bytes."""


def render_csv(baked: BakedScene, _certificate: Mapping[str, Any], _options: WriteOptions | None = None) -> bytes:
    """Return the CSV table as UTF-8; Euler columns are empty where a rotation is no Euler rotation."""
    frames = len(baked.ticks)
    columns = [_node_columns(motion, frames) for motion in baked.nodes]
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(CSV_COLUMNS)
    for frame, tick in enumerate(baked.ticks.tolist()):
        seconds = (tick - int(baked.ticks[0])) / TICKS_PER_SECOND
        for index, (node, cells) in enumerate(zip(baked.scene.nodes, columns, strict=True)):
            solved_by = ";".join(baked.nodes[index].solved_by)
            table.writerow((frame, tick, f"{seconds:.9g}", index, node.name, *cells[frame], solved_by))
    return text.getvalue().encode()


def render_npz(baked: BakedScene, certificate: Mapping[str, Any], _options: WriteOptions | None = None) -> bytes:
    """Return an .npz file (readable with allow_pickle=False), N nodes and F frames.

    `ticks` (F,), `names` (N,), `parents` (N,) with -1 for none, `local_tm` and `world_tm` (N, F, 4, 3), `euler`
    (N, F, 3) with NaN where there is none, `chains` (C,) names, `solved` (C, F), `certificate` (JSON text).
    """
    frames, nodes = len(baked.ticks), baked.scene.nodes
    nothing = np.full((1, 3), np.nan, np.float32)
    arrays: dict[str, NDArray[Any]] = {
        "ticks": baked.ticks,
        "names": np.array([node.name for node in nodes], np.str_),
        "parents": np.array([-1 if node.parent is None else node.parent for node in nodes], np.int64),
        "local_tm": _stacked([motion.local_tm for motion in baked.nodes], (frames, 4, 3)),
        "world_tm": _stacked([motion.world_tm for motion in baked.nodes], (frames, 4, 3)),
        "euler": _stacked([nothing if motion.euler is None else motion.euler for motion in baked.nodes], (frames, 3)),
        "chains": np.array([baked.scene.chains[motion.chain].name for motion in baked.chains], np.str_),
        "solved": np.array([motion.solved for motion in baked.chains], np.bool_).reshape(len(baked.chains), frames),
        "certificate": np.array(json.dumps(certificate, ensure_ascii=False)),
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), entry.getvalue(), zipfile.ZIP_DEFLATED)
    return data.getvalue()


def _stacked(arrays: list[NDArray[np.float32]], shape: tuple[int, ...]) -> NDArray[np.float32]:
    return np.array([np.broadcast_to(array, shape) for array in arrays], np.float32).reshape(len(arrays), *shape)


def _node_columns(motion: NodeMotion, frames: int) -> list[list[str]]:
    """Return the numeric cells of one node, a row a frame."""
    quaternion = from_row_matrices(motion.rotation).astype(np.float32)
    cells = [
        _decimals(motion.position, frames),
        _decimals(quaternion, frames),
        [[""] * 3] * frames if motion.euler is None else _decimals(motion.euler, frames),
        _decimals(motion.scale, frames),
        _decimals(np.ascontiguousarray(motion.world_tm[:, 3]), frames),
        _bits(motion.position, frames),
        [[""]] * frames if motion.euler is None else _bits(motion.euler, frames),
    ]
    return [[cell for group in row for cell in group] for row in zip(*cells, strict=True)]


def _decimals(array: NDArray[np.float32], frames: int) -> list[list[str]]:
    rows = [[str(value) for value in row] for row in array]
    return rows if len(rows) == frames else rows * frames


def _bits(array: NDArray[np.float32], frames: int) -> list[list[str]]:
    rows = [[" ".join(f"{word:08x}" for word in row)] for row in np.ascontiguousarray(array).view(np.uint32).tolist()]
    return rows if len(rows) == frames else rows * frames
