"""The .max reader on scenes that no real file at hand has: built whole, read back, evaluated."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from max_builder import (
    ANGLE,
    ANIMATED,
    BOOL,
    FRACTION,
    POINT,
    TABLE,
    MaxScene,
    chunk,
    constant,
    float_table,
    floats,
    node_table,
    record,
)
from maxik.bake import BakeOptions, bake_scene
from maxik.formats.max import classes as c
from maxik.formats.max import read_max
from maxik.formats.max.classes import ClassId
from maxik.formats.scene_json import read_scene_json, write_scene_json
from maxik.inspect import inspect_scene, render
from maxik.scene.motion import BakedScene
from maxik.scene.scene import Scene
from maxik.scene.tracks import SumTrack
from maxik.scene.transform import AXIS_ORDERS, LookAt, PathPosition, PositionConstraint, PositionList

Float64s = NDArray[np.float64]

SECOND = BakeOptions(frames=(0, 30))
FLAT = (0.0,) * 5


def arm(scene: MaxScene, *records: bytes, parent: int | None = None) -> list[int]:
    """Add shoulder, elbow and hand along x, bent about z."""
    root = scene.root if parent is None else parent
    shoulder = scene.joint("shoulder", root, (0.0, 0.0, 0.0), (0.0, 0.0, 0.2), *records)
    elbow = scene.joint("elbow", shoulder, (30.0, 0.0, 0.0), (0.0, 0.0, 0.4))
    return [shoulder, elbow, scene.joint("hand", elbow, (25.0, 0.0, 0.0), (0.0, 0.0, 0.0))]


def bake(built: MaxScene, tmp_path: Path, options: BakeOptions = SECOND) -> tuple[BakedScene, dict[str, Any]]:
    return bake_scene(read_max(built.write(tmp_path / "built.max")), options)


def world(baked: BakedScene, name: str) -> Float64s:
    index = next(index for index, node in enumerate(baked.scene.nodes) if node.name == name)
    tm = baked.nodes[index].world_tm.astype(np.float64)
    return np.broadcast_to(tm, (len(baked.ticks), 4, 3))


def turned(angles: Sequence[float], letters: str = "xyz") -> Float64s:
    """Return the product of row matrices about the axes of `letters`, in their order; angles by place."""
    product = np.eye(3)
    for letter, angle in zip(letters, angles, strict=True):
        i = "xyz".index(letter)
        j, k = (i + 1) % 3, (i + 2) % 3
        turn = np.eye(3)
        turn[j, j] = turn[k, k] = np.cos(angle)
        turn[j, k], turn[k, j] = np.sin(angle), -np.sin(angle)
        product = product @ turn
    return product


def notices(scene: Scene, kind: str) -> list[str]:
    return [f"{notice.class_name} {notice.where}: {notice.what}" for notice in scene.notices if notice.kind == kind]


# ---- IK ----


def test_a_keyed_enable_solves_only_while_it_is_on(tmp_path: Path) -> None:
    scene = MaxScene()
    scene.chain("goal", arm(scene), scene.prs((20.0, 30.0, 5.0)), enabled=scene.switch((0, 1.0), (2400, 0.0)))
    baked, certificate = bake(scene, tmp_path)
    assert baked.chains[0].solved.tolist() == [frame < 15 for frame in range(31)]
    miss = np.linalg.norm(world(baked, "hand")[:, 3] - (20.0, 30.0, 5.0), axis=1)
    assert miss[:15].max() < 1e-4
    assert miss[15:].min() > 1.0
    assert any("boolean keys" in entry["what"] for entry in certificate["not_evaluated"])


def test_a_keyed_swivel_turns_the_elbow_about_the_line_to_the_goal(tmp_path: Path) -> None:
    scene = MaxScene()
    scene.chain("goal", arm(scene), scene.prs((40.0, 10.0, 0.0)), swivel=scene.linear((0, 0.0), (4800, np.pi / 2)))
    baked, certificate = bake(scene, tmp_path)
    elbow, axis = world(baked, "elbow")[:, 3], np.array([40.0, 10.0, 0.0]) / np.hypot(40.0, 10.0)
    side = elbow - (elbow @ axis)[:, None] * axis
    assert side[0] @ side[-1] == pytest.approx(0.0, abs=1e-3)
    assert side[0] @ side[10] / (side[0] @ side[0]) == pytest.approx(np.cos(np.pi / 6), abs=1e-5)
    assert certificate["chains"][0]["worst_goal_miss_in_reach"] < 1e-4


def test_the_elbow_bends_towards_a_vh_target(tmp_path: Path) -> None:
    scene = MaxScene()
    target = scene.node("target", scene.root, scene.prs((10.0, 0.0, 50.0)), scene.add(POINT))
    scene.chain("goal", arm(scene), scene.prs((40.0, 10.0, 0.0)), vh_target=target)
    baked, _ = bake(scene, tmp_path)
    elbow, goal = world(baked, "elbow")[0, 3], np.array([40.0, 10.0, 0.0])
    normal = np.cross(goal, (10.0, 0.0, 50.0))
    assert elbow @ normal / np.linalg.norm(normal) == pytest.approx(0.0, abs=1e-4)
    assert baked.scene.chains[0].vh_target == 0


def test_limits_and_axes_switched_off_are_named(tmp_path: Path) -> None:
    scene = MaxScene()
    scene.chain("goal", arm(scene, constant(15, BOOL, 0), constant(33, BOOL, 1)), scene.prs((40.0, 10.0, 0.0)))
    baked, certificate = bake(scene, tmp_path)
    told = [entry["what"] for entry in certificate["not_evaluated"] if entry["kind"] == "ignored"]
    assert [what.split(":")[0] for what in told] == ["rotation axes switched off", "rotation limits on"]
    assert any("axes off x" in line and "limits on x" in line for line in render(inspect_scene(baked.scene)))


def test_a_goal_under_a_moving_parent_is_met_in_the_world(tmp_path: Path) -> None:
    scene = MaxScene()
    moving = scene.add(c.POSITION_XYZ, references=[scene.linear((0, 0.0), (4800, 20.0)), scene.number(5.0), scene.number(0.0)])
    turning = scene.add(c.EULER_XYZ, references=[scene.number(0.3), scene.number(0.0), scene.linear((0, 0.0), (4800, 1.0))])
    carrier = scene.node("carrier", scene.root, scene.prs(moving, turning), scene.add(POINT))
    scene.chain("goal", arm(scene), scene.prs((15.0, 10.0, 5.0)), parent=carrier)
    baked, certificate = bake(scene, tmp_path)
    assert np.abs(world(baked, "hand")[:, 3] - world(baked, "goal")[:, 3]).max() < 1e-4
    assert np.ptp(world(baked, "goal")[:, 3], axis=0).max() > 5.0
    assert certificate["chains"][0]["frames_solved"] == 31


def test_a_joint_whose_position_is_constrained_is_not_solved(tmp_path: Path) -> None:
    scene = MaxScene()
    place = scene.node("place", scene.root, scene.prs((5.0, 0.0, 0.0)), scene.add(POINT))
    block = scene.block(float_table(0, 50.0), node_table(1, 1), references=[place])
    held = scene.add(c.POSITION_CONSTRAINT, references=[block])
    shoulder = scene.joint("shoulder", scene.root, (0.0, 0.0, 0.0), (0.0, 0.0, 0.2))
    control = scene.add(c.IK_CONTROL, references=[scene.block(constant(39, ANGLE, 0.0)), scene.prs(held), -1, -1])
    elbow = scene.node("elbow", shoulder, control)
    hand = scene.joint("hand", elbow, (25.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    scene.chain("goal", [shoulder, elbow, hand], scene.prs((40.0, 10.0, 0.0)))
    _, certificate = bake(scene, tmp_path)
    assert "set by a constraint" in certificate["chains_not_solved"][0]["reason"]
    assert certificate["resting_on_held"] == ["hand"]


# ---- the file ----


def test_a_compressed_file_gives_the_same_bits(tmp_path: Path) -> None:
    scene = MaxScene()
    scene.chain("goal", arm(scene), scene.prs((20.0, 30.0, 5.0)), swivel=0.3)
    _, plain = bake_scene(read_max(scene.write(tmp_path / "plain.max")), SECOND)
    _, packed = bake_scene(read_max(scene.write(tmp_path / "packed.max", compressed=True)), SECOND)
    assert plain["raw_output_sha256"] == packed["raw_output_sha256"]
    assert (tmp_path / "packed.max").read_bytes() != (tmp_path / "plain.max").read_bytes()


def test_a_root_chunk_newer_than_any_known_is_read_on_with_a_notice(tmp_path: Path) -> None:
    scene = MaxScene(root_id=0x2099)
    scene.chain("goal", arm(scene), scene.prs((20.0, 30.0, 5.0)))
    baked, certificate = bake(scene, tmp_path)
    assert "of no known generation" in certificate["scene"]["note"]
    assert baked.chains[0].solved.all()


def test_a_large_built_file_needs_a_second_table_of_sectors(tmp_path: Path) -> None:
    """More than 109 FAT sectors, 7 MB: the container's own tables go on outside its header."""
    scene = MaxScene()
    scene.node("last", scene.root, scene.prs((1.0, 2.0, 3.0)), scene.add(POINT, chunk(0x7777, bytes(8 << 20))))
    assert read_max(scene.write(tmp_path / "large.max")).nodes[0].name == "last"


