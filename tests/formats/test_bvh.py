"""BVH read back by another reader: every joint lies where the bake has it, whatever the order of its channels."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import bvhio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from maxik.bake import BakeOptions, bake_file, bake_scene
from maxik.cli import main
from maxik.errors import SceneError, UsageError
from maxik.formats.bvh import bvh_joints, euler_angles, render_bvh
from maxik.formats.skeleton import skeleton_joints
from maxik.formats.writers import WriteOptions
from maxik.scene.motion import BakedScene
from rigs import limb_scene, node

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ORDERS = ["".join(order) for order in itertools.permutations("xyz")]
Float64s = NDArray[np.float64]


@pytest.fixture(scope="module")
def walk() -> BakedScene:
    return bake_file(EXAMPLES / "walk.scene.json")[0]


def worst_miss(baked: BakedScene, path: Path, order: str) -> float:
    """Return the largest distance, in parts of the scene's size, between joints in the file and in the bake, ten frames."""
    path.write_bytes(render_bvh(baked, {}, WriteOptions(bvh_order=order)))
    root = bvhio.readAsHierarchy(str(path))
    frames = len(baked.ticks)
    listed = skeleton_joints(baked) or list(range(len(baked.scene.nodes)))
    worlds = {i: np.broadcast_to(baked.nodes[i].world_tm, (frames, 4, 3))[:, 3].astype(np.float64) for i in listed}
    size = float(np.ptp(np.concatenate(list(worlds.values())), axis=0).max())
    worst = 0.0
    for frame in np.linspace(0, frames - 1, 10).astype(int).tolist():
        root.loadPose(frame)
        found = {joint.Name: np.array(joint.PositionWorld) for joint, *_ in root.layout()}
        for index in listed:
            x, y, z = worlds[index][frame]
            name = baked.scene.nodes[index].name.replace(" ", "_")
            worst = max(worst, float(np.linalg.norm(found[name] - (x, z, -y))) / size)
    return worst


@pytest.mark.parametrize("order", ORDERS)
def test_joints_lie_where_the_bake_has_them(order: str, walk: BakedScene, tmp_path: Path) -> None:
    assert worst_miss(walk, tmp_path / "walk.bvh", order) < 2e-6


def test_a_spline_chain_lies_where_the_bake_has_it(tmp_path: Path) -> None:
    baked = bake_file(EXAMPLES / "snake.scene.json")[0]
    assert worst_miss(baked, tmp_path / "snake.bvh", "zxy") < 2e-6


def test_mirrored_and_scaled_joints_keep_their_places(tmp_path: Path) -> None:
    scene = limb_scene(root=node("root", None, scale=(-1.0, 1.5, 0.75), scale_axis=(0.6, 0.0, 0.0, 0.8)))
    baked = bake_scene(scene, BakeOptions(frames=(0, 11)))[0]
    assert worst_miss(baked, tmp_path / "rig.bvh", "xyz") < 2e-6


def test_several_roots_stand_below_one_of_the_scene(walk: BakedScene) -> None:
    nodes = tuple(replace(entry, joint=None, object_class="Dummy") for entry in walk.scene.nodes)
    baked = replace(walk, scene=replace(walk.scene, nodes=nodes))
    joints = bvh_joints(baked, "zxy")
    assert [joint.parent for joint in joints].count(None) == 1
    assert joints[0].name == "walk"
    assert len(joints) == len(nodes) + 1


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(ORDERS), st.lists(st.floats(-3.1, 3.1), min_size=3, max_size=3), st.booleans())
def test_angles_give_the_matrix_again(order: str, angles: list[float], gimbal: bool) -> None:  # noqa: FBT001 - hypothesis
    angles[1] = float(np.copysign(np.pi / 2.0, angles[1])) if gimbal else angles[1]
    matrix = composed(order, np.array(angles))
    again = euler_angles(matrix[None], order)[0]
    assert np.abs(composed(order, again) - matrix).max() < 1e-6


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(ORDERS), st.lists(st.floats(-40.0, 40.0), min_size=3, max_size=3))
def test_angles_do_not_jump(order: str, ends: list[float]) -> None:
    path = np.linspace(0.0, 1.0, 400)[:, None] * np.array(ends)
    path[:, 1] = 0.5 * np.sin(path[:, 1])
    angles = euler_angles(np.array([composed(order, row) for row in path]), order)
    assert np.abs(np.diff(angles, axis=0)).max() < 1.5 * np.abs(np.diff(path, axis=0)).max() + 1e-6


def composed(order: str, angles: Float64s) -> Float64s:
    matrix: Float64s = np.eye(3)
    for axis, angle in zip(order, angles, strict=True):
        c, s = np.cos(angle), np.sin(angle)
        turns = {
            "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
            "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        }
        matrix = matrix @ np.array(turns[axis])
    return matrix


def test_names_are_different_and_without_spaces(walk: BakedScene) -> None:
    nodes = tuple(replace(entry, name="Bip 01{") for entry in walk.scene.nodes)
    names = [joint.name for joint in bvh_joints(replace(walk, scene=replace(walk.scene, nodes=nodes)), "zxy")]
    assert len(set(names)) == len(names)
    assert not any(set(name) & set(" {}:") for name in names)


def test_an_order_that_is_none_is_wrong_usage(walk: BakedScene, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="xxy"):
        render_bvh(walk, {}, WriteOptions(bvh_order="xxy"))
    out = tmp_path / "x.bvh"
    assert main(["bake", str(EXAMPLES / "walk.scene.json"), "-o", str(out), "--bvh-order", "zz"]) == 2
    assert not out.exists()


def test_a_value_that_is_not_finite_is_named(walk: BakedScene) -> None:
    broken = walk.nodes[0].world_tm.copy()
    broken[2, 3, 0] = np.nan
    baked = replace(walk, nodes=(replace(walk.nodes[0], world_tm=broken), *walk.nodes[1:]))
    with pytest.raises(SceneError) as caught:
        render_bvh(baked, {})
    assert caught.value.tick == int(walk.ticks[2])
