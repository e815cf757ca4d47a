"""The walking example: it is what its generator writes, its limbs reach their goals, its joints bend the right way."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from maxik.bake import bake_file
from maxik.formats.scene_json import read_scene_json
from maxik.scene.motion import BakedScene
from maxik.scene.tracks import BezierTrack, ConstantTrack

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture(scope="module")
def baked() -> BakedScene:
    return bake_file(EXAMPLES / "walk.scene.json")[0]


def path_of(baked: BakedScene, name: str) -> NDArray[np.float64]:
    """Return a node's world positions, (F, 3)."""
    (motion,) = (motion for node, motion in zip(baked.scene.nodes, baked.nodes, strict=True) if node.name == name)
    return np.broadcast_to(motion.world_tm[:, 3].astype(np.float64), (len(baked.ticks), 3))


def test_the_file_is_what_its_generator_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("make_walk", EXAMPLES / "make_walk.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "make_walk", module)
    spec.loader.exec_module(module)
    fresh, kept = module.walk(), read_scene_json(EXAMPLES / "walk.scene.json")
    assert [node.name for node in fresh.nodes] == [node.name for node in kept.nodes]
    ticks = np.arange(0, 9600, 37)
    for a, b in zip(fresh.nodes, kept.nodes, strict=True):
        for axis in "xyz":
            first, second = (getattr(entry.transform.rotation, axis).at(ticks) for entry in (a, b))
            np.testing.assert_allclose(first, second, atol=1e-6)
        np.testing.assert_allclose(a.transform.position.at(ticks), b.transform.position.at(ticks), atol=1e-4)


def test_it_shows_a_keyed_swivel_and_a_vh_target(baked: BakedScene) -> None:
    chains = {chain.name: chain for chain in baked.scene.chains}
    assert isinstance(chains["IK Chain R Arm"].swivel, BezierTrack)
    assert isinstance(chains["IK Chain R Leg"].swivel, ConstantTrack)
    assert chains["IK Chain L Leg"].vh_target is not None


@pytest.mark.parametrize(
    ("limb", "root", "middle", "end"),
    [
        ("L Leg", "L Thigh", "L Shin", "L Foot"),
        ("R Leg", "R Thigh", "R Shin", "R Foot"),
        ("R Arm", "R UpperArm", "R Forearm", "R Hand"),
    ],
)
def test_every_limb_reaches_its_goal(limb: str, root: str, middle: str, end: str, baked: BakedScene) -> None:
    first, elbow, last = (path_of(baked, f"Bone {name}") for name in (root, middle, end))
    goal = path_of(baked, f"IK Chain {limb}")
    length = np.linalg.norm(elbow - first, axis=1) + np.linalg.norm(last - elbow, axis=1)
    assert (np.linalg.norm(goal - first, axis=1) < length).all()
    assert (np.linalg.norm(goal - last, axis=1) < 1e-5 * length).all()


@pytest.mark.parametrize(("side", "letter"), [(1.0, "L"), (-1.0, "R")])
def test_knees_bend_forward(side: float, letter: str, baked: BakedScene) -> None:
    """Facing -Y: the knee lies before the line from hip to ankle, and not far to the side."""
    hip, knee, ankle = (path_of(baked, f"Bone {letter} {name}") for name in ("Thigh", "Shin", "Foot"))
    middle = hip + (ankle - hip) * (np.linalg.norm(knee - hip, axis=1) / 86.0)[:, None]
    assert ((knee - middle)[:, 1] < -2.0).all()
    assert (np.abs(knee[:, 0] - side * 9.0) < 6.0).all()


def test_the_elbow_bends_backward(baked: BakedScene) -> None:
    shoulder, elbow, hand = (path_of(baked, f"Bone R {name}") for name in ("UpperArm", "Forearm", "Hand"))
    middle = (shoulder + hand) / 2
    assert ((elbow - middle)[:, 1] > 0.0).all()


def test_feet_stand_on_the_ground(baked: BakedScene) -> None:
    for letter in "LR":
        heights = np.concatenate([path_of(baked, f"Bone {letter} {name}")[:, 2] for name in ("Foot", "Toe", "ToeNub")])
        assert heights.min() > -2.5