def test_markers_of_the_script_virus_are_named_first(tmp_path: Path) -> None:
    scene = MaxScene()
    script = ClassId(c.SCALE, *c.SCALE_SCRIPT)
    scene.node("\u00d7\u00fe\u00d7\u00fc", scene.root, scene.prs((0.0, 0.0, 0.0), scale=scene.add(script)), scene.add(POINT))
    baked, certificate = bake(scene, tmp_path)
    lines = list(render(inspect_scene(baked.scene)))
    assert lines[1].startswith("WARNING")
    assert "do not open the file in 3ds Max" in lines[1]
    assert [entry["kind"] for entry in certificate["not_evaluated"]].count("security") == 2


# ---- controllers ----


@pytest.mark.parametrize("order", range(9), ids=AXIS_ORDERS)
def test_euler_axis_orders(order: int, tmp_path: Path) -> None:
    angles, letters = (0.3, -0.8, 1.1), AXIS_ORDERS[order]
    scene = MaxScene()
    scene.node("turned", scene.root, scene.prs((0.0, 0.0, 0.0), scene.euler(angles, order)))
    baked, _ = bake(scene, tmp_path)
    by_turn = angles if len(set(letters)) < 3 else [angles["xyz".index(letter)] for letter in letters]
    assert world(baked, "turned")[0, :3] == pytest.approx(turned(by_turn, letters), abs=1e-6)
    assert bool(notices(baked.scene, "assumed")) == (order != 0)


