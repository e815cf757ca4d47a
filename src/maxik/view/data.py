"""What the page shows, as JSON-able data: positions of every node, chains with goals, planes, reach, curves, diagnoses.

World space, scene units, Z up, binary64 of float32 results. Long takes are thinned: at most MOST_FRAMES frames are sent, and
the page says so. Arrays travel as base64 of little-endian float32, C order: {"shape": [...], "data": "..."}; NaN where
there is nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxik.formats.skeleton import skeleton_joints
from maxik.scene.motion import BakedScene, ChainMotion
from maxik.scene.scene import TICKS_PER_SECOND
from maxik.scene.spline_ik import segments_of
from maxik.scene.turns import Float64s

Json = dict[str, Any]

MOST_FRAMES = 1500
"""Frames that are sent; a longer take is thinned evenly."""
_ON_CURVE = 12
"""Chords a segment of a drawn spline."""


def page_data(baked: BakedScene, certificate: Mapping[str, Any]) -> Json:
    """Return everything that the page's script needs."""
    frames = len(baked.ticks)
    sent = np.unique(np.linspace(0, frames - 1, min(frames, MOST_FRAMES)).round().astype(np.int64))
    nodes = baked.scene.nodes
    worlds = np.stack([_rows(motion.world_tm[:, 3], frames)[sent] for motion in baked.nodes], axis=1)
    joints = set(skeleton_joints(baked))
    chain_of = {joint: place for place, motion in enumerate(baked.chains) for joint in motion.joints}
    bones = [
        [node.parent, index, chain_of.get(node.parent, -1)]
        for index, node in enumerate(nodes)
        if node.parent is not None and index in joints and node.parent in joints
    ]
    return {
        "title": PurePath(baked.scene.file).name,
        "frames": frames,
        "sent": sent.tolist(),
        "ticks": baked.ticks[sent].tolist(),
        "seconds": ((baked.ticks[sent] - baked.ticks[0]) / TICKS_PER_SECOND).tolist(),
        "frame_rate": baked.frame_rate,
        "names": [node.name for node in nodes],
        "joints": sorted(joints),
        "others": sorted(set(range(len(nodes))) - joints - {baked.scene.chains[motion.chain].goal for motion in baked.chains}),
        "bones": bones,
        "positions": _packed(worlds),
        "chains": [_chain(baked, motion, certificate, sent) for motion in baked.chains],
        "header": _header(certificate),
        "not_solved": [f"{entry['name']} ({entry['solver']}): {entry['reason']}" for entry in certificate["chains_not_solved"]],
        "not_evaluated": [_notice(entry) for entry in certificate["not_evaluated"]],
    }


def _header(certificate: Mapping[str, Any]) -> Json:
    engine, scene = certificate["engine"], certificate["scene"]
    return {
        "file": scene["file"],
        "engine": f"{engine['engine']} {engine['version']}",
        "profile": certificate["profile"]["name"],
        "environment": certificate["profile"]["environment"],
        "nodes": scene["nodes"],
        "sha256": certificate["raw_output_sha256"],
    }


def _notice(entry: Mapping[str, Any]) -> str:
    where = entry["node"] or "scene"
    return f"{where}: {entry['what']} ({entry['kind']})"


def _chain(baked: BakedScene, motion: ChainMotion, certificate: Mapping[str, Any], sent: NDArray[np.int64]) -> Json:
    scene, frames = baked.scene, len(baked.ticks)
    chain = scene.chains[motion.chain]
    told = next(entry for entry in certificate["chains"] if entry["name"] == chain.name)
    joints = list(motion.joints)
    entry: Json = {
        "name": chain.name,
        "method": told["method"],
        "spline": chain.spline is not None,
        "start": chain.start,
        "end": chain.end,
        "goal": chain.goal,
        "joints": joints,
        "solved": motion.solved[sent].tolist(),
        "causes": {cause: mask[sent].tolist() for cause, mask in motion.causes.items() if mask.any()},
        "euler": {scene.nodes[joint].name: _packed(_euler(baked, joint)[sent]) for joint in joints},
    }
    spill = next((found for found in certificate.get("spill", ()) if found["chain"] == chain.name), None)
    if spill is not None:
        entry["causes"]["sensitive to register spills"] = _spilled(baked, spill)[sent].tolist()
    if chain.spline is not None:
        shape = scene.nodes[chain.spline.shape].shape
        assert shape is not None  # noqa: S101 - a solved spline chain has its shape
        still = motion.knots is None and len(motion.object_tm) == 1
        rows = sent[:1] if still else sent
        curves = [_curve(shape, motion, int(frame)) for frame in rows]
        entry["curve"] = _packed(np.array(curves))
        entry["points"] = _packed(_to_world(motion.points[sent], _rows(motion.parent_tm, frames)[sent]))
        return entry
    distance = _rows(motion.goal_distance, frames)[sent]
    entry["distance"] = _packed(distance)
    entry["reach"] = _packed(_rows(motion.reach, frames)[sent])
    entry["miss"] = _packed(_rows(motion.goal_miss, frames)[sent])
    entry["zero_normal"] = _packed(_zero_normal(baked, motion)[sent])
    entry["normal"] = _packed(_solved_normal(baked, motion)[sent])
    return entry


