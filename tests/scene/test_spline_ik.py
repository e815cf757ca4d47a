"""Spline IK chains in scenes: bones on their curve, twists and up-node seen, and what goes wrong is named."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maxik.bake import BakeOptions, bake_file, bake_scene
from maxik.errors import SceneError
from maxik.formats.scene_json import read_scene_json, write_scene_json
from maxik.scene import spline_ik
from maxik.scene.motion import BakedScene
from maxik.scene.scene import SPLINE, Chain, Knot, Node, Scene, Shape, SplineGoal
from maxik.scene.spline_ik import auto_handles
from maxik.scene.transform import PathPosition
from rigs import constant, node

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "snake.scene.json"
ONE_FRAME = BakeOptions(frames=(0, 0))


def auto(x: float, y: float, z: float) -> Knot:
    return Knot(0, (x, y, z), (x, y, z), (x, y, z))


def arc_scene(*, bones: int = 4, length: float = 2.0, knots: int = 5, start_twist: float = 0.0, helpers: bool = True) -> Scene:
    """Return helpers on a quarter circle of radius 6, a spline that they carry, and bones on it under a turned parent."""
    angles = np.linspace(0.0, np.pi / 2, knots) if knots > 1 else np.zeros(1)
    points = [(6.0 * np.sin(a), 6.0 - 6.0 * np.cos(a), 1.0) for a in angles]
    nodes: list[Node] = [node(f"helper {i}", None, point) for i, point in enumerate(points)]
    carried = tuple(range(knots)) if helpers else ()
    base = tuple(auto(float(i), 0.0, 0.0) for i in range(knots)) if helpers else tuple(auto(*map(float, p)) for p in points)
    shape = len(nodes)
    nodes.append(replace(node("spline", None, (3.0, 1.0, 0.5), (0.3, 0.2, 0.1)), shape=Shape(base, helpers=carried)))
    if not helpers:
        nodes[shape] = replace(node("spline", None), shape=Shape(base))
    nodes.append(node("parent", None, (1.0, 2.0, 3.0), (0.4, -0.3, 0.8)))
    start = len(nodes)
    for index in range(bones + 1):
        bend = (0.0, 0.0, 0.2 if index else 0.0)
        joint = node(f"bone {index}", start - 1 + index, (length if index else 0.0, 0.0, 0.0), bend, preferred=bend)
        at_start = PathPosition((shape,), (constant(1.0),), constant(0.0))
        nodes.append(joint if index else replace(joint, transform=replace(joint.transform, position=at_start)))
    nodes.append(node("chain", None))
    goal = SplineGoal(shape, constant(start_twist), constant(0.0))
    chain = Chain(
        "chain", SPLINE, start, start + bones, len(nodes) - 1, constant(0.0), "start-joint", None, constant(1.0), goal
    )
    return Scene("test", tuple(nodes), (chain,))


def joints_of(baked: BakedScene) -> np.ndarray:
    """Return the world positions of the chain's joints at the first frame, (joints, 3)."""
    chain = baked.scene.chains[0]
    return np.array([baked.nodes[i].world_tm[0, 3] for i in range(chain.start, chain.end + 1)], np.float64)


def distance_to_arc(points: np.ndarray) -> np.ndarray:
    """Return how far points are from the circle of the helpers."""
    return np.array(np.hypot(np.hypot(points[:, 0], points[:, 1] - 6.0) - 6.0, points[:, 2] - 1.0))


@pytest.mark.parametrize("helpers", [True, False])
def test_the_joints_lie_on_the_curve_wherever_the_parent_stands(helpers: bool) -> None:  # noqa: FBT001 - a parameter
    baked, certificate = bake_scene(arc_scene(helpers=helpers), ONE_FRAME)
    joints = joints_of(baked)
    assert certificate["chains"][0]["frames_solved"] == 1
    np.testing.assert_allclose(joints[0], (0.0, 0.0, 1.0), atol=1e-5)
    assert distance_to_arc(joints).max() < 0.06
    np.testing.assert_allclose([np.linalg.norm(b - a) for a, b in pairwise(joints)], 2.0, atol=1e-5)


def test_positions_and_the_end_joint_stay_fk() -> None:
    baked, _ = bake_scene(arc_scene(), ONE_FRAME)
    chain = baked.scene.chains[0]
    end = baked.nodes[chain.end]
    assert end.euler is not None
    assert end.euler[0].tolist() == [0.0, 0.0, np.float32(0.2)]
    assert end.solved_by == ()
    assert baked.nodes[chain.start + 1].position.tolist() == [[2.0, 0.0, 0.0]]


def test_a_start_twist_turns_every_bone_about_itself() -> None:
    plain, twisted = (bake_scene(arc_scene(start_twist=angle), ONE_FRAME)[0] for angle in (0.0, 0.6))
    np.testing.assert_allclose(joints_of(plain), joints_of(twisted), atol=1e-5)
    chain = plain.scene.chains[0]
    for index in range(chain.start, chain.end):
        a, b = (baked.nodes[index].world_tm[0, :3].astype(np.float64) for baked in (plain, twisted))
        turn = np.arctan2(np.cross(a[1], b[1]) @ a[0], a[1] @ b[1])
        assert turn == pytest.approx(0.6, abs=1e-4)


def with_goal(scene: Scene, **changes: Any) -> Scene:  # noqa: ANN401 - any part of the goal
    chain = scene.chains[0]
    assert chain.spline is not None
    return replace(scene, chains=(replace(chain, spline=replace(chain.spline, **changes)),))