def test_tcb_keys_are_met_and_named(tmp_path: Path) -> None:
    scene = MaxScene()
    half = (0.0, 0.0, np.sin(0.5), np.cos(0.5))
    places = [
        struct.pack("<iI3f5f6f", tick, 0, *point, *FLAT, *(0.0,) * 6) for tick, point in ((0, (1, 2, 3)), (2400, (4, 0, 1)))
    ]
    turns = [struct.pack("<iI4f5f4f8f", tick, 0, *q, *FLAT, *(0.0,) * 12) for tick, q in ((0, (0, 0, 0, 1)), (2400, half))]
    sizes = [
        struct.pack("<iI3f4f5f14f", tick, 0, *s, 0, 0, 0, 1, *FLAT, *(0.0,) * 14)
        for tick, s in ((0, (1, 1, 1)), (2400, (2, 3, 4)))
    ]
    scene.node(
        "tcb",
        scene.root,
        scene.prs(
            scene.keys(c.TCB_POSITION, 0x2521, *places),
            scene.keys(c.TCB_ROTATION, 0x2522, *turns),
            scene.keys(c.TCB_SCALE, 0x2523, *sizes),
        ),
    )
    baked, _ = bake(scene, tmp_path)
    assert world(baked, "tcb")[0] == pytest.approx(np.vstack([np.eye(3), (1, 2, 3)]))
    rows = np.diag((2.0, 3.0, 4.0)) @ turned((-1.0,), "z")
    assert world(baked, "tcb")[15] == pytest.approx(np.vstack([rows, (4, 0, 1)]), abs=1e-6)
    assert [line.split()[1] for line in notices(baked.scene, "assumed")] == ["Position", "Rotation", "Scale"]