def _euler(baked: BakedScene, joint: int) -> Float64s:
    """Return a joint's Euler XYZ in degrees, (F, 3), NaN where it has none."""
    frames = len(baked.ticks)
    euler = baked.nodes[joint].euler
    return np.full((frames, 3), np.nan) if euler is None else np.degrees(_rows(euler, frames))


def _zero_normal(baked: BakedScene, motion: ChainMotion) -> Float64s:
    """Return the zero map's normal for the axis to the goal, (F, 3), world space: n0 across that axis (ik.zero_map)."""
    frames = len(baked.ticks)
    goal = _rows(motion.goal_in_chain[:, 3], frames)
    with np.errstate(all="ignore"):
        axis = goal / np.linalg.norm(goal, axis=1, keepdims=True)
        n0 = _rows(motion.n0, frames)
        across = n0 - np.einsum("fi,fi->f", n0, axis)[:, None] * axis
        across /= np.linalg.norm(across, axis=1, keepdims=True)
        in_world = np.einsum("fi,fij->fj", across, _rows(motion.parent_tm, frames)[:, :3])
        unit: Float64s = in_world / np.linalg.norm(in_world, axis=1, keepdims=True)
    return unit


def _solved_normal(baked: BakedScene, motion: ChainMotion) -> Float64s:
    """Return the plane normal of the posed limb, (F, 3), world space; NaN where it is straight or has one bone."""
    frames = len(baked.ticks)
    chain = baked.scene.chains[motion.chain]
    if len(motion.joints) < 2:  # noqa: PLR2004 - one bone has no plane
        return np.full((frames, 3), np.nan)
    start, elbow, end = (_rows(baked.nodes[node].world_tm[:, 3], frames) for node in (*motion.joints[:2], chain.end))
    normal = np.cross(end - start, elbow - start)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        unit: Float64s = np.where(length > 0.0, normal / length, np.nan)
    return unit


def _spilled(baked: BakedScene, spill: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Return the frames that a register spill could change."""
    ticks = {entry["tick"] for entry in spill["sensitive"] if "tick" in entry}
    return np.isin(baked.ticks, sorted(ticks))


def _curve(shape: Any, motion: ChainMotion, frame: int) -> Float64s:  # noqa: ANN401 - a Shape
    """Return points along the spline at a frame, (P, 3), world space."""
    knots = None if motion.knots is None else motion.knots[min(frame, len(motion.knots) - 1)]
    t = np.linspace(0.0, 1.0, _ON_CURVE + 1)[:, None]
    w = 1.0 - t
    cubic = np.array(segments_of(shape, knots), np.float64).reshape(-1, 4, 3)
    parts = [w**3 * a + 3.0 * w * w * t * b + 3.0 * w * t * t * c + t**3 * d for a, b, c, d in cubic]
    matrix = motion.object_tm[min(frame, len(motion.object_tm) - 1)].astype(np.float64)
    points: Float64s = np.concatenate(parts) @ matrix[:3] + matrix[3]
    return points


def _to_world(points: NDArray[np.float32], parent_tm: Float64s) -> Float64s:
    world: Float64s = np.einsum("fpi,fij->fpj", points.astype(np.float64), parent_tm[:, :3]) + parent_tm[:, None, 3]
    return world


def _rows(array: NDArray[np.float32], frames: int) -> Float64s:
    return np.broadcast_to(array, (frames, *array.shape[1:])).astype(np.float64)


def _packed(array: NDArray[np.floating]) -> Json:
    data = np.ascontiguousarray(array, "<f4")
    return {"shape": list(data.shape), "data": base64.b64encode(data.tobytes()).decode()}
