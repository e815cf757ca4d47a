"""The walking example: it is what its generator writes, its limbs reach their goals, its joints bend the right way."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from maxik.bake import bake_file
from maxik.formats.scene_json import dumps_scene
from maxik.scene.motion import BakedScene
from maxik.scene.tracks import BezierTrack, ConstantTrack
from rigs import local_matrix

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


FRAMES = 61
LIMBS = [
    ("L Leg", "L Thigh", "L Shin", "L Foot"),
    ("R Leg", "R Thigh", "R Shin", "R Foot"),
    ("R Arm", "R UpperArm", "R Forearm", "R Hand"),
]
Paths = dict[str, NDArray[np.float64]]


@pytest.fixture(scope="module")
def baked() -> BakedScene:
    return bake_file(EXAMPLES / "walk.scene.json")[0]


@pytest.fixture(scope="module")
def paths(baked: BakedScene) -> Paths:
    """Return every node's world positions, (F, 3): binary64 forward kinematics from the baked positions and angles."""
    worlds: list[NDArray[np.float64]] = []
    for node, motion in zip(baked.scene.nodes, baked.nodes, strict=True):
        assert motion.euler is not None
        parts = (motion.position, motion.euler, motion.scale, motion.scale_axis)
        rows = [np.broadcast_to(part, (FRAMES, part.shape[1])).astype(np.float64) for part in parts]
        local = np.array([local_matrix(*row) for row in zip(*rows, strict=True)])
        worlds.append(local if node.parent is None else local @ worlds[node.parent])
    return {node.name: world[:, 3, :3] for node, world in zip(baked.scene.nodes, worlds, strict=True)}


def off_the_line(root: NDArray[np.float64], middle: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how the middle joint stands off the line from root to end, square to it, (F, 3)."""
    line = end - root
    along = np.einsum("ij,ij->i", middle - root, line) / np.einsum("ij,ij->i", line, line)
    return np.asarray(middle - root - along[:, None] * line, np.float64)


def test_the_file_is_what_its_generator_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("make_walk", EXAMPLES / "make_walk.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "make_walk", module)
    spec.loader.exec_module(module)
    assert dumps_scene(module.walk()) == (EXAMPLES / "walk.scene.json").read_text(encoding="utf-8")


def test_every_chain_is_solved_in_every_frame(baked: BakedScene) -> None:
    assert (len(baked.ticks), len(baked.chains), baked.unsolved) == (FRAMES, 3, ())
    assert all(motion.solved.all() for motion in baked.chains)
    assert all(not motion.causes for motion in baked.chains)


def test_nothing_is_nan(baked: BakedScene) -> None:
    assert all(np.isfinite(motion.world_tm).all() and np.isfinite(motion.local_tm).all() for motion in baked.nodes)


def test_the_walk_repeats_after_a_stride(paths: Paths) -> None:
    step = np.array([0.0, -78.0, 0.0])
    feet = np.array([paths[name] for name in ("Foot L Control", "Foot R Control", "Bip Pelvis")])
    np.testing.assert_allclose(feet[:, 30:] - feet[:, :31], np.broadcast_to(step, (3, 31, 3)), atol=1e-3)


def test_it_shows_a_keyed_swivel_and_a_vh_target(baked: BakedScene) -> None:
    chains = {chain.name: chain for chain in baked.scene.chains}
    assert isinstance(chains["IK Chain R Arm"].swivel, BezierTrack)
    assert isinstance(chains["IK Chain R Leg"].swivel, ConstantTrack)
    assert chains["IK Chain L Leg"].vh_target is not None


@pytest.mark.parametrize(("limb", "root", "middle", "end"), LIMBS)
def test_every_limb_reaches_its_goal(limb: str, root: str, middle: str, end: str, paths: Paths) -> None:
    first, elbow, last = (paths[f"Bone {name}"] for name in (root, middle, end))
    goal = paths[f"IK Chain {limb}"]
    length = np.linalg.norm(elbow - first, axis=1) + np.linalg.norm(last - elbow, axis=1)
    assert (np.linalg.norm(goal - first, axis=1) < length).all()
    assert (np.linalg.norm(goal - last, axis=1) < 1e-5 * length).all()


@pytest.mark.parametrize("letter", ["L", "R"])
def test_knees_bend_forward(letter: str, paths: Paths) -> None:
    """Facing -Y: the knee lies before the line from hip to ankle, and not far to the side."""
    bend = off_the_line(*(paths[f"Bone {letter} {name}"] for name in ("Thigh", "Shin", "Foot")))
    assert (bend[:, 1] < -2.0).all()
    assert (np.abs(bend[:, 0]) < 0.5 * np.abs(bend[:, 1])).all()


def test_the_elbow_bends_backward_and_outward(paths: Paths) -> None:
    """The right side is -X."""
    bend = off_the_line(*(paths[f"Bone R {name}"] for name in ("UpperArm", "Forearm", "Hand")))
    assert (bend[:, 1] > 2.0).all()
    assert (bend[:, 0] < 0.0).all()


@pytest.mark.parametrize("letter", ["L", "R"])
def test_feet_stand_on_the_ground(letter: str, paths: Paths) -> None:
    lowest = np.min([paths[f"Bone {letter} {name}"][:, 2] for name in ("Foot", "Toe", "ToeNub")], axis=0)
    assert lowest.min() > 0.0
    assert lowest.max() > 5.0
