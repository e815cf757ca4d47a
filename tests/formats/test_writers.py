"""Outputs, read back without maxik: glTF composes to the baked world, tables keep every float32 bit."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from glb_reader import Glb
from maxik.bake import BakeOptions, bake_scene
from maxik.errors import FileFormatError, SceneError
from maxik.formats.bake_json import read_bake_json, render_json
from maxik.formats.gltf import render_glb
from maxik.formats.tables import render_csv, render_npz
from maxik.formats.writers import WriteOptions
from maxik.scene.motion import BakedScene
from maxik.scene.scene import Node, Scene, Units
from maxik.scene.tracks import ComponentsTrack, ConstantTrack, LinearTrack
from maxik.scene.transform import EulerRotation
from rigs import limb_scene, node

Float64s = NDArray[np.float64]
FRAMES = 5


def bake(scene: Scene) -> tuple[BakedScene, dict[str, Any]]:
    return bake_scene(scene, BakeOptions(frames=(0, FRAMES - 1)))


def expected_world(baked: BakedScene, index: int, frame: int) -> Float64s:
    """Return a node's world position as glTF has it: metres, Y up."""
    world = baked.nodes[index].world_tm
    x, y, z = world[frame if len(world) > 1 else 0, 3].astype(np.float64) * baked.scene.units.metres
    return np.array([x, z, -y])


def moving(entry: Node) -> Node:
    """Return a node whose position and one angle change over time."""
    path = ComponentsTrack(tuple(LinearTrack((0, 640), ((float(a),), (float(a + 2),))) for a in (1, 2, 3)))
    turn = EulerRotation(LinearTrack((0, 640), ((0.5,), (4.0,))), ConstantTrack((0.25,)), ConstantTrack((-1.0,)))
    return replace(entry, transform=replace(entry.transform, position=path, rotation=turn))


def rig() -> Scene:
    scene = limb_scene(root=moving(node("root", None, scale=(1.0, 1.5, -0.75), scale_axis=(0.6, 0.0, 0.0, 0.8))))
    return replace(scene, units=Units("centimetre", 0.01))


def test_gltf_composes_to_the_baked_world() -> None:
    baked, certificate = bake(rig())
    glb = Glb(render_glb(baked, certificate))
    for index, entry in enumerate(baked.scene.nodes):
        (place,) = glb.named(entry.name)
        for frame in range(FRAMES):
            np.testing.assert_allclose(glb.world(place, frame)[:3, 3], expected_world(baked, index, frame), atol=1e-7)


unit = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: sum(c * c for c in q) > 0.1)
scales = st.tuples(*[st.sampled_from((-1.5, -1.0, -0.5, 0.5, 1.0, 2.0))] * 3)
links = st.lists(st.tuples(st.tuples(*[st.floats(-3, 3)] * 3), scales, unit), min_size=1, max_size=5)


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=60)
@given(links)
def test_any_scale_about_any_axis_composes(chain: list[tuple[Any, Any, Any]]) -> None:
    nodes = []
    for index, (euler, scale, axis) in enumerate(chain):
        length = sum(c * c for c in axis) ** 0.5
        turned = tuple(c / length for c in axis)
        nodes.append(node(f"n{index}", index - 1 if index else None, (2.0, 0.5, -1.0), euler, scale=scale, scale_axis=turned))
    baked, certificate = bake(Scene("deep", tuple(nodes), units=Units("metre", 1.0)))
    glb = Glb(render_glb(baked, certificate))
    for index in range(len(nodes)):
        size = max(1.0, float(np.abs(baked.nodes[index].world_tm).max()))
        (place,) = glb.named(f"n{index}")
        np.testing.assert_allclose(glb.world(place, 0)[:3, 3], expected_world(baked, index, 0), atol=1e-5 * size)


def test_constant_rotations_are_kept_and_only_changes_are_animated() -> None:
    scene = limb_scene(root=moving(node("root", None)))
    baked, certificate = bake(replace(scene, chains=()))
    glb = Glb(render_glb(baked, certificate))
    animated = {(c["target"]["node"], c["target"]["path"]) for c in glb.json["animations"][0]["channels"]}
    (root,), (hand,) = glb.named("root"), glb.named("hand")
    assert animated == {(root, "translation"), (root, "rotation")}
    x, y, z, w = glb.json["nodes"][hand]["rotation"]
    assert (x, y, z, w) == pytest.approx((np.sin(0.15), 0.0, 0.0, np.cos(0.15)), abs=1e-7)


def test_a_joint_moved_by_ik_alone_gets_a_track() -> None:
    scene = limb_scene()
    goal = replace(
        scene.nodes[4], transform=replace(scene.nodes[4].transform, position=moving(scene.nodes[4]).transform.position)
    )
    baked, certificate = bake(replace(scene, nodes=(*scene.nodes[:4], goal)))
    glb = Glb(render_glb(baked, certificate))
    animated = {(c["target"]["node"], c["target"]["path"]) for c in glb.json["animations"][0]["channels"]}
    for name in ("upper arm", "forearm"):
        (place,) = glb.named(name)
        assert (place, "rotation") in animated


