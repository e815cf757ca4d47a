"""Spline IK chains in .max files, on a scene built to max-format-spline-ik.md: no real one may be kept here."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from max_builder import (
    ANGLE,
    ANIMATED,
    BONE,
    BOOL,
    IK_CHAIN_OBJECT,
    INLINE,
    NODE,
    POINT,
    TABLE,
    MaxScene,
    chunk,
    floats,
    record,
)
from maxik.bake import BakeOptions, bake_scene
from maxik.formats.max import classes as c
from maxik.formats.max import read_max
from maxik.scene.scene import SPLINE, Scene
from maxik.scene.tracks import ConstantTrack
from maxik.scene.transform import PathPosition

KNOTS = [(float(4 * i), 0.0, 0.0) for i in range(4)]
PLACES = [(0.0, 0.0, 1.0), (3.5, 1.0, 1.0), (7.0, 0.5, 2.0), (10.5, -1.0, 2.5)]


def spline_scene(*, helpers: bool = True, shape: bool = True, closed: bool = False, use_up: int = 1) -> MaxScene:
    """Return helpers, a Line under Spline IK Control, three bones and their end, and the chain node."""
    scene = MaxScene()
    point = scene.add(POINT)
    carried = [scene.node(f"helper{i}", scene.root, scene.prs(place), point) for i, place in enumerate(PLACES)]
    line = scene.line(KNOTS, closed=closed)
    marks = struct.pack("<I", len(carried)) + bytes(len(carried))
    table = scene.block(record(0, TABLE | NODE, marks, mark=0), record(1, 7, floats(20.0)), references=carried)
    modifier = scene.add(c.SPLINE_IK_CONTROL, references=[table])
    thing = scene.add(0x2032, references=[modifier, line]) if helpers else line
    spline = scene.node("Line01", scene.root, scene.prs((1.0, 2.0, 0.0), (0.1, 0.2, 0.3)), thing)

    percent = scene.add(c.LINEAR_FLOAT, chunk(0x7127, [chunk(0x2501, floats(0.0))]))
    weights = struct.pack("<I", 1) + bytes([ANIMATED])
    path = scene.block(
        record(0, 6, mark=ANIMATED),
        record(10, TABLE, weights, mark=0),
        record(11, TABLE | NODE, struct.pack("<I", 1) + b"\0", mark=0),
        references=[percent, scene.number(50.0), spline],
    )
    follow = scene.add(c.PATH_CONSTRAINT, references=[-1, -1, path])
    bone, parent, bones = scene.add(BONE), scene.root, []
    for index in range(4):
        angles = (0.0, 0.0, 0.3 if index else 0.1)
        prs = scene.prs((3.0, 0.0, 0.0) if index else follow, angles)
        preferred = [record(39 + axis, ANGLE, floats(angle)) for axis, angle in enumerate(angles)]
        control = scene.add(c.IK_CONTROL, references=[scene.block(*preferred), prs, -1, -1])
        parent = scene.node(f"bone{index}", parent, control, bone)
        bones.append(parent)
    inline = [record(ident, NODE, struct.pack("<i", bones[at]), flags=INLINE) for ident, at in ((0, 0), (1, -1))]
    name = "SplineIKSolver\0".encode("utf-16-le")
    block = scene.block(
        record(2, 8, struct.pack("<I", len(name)) + name),
        record(20, NODE, mark=0),
        *inline,
        record(27, ANGLE, floats(0.25)),
        record(28, ANGLE, floats(0.5)),
        record(41, NODE, mark=0),
        record(42, BOOL, struct.pack("<i", use_up)),
        references=[spline if shape else -1, carried[0]],
    )
    enabled = scene.add(c.BOOLEAN, chunk(0x3006, floats(1.0)))
    control = scene.add(c.SPLINE_IK_CHAIN, references=[block, scene.prs((0.0, 0.0, 0.0)), bones[-1], enabled, bones[0], -1])
    scene.node("IK Chain01", scene.root, control, scene.add(IK_CHAIN_OBJECT))
    return scene


@pytest.fixture
def read(tmp_path: Path) -> Callable[[MaxScene], Scene]:
    return lambda built: read_max(built.write(tmp_path / "built.max"))


def test_the_chain_has_its_shape_twists_and_up_node(read: Callable[[MaxScene], Scene]) -> None:
    scene = read(spline_scene())
    names = [node.name for node in scene.nodes]
    (chain,) = scene.chains
    assert (chain.solver, names[chain.start], names[chain.end]) == (SPLINE, "bone0", "bone3")
    assert chain.spline is not None
    assert names[chain.spline.shape] == "Line01"
    assert (chain.spline.start_twist, chain.spline.end_twist) == (ConstantTrack((0.25,)), ConstantTrack((0.5,)))
    assert chain.spline.up_node == names.index("helper0")
    shape = scene.nodes[chain.spline.shape].shape
    assert shape is not None
    assert [knot.point for knot in shape.knots] == KNOTS
    assert [names[helper] for helper in shape.helpers] == [f"helper{i}" for i in range(4)]
    start = scene.nodes[chain.start].transform.position
    assert isinstance(start, PathPosition)
    assert start.paths == (chain.spline.shape,)
    assert not scene.notices


def test_an_up_node_that_is_switched_off_is_none(read: Callable[[MaxScene], Scene]) -> None:
    goal = read(spline_scene(use_up=0)).chains[0].spline
    assert goal is not None
    assert goal.up_node is None


def test_the_bones_follow_the_helpers(read: Callable[[MaxScene], Scene]) -> None:
    scene = read(spline_scene())
    baked, certificate = bake_scene(scene, BakeOptions(frames=(0, 0)))
    assert certificate["chains"][0]["frames_solved"] == 1
    joints = np.array(
        [motion.world_tm[0, 3] for node, motion in zip(scene.nodes, baked.nodes, strict=True) if "bone" in node.name]
    )
    np.testing.assert_allclose(joints[0], PLACES[0], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(np.diff(joints, axis=0), axis=1), 3.0, atol=1e-5)
    assert np.abs(joints[1] - PLACES[1]).max() < 1.0


def test_without_helpers_the_stored_knots_are_followed(read: Callable[[MaxScene], Scene]) -> None:
    scene = read(spline_scene(helpers=False, closed=True))
    shape = scene.nodes[[node.name for node in scene.nodes].index("Line01")].shape
    assert shape is not None
    assert (shape.helpers, shape.closed) == ((), True)


def test_a_chain_without_a_shape_is_named(read: Callable[[MaxScene], Scene]) -> None:
    _, certificate = bake_scene(read(spline_scene(shape=False)), BakeOptions(frames=(0, 0)))
    assert "shape node is missing" in certificate["chains_not_solved"][0]["reason"]
