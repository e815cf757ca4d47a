"""Exports that 3ds Max itself wrote of the reference scenes, compared with maxik: ASE, glTF, .babylon, recorded keys.

Every comparison takes the scene at the export's own times, node by node, and keeps the worst difference of positions (scene
units) and of rotations (elements of the rotation matrix). What an export cannot show beyond its decimals is the tolerance.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxik.engines import make_engine
from maxik.formats.max import read_max
from maxik.profile import PROFILES
from maxik.scene.evaluate import evaluate
from maxik.scene.motion import BakedScene, NodeMotion
from maxik.scene.scene import TICKS_PER_SECOND, Scene
from maxik.scene.turns import matrix_of

Float64s = NDArray[np.float64]
Ints = NDArray[np.int64]

FRAME = 160
GLTF_AXES = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Row matrix from 3ds Max's axes (z up) to glTF's (y up, right-handed)."""
BABYLON_AXES = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
"""Row matrix from 3ds Max's axes to Babylon's (y up, left-handed)."""


@dataclass
class Comparison:
    """One export against maxik: what was compared, how much of it, and the worst differences."""

    scene: str
    export: str
    what: str
    tolerance: tuple[float, float]
    nodes: set[str] = field(default_factory=set)
    samples: int = 0
    position: float = 0.0
    rotation: float = 0.0

    def add(self, node: str, positions: Float64s, rotations: Float64s) -> None:
        """Count differences of positions (F, 3) and rotations (F, 3, 3), either of which may have no rows."""
        self.nodes.add(node)
        self.samples += max(len(positions), len(rotations))
        self.position = max(self.position, float(np.abs(positions).max(initial=0.0)))
        self.rotation = max(self.rotation, float(np.abs(rotations).max(initial=0.0)))

    @property
    def agrees(self) -> bool:
        """Whether both worst differences are within the tolerance."""
        return self.position <= self.tolerance[0] and self.rotation <= self.tolerance[1]


def compare_all(maxfiles: Path) -> list[Comparison]:
    """Return every comparison that the folder ../shared/maxfiles allows."""
    found = [
        compare_ase(maxfiles, f"assimp-assimp__{name}", ending)
        for name, ending in (
            ("CameraRollAnim", "ase"),
            ("CameraRollAnimWithChildObject", "ase"),
            ("TargetCameraAnim", "ase"),
            ("RotatingCube", "ASE"),
        )
    ]
    found += [
        compare_gltf(maxfiles, f"BabylonJS-Exporters__{name}") for name in ("RiggedFigure", "RiggedElf", "AnimatedSpotlights")
    ]
    return [*found, compare_babylon(maxfiles, "BabylonJS-Exporters__RiggedFigure"), compare_planes(maxfiles)]


# ---- ASE ----


def compare_ase(maxfiles: Path, stem: str, ending: str) -> Comparison:
    """Compare world TMs at the first frame, and sampled positions and rotations over time; four decimals are written.

    Rotation samples are turns since the sample before, so their rounding adds up: up to 180 samples of 5e-5 rad.
    """
    scene = read_max(maxfiles / f"{stem}.max")
    comparison = Comparison(f"{stem}.max", f"{stem}.{ending}", "world TM, sampled position and rotation", (1e-4, 1e-3))
    for name, told in _ase_nodes(maxfiles / "pairs" / f"{stem}.{ending}").items():
        index = _index(scene, name)
        first = _evaluated(scene, np.array([scene.first_tick])).nodes[index].world_tm[0].astype(np.float64)
        rows = np.array([told[f"TM_ROW{row}"][0] for row in range(4)])
        comparison.add(name, (first[3:] - rows[3:]), (first[None, :3] - rows[None, :3]))
        for key in ("CONTROL_POS_SAMPLE", "CONTROL_ROT_SAMPLE"):
            if key in told:
                samples = np.array(told[key])
                motion = _evaluated(scene, samples[:, 0].astype(np.int64)).nodes[index]
                if key == "CONTROL_POS_SAMPLE":
                    comparison.add(name, motion.position.astype(np.float64) - samples[:, 1:], np.zeros((0, 3, 3)))
                else:
                    comparison.add(name, np.zeros((0, 3)), motion.rotation.astype(np.float64) - _summed_turns(samples[:, 1:]))
    return comparison