def test_an_up_node_that_is_a_joint_of_the_chain_is_named() -> None:
    scene = arc_scene()
    _, certificate = bake_scene(with_goal(scene, up_node=scene.chains[0].start + 1), ONE_FRAME)
    assert certificate["chains_not_solved"][0]["reason"] == "the up-node is a joint of the chain"


def test_an_up_node_below_the_chain_is_a_cycle() -> None:
    scene = arc_scene()
    scene = replace(scene, nodes=(*scene.nodes, node("hat", scene.chains[0].end)))
    with pytest.raises(SceneError, match="cyclic"):
        bake_scene(with_goal(scene, up_node=len(scene.nodes) - 1), ONE_FRAME)


def test_a_turned_up_node_turns_the_bones() -> None:
    scene = arc_scene()
    scene = replace(scene, nodes=(*scene.nodes, node("up", None, euler=(0.7, 0.0, 0.0))))
    plain, turned = bake_scene(scene, ONE_FRAME)[0], bake_scene(with_goal(scene, up_node=len(scene.nodes) - 1), ONE_FRAME)[0]
    np.testing.assert_allclose(joints_of(plain), joints_of(turned), atol=1e-5)
    start = scene.chains[0].start
    assert np.abs(plain.nodes[start].world_tm[0, 1] - turned.nodes[start].world_tm[0, 1]).max() > 0.1


def test_a_missing_shape_is_named() -> None:
    _, certificate = bake_scene(with_goal(arc_scene(), shape=0), ONE_FRAME)
    assert "shape node is missing or holds no knots" in certificate["chains_not_solved"][0]["reason"]


def test_a_chain_longer_than_the_spline_is_named() -> None:
    baked, certificate = bake_scene(arc_scene(length=5.0), ONE_FRAME)
    assert spline_ik.TOO_LONG in certificate["chains"][0]["degenerate"]
    assert np.isfinite(joints_of(baked)).all()


def test_a_spline_of_one_knot_leaves_the_chain_as_it_is() -> None:
    baked, certificate = bake_scene(arc_scene(knots=1), ONE_FRAME)
    assert certificate["chains"][0]["frames_left_fk"] == 1
    assert spline_ik.NO_POINT in certificate["chains"][0]["degenerate"]
    second = baked.nodes[baked.scene.chains[0].start + 1].euler
    assert second is not None
    assert second[0].tolist() == [0.0, 0.0, np.float32(0.2)]


def test_zero_length_bones_are_named_and_do_not_hang() -> None:
    _, certificate = bake_scene(arc_scene(length=0.0), ONE_FRAME)
    assert spline_ik.ZERO_BONE in certificate["chains"][0]["degenerate"]


def test_kernel_and_model_bake_a_spline_chain_to_the_same_bits() -> None:
    hashes = {
        bake_scene(arc_scene(), BakeOptions(frames=(0, 0), engine=engine))[1]["raw_output_sha256"] for engine in (None, "model")
    }
    assert len(hashes) == 1


def test_a_joint_without_preferred_angles_is_named() -> None:
    scene = arc_scene()
    nodes = tuple(replace(entry, joint=None) if entry.name == "bone 1" else entry for entry in scene.nodes)
    _, certificate = bake_scene(replace(scene, nodes=nodes), ONE_FRAME)
    assert "'bone 1' has no IK joint controller" in certificate["chains_not_solved"][0]["reason"]


def test_scene_json_keeps_splines(tmp_path: Path) -> None:
    scene = arc_scene(start_twist=0.5)
    write_scene_json(scene, tmp_path / "arc.scene.json")
    again = replace(read_scene_json(tmp_path / "arc.scene.json"), file="test")
    assert again.nodes[5].shape is not None
    assert bake_scene(again, ONE_FRAME)[1]["raw_output_sha256"] == bake_scene(scene, ONE_FRAME)[1]["raw_output_sha256"]
    write_scene_json(again, tmp_path / "twice.scene.json")
    assert replace(read_scene_json(tmp_path / "twice.scene.json"), file="test") == again


def test_auto_handles_of_points_on_a_line_are_thirds() -> None:
    points = np.array([[0, 0, 0], [3, 0, 0], [6, 0, 0], [9, 0, 0]], np.float32)
    handles = auto_handles(points, closed=False)
    assert [[a[0], b[0]] for a, b in handles] == [[0.0, 1.0], [2.0, 4.0], [5.0, 7.0], [8.0, 9.0]]
    assert auto_handles(points[:2], closed=False)[0][1] == (1.0, 0.0, 0.0)


def test_the_example_stays_on_its_curves() -> None:
    """The belt's joints lie near the oval that turns; the tail keeps its bones' lengths."""
    baked, certificate = bake_file(EXAMPLE)
    assert [chain["frames_solved"] for chain in certificate["chains"]] == [61, 61]
    assert all(not chain["degenerate"] for chain in certificate["chains"])
    for name, length in (("Tail", 9.0), ("Belt", 20.5)):
        places = [i for i, entry in enumerate(baked.scene.nodes) if entry.name.startswith(f"Bone {name}")]
        paths = np.array([baked.nodes[i].world_tm[:, 3] for i in places], np.float64)
        spans = np.linalg.norm(np.diff(paths, axis=0), axis=2)
        np.testing.assert_allclose(spans, length, atol=1e-3)