def test_bezier_position_and_linear_rotation_keys(tmp_path: Path) -> None:
    scene = MaxScene()
    zero, third, flags = (0.0,) * 3, (1.0 / 3.0,) * 3, 1 << 7 | 1 << 10
    places = [
        struct.pack("<iI3f3f3f3f3f3f", tick, flags, *point, *zero, *zero, *third, *third, *zero)
        for tick, point in ((0, (0, 0, 0)), (4800, (30, 15, 0)))
    ]
    turns = [struct.pack("<iI4f", tick, 0, *q) for tick, q in ((0, (0, 0, 0, 1)), (4800, (np.sin(0.6), 0, 0, np.cos(0.6))))]
    scene.node(
        "moved",
        scene.root,
        scene.prs(scene.keys(c.BEZIER_POSITION, 0x2526, *places), scene.keys(c.LINEAR_ROTATION, 0x2514, *turns)),
    )
    baked, _ = bake(scene, tmp_path)
    assert world(baked, "moved")[10, 3] == pytest.approx((10.0, 5.0, 0.0), abs=1e-5)
    assert world(baked, "moved")[15, :3] == pytest.approx(turned((-0.6,), "x"), abs=1e-6)
    assert not baked.scene.notices


def test_lists_add_positions_and_nest_rotations(tmp_path: Path) -> None:
    scene = MaxScene()
    frozen, moved = scene.xyz(c.POSITION_XYZ, (10.0, 0.0, 1.0)), scene.xyz(c.POSITION_XYZ, (2.0, 4.0, 6.0))
    first, second = scene.euler((0.0, 0.0, 0.5), 0), scene.euler((0.7, 0.0, 0.0), 0)
    place, turn = scene.listed(c.POSITION_LIST, [frozen, moved], 1.0, 0.5), scene.listed(c.ROTATION_LIST, [first, second])
    scene.node("listed", scene.root, scene.prs(place, turn))
    baked, _ = bake(scene, tmp_path)
    assert world(baked, "listed")[0] == pytest.approx(np.vstack([turned((0.7, 0.5), "xz"), (11.0, 2.0, 4.0)]), abs=1e-6)
    assert isinstance(baked.scene.nodes[0].transform.position, SumTrack)


def test_a_list_of_one_working_entry_is_that_entry(tmp_path: Path) -> None:
    scene = MaxScene()
    place = scene.listed(
        c.POSITION_LIST, [scene.xyz(c.POSITION_XYZ, (1.0, 2.0, 3.0)), scene.xyz(c.POSITION_XYZ, (0.0, 0.0, 0.0))]
    )
    turn = scene.listed(c.ROTATION_LIST, [scene.euler((0.0, 0.0, 0.0), 0), scene.euler((0.1, 0.2, 0.3), 0)])
    scene.node("frozen", scene.root, scene.prs(place, turn))
    baked, _ = bake(scene, tmp_path)
    assert not baked.scene.notices
    assert baked.nodes[0].euler is not None
    assert baked.nodes[0].euler[0] == pytest.approx((0.1, 0.2, 0.3))