def _ase_nodes(path: Path) -> dict[str, dict[str, list[list[float]]]]:
    """Return each node's lines of numbers by keyword, of its first block."""
    nodes: dict[str, dict[str, list[list[float]]]] = {}
    told: dict[str, list[list[float]]] = {}
    for line in path.read_text(encoding="latin-1").splitlines():
        found = re.match(r"\s*\*(\w+)\s*(.*)", line)
        if found is None:
            continue
        key, value = found.groups()
        if key == "NODE_NAME":
            told = nodes.setdefault(value.strip('"'), {})
        elif key.startswith("TM_ROW") and len(key) == 7:
            told.setdefault(key, [[float(number) for number in value.split()]])
        elif key.startswith("CONTROL_") and not value.endswith("{"):
            told.setdefault(key, []).append([float(number) for number in value.split()])
    return {name: told for name, told in nodes.items() if "TM_ROW0" in told}


def _summed_turns(axis_angles: Float64s) -> Float64s:
    """Return the row matrices (F, 3, 3) of turns that each follow the one before, from (F, 4): axis, angle."""
    axes = axis_angles[:, :3] / np.maximum(np.linalg.norm(axis_angles[:, :3], axis=1, keepdims=True), 1e-9)
    half = axis_angles[:, 3:] / 2.0
    turns = matrix_of(np.concatenate([axes * np.sin(half), np.cos(half)], axis=1))
    for place in range(1, len(turns)):
        turns[place] = turns[place - 1] @ turns[place]
    return turns


# ---- glTF and .babylon, by the Babylon exporter inside 3ds Max ----


def compare_gltf(maxfiles: Path, stem: str) -> Comparison:
    """Compare the local TM of every node that has the same parent in both, at rest and over every animation.

    Lights have a node of their own for their direction, which is no node of the scene. AnimatedSpotlights was exported
    before its last save: with the lengths of the middle keys unset, as their sister tracks still have them, its rotations
    agree within 3e-7; with the lengths that it holds now within 4e-5.
    """
    scene = read_max(maxfiles / f"{stem}.max")
    gltf = json.loads((maxfiles / "pairs" / f"{stem}.gltf").read_text(encoding="utf-8"))
    buffer = (maxfiles / "pairs" / f"{stem}.bin").read_bytes()
    comparison = Comparison(
        f"{stem}.max", f"{stem}.gltf", "local TM of every node and frame", (1e-6, 4e-5 if "Spot" in stem else 1.2e-5)
    )
    pairs = dict(_gltf_pairs(scene, gltf))
    rest = _evaluated(scene, np.array([scene.first_tick]))
    for place, index in pairs.items():
        node = gltf["nodes"][place]
        told = {path: np.array([node[path]], np.float64) for path in _PARTS if path in node}
        _compare_trs(comparison, scene.nodes[index].name, told, rest.nodes[index], GLTF_AXES)
    for animation in gltf.get("animations", []):
        channels = _channels(gltf, buffer, animation)
        first = _first_frame(scene, pairs, channels)
        for (place, path), (seconds, values) in channels.items():
            if place in pairs:
                ticks = first + np.rint(seconds * TICKS_PER_SECOND).astype(np.int64)
                motion = _evaluated(scene, ticks).nodes[pairs[place]]
                _compare_trs(comparison, scene.nodes[pairs[place]].name, {path: values}, motion, GLTF_AXES)
    return comparison


_PARTS = ("translation", "rotation", "scale")
_Channels = dict[tuple[int, str], tuple[Float64s, Float64s]]