def test_quaternions_stay_on_one_hemisphere() -> None:
    baked, certificate = bake_scene(rig(), BakeOptions(frames=(0, 30)))
    glb = Glb(render_glb(baked, certificate))
    for channel in glb.json["animations"][0]["channels"]:
        if channel["target"]["path"] == "rotation":
            q = glb.accessor(glb.json["animations"][0]["samplers"][channel["sampler"]]["output"])
            assert (np.einsum("ij,ij->i", q[1:], q[:-1]) > 0.0).all()
            np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, atol=1e-6)


def test_the_skin_binds_every_joint_where_it_stands() -> None:
    baked, certificate = bake(rig())
    glb = Glb(render_glb(baked, certificate))
    (skin,) = glb.json["skins"]
    matrices = glb.accessor(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
    assert len(skin["joints"]) == len(matrices) >= 3
    for joint, inverse in zip(skin["joints"], matrices, strict=True):
        np.testing.assert_allclose(glb.world(joint, 0) @ inverse, np.eye(4), atol=1e-4)
    (primitive,) = glb.json["meshes"][0]["primitives"]
    weights, joints = (glb.accessor(primitive["attributes"][name]) for name in ("WEIGHTS_0", "JOINTS_0"))
    assert (weights.sum(axis=1) == 1.0).all()
    assert joints.max() < len(matrices)


def test_without_bones_there_is_no_skin() -> None:
    baked, certificate = bake(rig())
    told = Glb(render_glb(baked, certificate, WriteOptions(bones=False))).json
    assert "skins" not in told
    assert "meshes" not in told


def test_a_number_that_is_not_finite_is_refused_by_node_and_tick() -> None:
    scene = limb_scene()
    bad = replace(scene.nodes[0].transform, position=LinearTrack((0, 160), ((0.0, 0.0, 0.0), (float("nan"), 0.0, 0.0))))
    baked, certificate = bake(replace(scene, nodes=(replace(scene.nodes[0], transform=bad), *scene.nodes[1:]), chains=()))
    with pytest.raises(SceneError, match="position is not finite") as caught:
        render_glb(baked, certificate)
    assert (caught.value.node, caught.value.tick) == ("root", 160)


def test_csv_keeps_every_bit() -> None:
    baked, certificate = bake(rig())
    rows = list(csv.DictReader(io.StringIO(render_csv(baked, certificate).decode())))
    assert len(rows) == FRAMES * len(baked.scene.nodes)
    for row in rows:
        motion = baked.nodes[int(row["node"])]
        frame = int(row["frame"])
        groups = (("", "position_bits", motion.position), ("euler_", "euler_bits", motion.euler))
        for prefix, bits, array in groups:
            assert array is not None
            values = array[frame if len(array) > 1 else 0]
            assert row[bits] == " ".join(f"{word:08x}" for word in values.view(np.uint32))
            assert np.array([row[prefix + axis] for axis in "xyz"], np.float32).tobytes() == values.tobytes()


def test_npz_keeps_every_bit_and_is_the_same_each_time() -> None:
    baked, certificate = bake(rig())
    data = render_npz(baked, certificate)
    assert data == render_npz(baked, certificate)
    with np.load(io.BytesIO(data), allow_pickle=False) as told:
        assert told["names"].tolist() == [entry.name for entry in baked.scene.nodes]
        assert told["parents"].tolist() == [-1, 0, 1, 2, -1]
        assert json.loads(str(told["certificate"])) == certificate
        for index, motion in enumerate(baked.nodes):
            wanted = np.broadcast_to(motion.world_tm, (FRAMES, 4, 3)).astype(np.float32)
            assert told["world_tm"][index].tobytes() == wanted.tobytes()
        assert told["solved"].all()


def test_json_is_strict_and_keeps_every_bit(tmp_path: Any) -> None:  # noqa: ANN401 - pytest's path
    baked, certificate = bake(rig())
    path = tmp_path / "bake.json"
    path.write_bytes(render_json(baked, certificate))
    told = read_bake_json(path)
    assert told["certificate"] == certificate
    for entry, motion in zip(told["nodes"], baked.nodes, strict=True):
        assert np.array(entry["position"], np.float32).tobytes() == motion.position.tobytes()
        if motion.solved_by:
            words = [[int(word, 16) for word in row] for row in entry["euler_bits"]]
            assert motion.euler is not None
            assert np.array(words, np.uint32).tobytes() == motion.euler.tobytes()
    path.write_text("{}")
    with pytest.raises(FileFormatError, match="maxik-bake/1"):
        read_bake_json(path)