def test_a_weighted_rotation_turns_by_its_share_and_an_average_is_the_mean(tmp_path: Path) -> None:
    scene = MaxScene()
    turns = [scene.euler((0.0, 0.0, angle), 0) for angle in (0.8, 0.4)]
    places = [scene.xyz(c.POSITION_XYZ, (x, 0.0, 0.0)) for x in (10.0, 20.0)]
    scene.node("share", scene.root, scene.prs((0.0, 0.0, 0.0), scene.listed(c.ROTATION_LIST, turns, 0.25, 1.0)))
    mean = scene.listed(c.ROTATION_LIST, turns, 1.0, 1.0, average=True)
    scene.node("mean", scene.root, scene.prs(scene.listed(c.POSITION_LIST, places, 1.0, 3.0, average=True), mean))
    baked, _ = bake(scene, tmp_path)
    assert world(baked, "share")[0, :3] == pytest.approx(turned((0.6,), "z"), abs=1e-6)
    assert world(baked, "mean")[0] == pytest.approx(np.vstack([turned((0.6,), "z"), (17.5, 0.0, 0.0)]), abs=1e-6)


def test_a_float_list_adds_its_entries(tmp_path: Path) -> None:
    scene = MaxScene()
    listed = scene.listed(c.FLOAT_LIST, [scene.number(1.5), scene.linear((0, 0.0), (4800, 3.0))], 2.0, 1.0)
    place = scene.add(c.POSITION_XYZ, references=[listed, scene.number(0.0), scene.number(0.0)])
    scene.node("slider", scene.root, scene.prs(place))
    baked, _ = bake(scene, tmp_path)
    assert world(baked, "slider")[::10, 3, 0].tolist() == [3.0, 4.0, 5.0, 6.0]


def test_a_look_at_follows_its_target_and_rolls(tmp_path: Path) -> None:
    scene = MaxScene()
    moving = scene.add(
        c.POSITION_XYZ, references=[scene.linear((0, 10.0), (4800, -10.0)), scene.number(40.0), scene.number(5.0)]
    )
    target = scene.node("target", scene.root, scene.prs(moving), scene.add(POINT))
    scale = scene.add(c.BEZIER_SCALE, chunk(0x2505, floats(1, 1, 1, 0, 0, 0, 1)))
    place = scene.xyz(c.POSITION_XYZ, (1.0, 2.0, 3.0))
    look = scene.add(c.LOOK_AT, chunk(0x0100, struct.pack("<I", 2)), references=[target, place, scene.number(0.5), scale])
    parent = scene.node("parent", scene.root, scene.prs((5.0, 0.0, 0.0), (0.4, 0.5, 0.6)), scene.add(POINT))
    scene.node("camera", parent, look, scene.add(POINT))
    baked, _ = bake(scene, tmp_path)
    camera, seen = world(baked, "camera"), world(baked, "target")[:, 3]
    away = camera[:, 3] - seen
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    assert camera[:, 2] == pytest.approx(away, abs=1e-6)
    level = np.cross((0.0, 0.0, 1.0), away)
    level /= np.linalg.norm(level, axis=1, keepdims=True)
    assert np.einsum("fi,fi->f", camera[:, 0], level) == pytest.approx(np.full(31, np.cos(0.5)), abs=1e-6)
    assert (camera[:, 0, 2] > 0.0).all()
    assert isinstance(baked.scene.nodes[2].transform.rotation, LookAt)


def test_a_position_constraint_is_the_weighted_mean_below_the_parent(tmp_path: Path) -> None:
    scene = MaxScene()
    ends = [
        scene.node(f"end{i}", scene.root, scene.prs(place), scene.add(POINT)) for i, place in enumerate(((0, 0, 0), (8, 4, 0)))
    ]
    monitor = scene.add(c.NODE_MONITOR, references=[ends[1]])
    block = scene.block(float_table(0, None, 25.0), node_table(1, 2), references=[scene.number(75.0), ends[0], monitor])
    held = scene.add(c.POSITION_CONSTRAINT, references=[block])
    parent = scene.node("parent", scene.root, scene.prs((1.0, 2.0, 3.0), (0.3, 0.2, 0.1)), scene.add(POINT))
    scene.node("held", parent, scene.prs(held), scene.add(POINT))
    baked, _ = bake(scene, tmp_path)
    assert world(baked, "held")[0, 3] == pytest.approx((2.0, 1.0, 0.0), abs=1e-5)
    assert isinstance(baked.scene.nodes[3].transform.position, PositionConstraint)