def _gltf_pairs(scene: Scene, gltf: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield (glTF node, scene node) where name and parent agree; a root's parent is none, whatever stands above."""
    parents = {child: place for place, node in enumerate(gltf["nodes"]) for child in node.get("children", ())}
    for place, node in enumerate(gltf["nodes"]):
        found = [index for index, entry in enumerate(scene.nodes) if entry.name == node["name"].strip("_")]
        above = gltf["nodes"][parents[place]]["name"].strip("_") if place in parents else None
        if len(found) == 1 and "Direct" not in scene.nodes[found[0]].object_class:
            parent = scene.nodes[found[0]].parent
            if above is None or (parent is not None and scene.nodes[parent].name == above):
                yield place, found[0]


def _channels(gltf: dict[str, Any], buffer: bytes, animation: dict[str, Any]) -> _Channels:
    found = {}
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        seconds, values = (_accessor(gltf, buffer, sampler[key]) for key in ("input", "output"))
        found[channel["target"]["node"], channel["target"]["path"]] = seconds[:, 0], values
    return found


def _accessor(gltf: dict[str, Any], buffer: bytes, place: int) -> Float64s:
    accessor = gltf["accessors"][place]
    view = gltf["bufferViews"][accessor["bufferView"]]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
    start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    return np.frombuffer(buffer, "<f4", accessor["count"] * width, start).reshape(-1, width).astype(np.float64)


def _first_frame(scene: Scene, pairs: dict[int, int], channels: _Channels) -> int:
    """Return the tick at which an animation starts: where its rotations begin and go on alike."""
    starts = np.arange(scene.first_tick, scene.last_tick + 1, round(TICKS_PER_SECOND / scene.frame_rate))
    turned = {place: told for (place, path), told in channels.items() if path == "rotation" and place in pairs}

    def difference(ticks: Ints, row: int) -> Float64s:
        total = np.zeros(len(ticks))
        for place, (seconds, values) in turned.items():
            later = ticks + round(float(seconds[row]) * TICKS_PER_SECOND)
            rotation = _evaluated(scene, later).nodes[pairs[place]].rotation.astype(np.float64)
            total += np.abs(rotation - _rotations(values[row : row + 1], GLTF_AXES)).max(axis=(1, 2))
        return total

    beginning = difference(starts, 0)
    alike = starts[beginning <= beginning.min() + 1e-4]
    return int(alike[np.argmin(difference(alike, 1))])


def _rotations(quats: Float64s, axes: Float64s) -> Float64s:
    """Return 3ds Max row matrices (F, 3, 3) of usual quaternions in the export's axes."""
    unit = quats / np.linalg.norm(quats, axis=1, keepdims=True)
    return np.asarray(axes @ matrix_of(unit * np.array([-1.0, -1.0, -1.0, 1.0])) @ axes.T)


def _compare_trs(comparison: Comparison, name: str, told: dict[str, Float64s], motion: NodeMotion, axes: Float64s) -> None:
    """Compare translations, rotations and scales (F, n) in the export's axes with a node's motion."""
    none, nothing = np.zeros((0, 3)), np.zeros((0, 3, 3))
    if "translation" in told:
        comparison.add(name, motion.position.astype(np.float64) - told["translation"] @ axes.T, nothing)
    if "rotation" in told:
        comparison.add(name, none, motion.rotation.astype(np.float64) - _rotations(told["rotation"], axes))
    if "scale" in told:
        lengths = np.linalg.norm(motion.local_tm[:, :3].astype(np.float64), axis=2)
        stretched = lengths - told["scale"] @ np.abs(axes.T)
        comparison.add(name, stretched / np.maximum(1.0, np.abs(lengths)), nothing)


def compare_babylon(maxfiles: Path, stem: str) -> Comparison:
    """Compare the bones' local TMs at rest and over time; four decimals are written."""
    scene = read_max(maxfiles / f"{stem}.max")
    told = json.loads((maxfiles / "pairs" / f"{stem}.babylon").read_text(encoding="utf-8"))
    comparison = Comparison(f"{stem}.max", f"{stem}.babylon", "local TM of every bone and key", (5.1e-5, 5.1e-5))
    for bone in told["skeletons"][0]["bones"]:
        keys = [(0, bone["matrix"]), *((key["frame"], key["values"]) for key in (bone.get("animation") or {}).get("keys", ()))]
        motion = _evaluated(scene, np.array([frame * FRAME for frame, _ in keys])).nodes[_index(scene, bone["name"])]
        rows = np.array([values for _, values in keys]).reshape(-1, 4, 4)[:, :, :3]
        inner = BABYLON_AXES @ rows[:, :3] @ BABYLON_AXES.T
        local = motion.local_tm.astype(np.float64)
        comparison.add(bone["name"], local[:, 3] - rows[:, 3] @ BABYLON_AXES.T, local[:, :3] - inner)
    return comparison


# ---- the recorded solution of bones_02 ----


def compare_planes(maxfiles: Path) -> Comparison:
    """Compare the keys of the planes, which 3ds Max's own HI solution was recorded in, with their independent extract."""
    stem = "davestewart-maxscript__bones_02"
    scene = read_max(maxfiles / f"{stem}.max")
    told = json.loads((maxfiles / "pairs" / f"{stem}.baked_planes.json").read_text(encoding="utf-8"))
    comparison = Comparison(f"{stem}.max", f"{stem}.baked_planes.json", "Euler XYZ keys of the planes", (0.0, 0.0))
    for bone in told["bones"].values():
        ticks = np.array(bone["frames"], np.float64).astype(np.int64) * FRAME
        motion = _evaluated(scene, ticks).nodes[_index(scene, bone["baked_on"])]
        assert motion.euler is not None
        recorded = np.array(bone["euler_xyz_rad"], np.float32)
        comparison.add(bone["baked_on"], (motion.euler - recorded).astype(np.float64), np.zeros((0, 3, 3)))
    return comparison


def recorded_hi_solution(maxfiles: Path) -> tuple[Float64s, Float64s]:
    """Return (end joint, goal), each (F, 3) in world space: forward kinematics of the recorded HI solution of bones_02.

    Each bone keeps its position in the scene and takes the rotation that 3ds Max recorded on its plane.
    """
    stem = "davestewart-maxscript__bones_02"
    scene = read_max(maxfiles / f"{stem}.max")
    told = json.loads((maxfiles / "pairs" / f"{stem}.baked_planes.json").read_text(encoding="utf-8"))
    frames = next(iter(told["bones"].values()))["frames"]
    baked = _evaluated(scene, np.array(frames, np.float64).astype(np.int64) * FRAME)
    at = np.broadcast_to(baked.nodes[_index(scene, "Dummy01")].world_tm, (len(frames), 4, 3)).astype(np.float64)
    for name in sorted(told["bones"]):
        bone, plane = baked.nodes[_index(scene, name)], baked.nodes[_index(scene, told["bones"][name]["baked_on"])]
        local = np.concatenate([plane.rotation, np.broadcast_to(bone.position[:, None], (len(frames), 1, 3))], axis=1)
        world = local @ at[:, :3]
        world[:, 3] += at[:, 3]
        at = world
    goal = baked.nodes[scene.chains[0].goal].world_tm[:, 3].astype(np.float64)
    return at[:, 3], np.broadcast_to(goal, at[:, 3].shape)


def _index(scene: Scene, name: str) -> int:
    found = [index for index, node in enumerate(scene.nodes) if node.name == name]
    assert len(found) == 1, name
    return found[0]


def _evaluated(scene: Scene, ticks: Ints) -> BakedScene:
    """Evaluate a scene; the last few results are kept, since many nodes are asked for at the same times."""
    key = (scene.file, ticks.astype(np.int64).tobytes())
    if key not in _BAKED:
        if len(_BAKED) >= _MOST_KEPT:
            _BAKED.pop(next(iter(_BAKED)))
        engine, _ = make_engine(None, PROFILES["candidate-1"])
        _BAKED[key] = evaluate(scene, ticks.astype(np.int64), engine, scene.frame_rate)
    return _BAKED[key]


_MOST_KEPT = 8
_BAKED: dict[tuple[str, bytes], BakedScene] = {}