def test_an_orientation_constraint_takes_its_target_s_world_rotation(tmp_path: Path) -> None:
    scene = MaxScene()
    above = scene.node("above", scene.root, scene.prs((0.0, 0.0, 0.0), (0.0, 0.0, 0.7)), scene.add(POINT))
    target = scene.node("target", above, scene.prs((0.0, 0.0, 0.0), (0.5, 0.0, 0.0)), scene.add(POINT))
    for name, in_world in (("world", 1), ("local", 0)):
        block = scene.block(float_table(0, 50.0), node_table(1, 1), constant(3, BOOL, in_world), references=[target])
        turn = scene.add(c.ORIENTATION_CONSTRAINT, references=[block])
        scene.node(name, scene.root, scene.prs((0.0, 0.0, 0.0), turn), scene.add(POINT))
    baked, _ = bake(scene, tmp_path)
    assert world(baked, "world")[0, :3] == pytest.approx(turned((0.5, 0.7), "xz"), abs=1e-6)
    assert world(baked, "local")[0, :3] == pytest.approx(turned((0.5,), "x"), abs=1e-6)


def test_a_constraint_takes_the_place_of_what_stands_before_it_in_a_list(tmp_path: Path) -> None:
    scene = MaxScene()
    end = scene.node("end", scene.root, scene.prs((8.0, 4.0, 0.0)), scene.add(POINT))
    for name, weight in (("whole", 1.0), ("half", 0.5)):
        block = scene.block(float_table(0, 50.0), node_table(1, 1), references=[end])
        entries = [scene.xyz(c.POSITION_XYZ, (2.0, 0.0, 2.0)), scene.add(c.POSITION_CONSTRAINT, references=[block])]
        scene.node(name, scene.root, scene.prs(scene.listed(c.POSITION_LIST, entries, 1.0, weight)), scene.add(POINT))
    baked, _ = bake(scene, tmp_path)
    assert world(baked, "whole")[0, 3] == pytest.approx((8.0, 4.0, 0.0))
    assert world(baked, "half")[0, 3] == pytest.approx((5.0, 2.0, 1.0))
    assert isinstance(baked.scene.nodes[2].transform.position, PositionList)


def test_a_path_constraint_goes_along_the_length_or_by_segments(tmp_path: Path) -> None:
    """A straight line of knots at 0, 4, 12: half the length is 6, half the segments is the middle knot."""
    scene = MaxScene()
    line = scene.node("line", scene.root, scene.prs((0.0, 1.0, 0.0)), scene.line([(0, 0, 0), (4, 0, 0), (12, 0, 0)]))
    for name, constant_velocity in (("length", 1), ("segments", 0)):
        block = scene.block(
            record(0, FRACTION, mark=ANIMATED),
            constant(7, BOOL, constant_velocity),
            float_table(10, 50.0),
            node_table(11, 1),
            references=[scene.linear((0, 0.0), (4800, 1.0)), line],
        )
        follow = scene.add(c.PATH_CONSTRAINT, references=[-1, -1, block])
        scene.node(name, scene.root, scene.prs(follow), scene.add(POINT))
    baked, _ = bake(scene, tmp_path)
    assert world(baked, "length")[15, 3] == pytest.approx((6.0, 1.0, 0.0), abs=0.02)
    assert world(baked, "segments")[15, 3] == pytest.approx((4.0, 1.0, 0.0), abs=1e-5)
    for name in ("length", "segments"):
        assert world(baked, name)[[0, 30], 3] == pytest.approx(np.array([(0.0, 1.0, 0.0), (12.0, 1.0, 0.0)]), abs=1e-5)
    assert isinstance(baked.scene.nodes[1].transform.position, PathPosition)
    assert len(notices(baked.scene, "assumed")) == 2


def test_links_change_hands_without_a_jump(tmp_path: Path) -> None:
    """Linked to a mover at frame 10.5, a tick between frames, and to the world at frame 20."""
    scene = MaxScene()
    moving = scene.add(c.POSITION_XYZ, references=[scene.linear((0, 0.0), (4800, 30.0)), scene.number(0.0), scene.number(0.0)])
    mover = scene.node("mover", scene.root, scene.prs(moving), scene.add(POINT))
    frames = record(
        1, TABLE | 0x0C, struct.pack("<I", 2) + b"".join(b"\x40" + struct.pack("<i", tick) for tick in (1680, 3200)), mark=0
    )
    block = scene.block(node_table(0, 2), frames, references=[mover, -1])
    scene.node(
        "box",
        scene.root,
        scene.add(c.LINK_CONSTRAINT, references=[scene.prs((1.0, 2.0, 3.0)), -1, block, -1]),
        scene.add(POINT),
    )
    baked, certificate = bake(scene, tmp_path)
    x = world(baked, "box")[:, 3, 0]
    assert len(x) == 31
    assert x[:11] == pytest.approx(np.ones(11))
    assert x[11:21] == pytest.approx(np.arange(11, 21) - 10.5 + 1.0, abs=1e-5)
    assert x[20:] == pytest.approx(np.full(11, 10.5), abs=1e-5)
    assert any("Link Constraint" in entry["class"] for entry in certificate["not_evaluated"])


def test_on_off_is_read_and_an_unknown_plug_in_is_named(tmp_path: Path) -> None:
    scene = MaxScene()
    switch = scene.add(c.ON_OFF, chunk(0x0130, bytes(4)), chunk(0x0140, struct.pack("<I", 0)))
    scene.chain("goal", arm(scene), scene.prs((20.0, 30.0, 5.0)), enabled=switch)
    scene.node("strange", scene.root, scene.add(ClassId(c.TRANSFORM, 0x1234, 0x5678)), scene.add(POINT))
    baked, certificate = bake(scene, tmp_path)
    assert not baked.chains[0].solved.any()
    (entry,) = [entry for entry in certificate["not_evaluated"] if entry["kind"] == "unsupported"]
    assert (entry["node"], entry["class"]) == ("strange", "Unknown Plug-in")


def test_what_is_built_survives_the_way_through_scene_json(tmp_path: Path) -> None:
    scene = MaxScene()
    line = scene.node("line", scene.root, scene.prs((0.0, 1.0, 0.0)), scene.line([(0, 0, 0), (2, 3, 0), (12, 0, 0)]))
    block = scene.block(
        constant(0, FRACTION, 0.4),
        constant(7, BOOL, 1),
        constant(12, BOOL, 1),
        float_table(10, 50.0, 20.0),
        node_table(11, 2),
        references=[line, line],
    )
    entries = [scene.add(c.PATH_CONSTRAINT, references=[-1, -1, block]), scene.xyz(c.POSITION_XYZ, (1.0, 2.0, 3.0))]
    turn = scene.listed(
        c.ROTATION_LIST, [scene.euler((0.1, 0.2, 0.3), 4), scene.euler((0.4, 0.0, 0.0), 0)], 0.5, 1.0, average=True
    )
    scene.node("list", scene.root, scene.prs(scene.listed(c.POSITION_LIST, entries, 1.0, 0.5), turn), scene.add(POINT))
    read = read_max(scene.write(tmp_path / "built.max"))
    write_scene_json(read, tmp_path / "built.scene.json")
    again = read_scene_json(tmp_path / "built.scene.json")
    assert again.nodes == read.nodes
    assert bake_scene(again, SECOND)[1]["raw_output_sha256"] == bake_scene(read, SECOND)[1]["raw_output_sha256"]
