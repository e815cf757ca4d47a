"""Files that mean harm: whatever sizes, counts and references they claim, reading ends soon, small, in a scene or an error."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from max_builder import ANIMATED, CONSTANT, FLOAT, INLINE, NODE, POINT, TABLE, MaxScene, chunk, constant, floats, record
from max_mutations import Outcome, take_it
from maxik.bake import bake_scene
from maxik.errors import FileFormatError, UsageError
from maxik.formats.max import classes as c
from maxik.formats.max import objects, read_max
from maxik.formats.max import scene as max_scene
from ole_writer import ole_file


def end_of(built: MaxScene, tmp_path: Path) -> Outcome:
    outcome = take_it(built.write(tmp_path / "whole.max").read_bytes(), tmp_path / "hostile.max")
    assert outcome.seconds < 2.0
    return outcome


def streams_of(scene: MaxScene) -> dict[str, bytes]:
    scene.node("box", scene.root, scene.prs((1.0, 2.0, 3.0)), scene.add(POINT))
    return scene.streams()


def patched(at: int, layout: str, value: int) -> bytes:
    """Return a good file with one number of the container's header overwritten."""
    content = bytearray(ole_file(streams_of(MaxScene())))
    struct.pack_into(layout, content, at, value)
    return bytes(content)


@pytest.mark.parametrize(
    ("at", "layout", "value", "message"),
    [
        (30, "<H", 31, "sectors of 2\\^31 bytes"),
        (44, "<I", 0xFFFFFF, "16777215 FAT sectors in a file of"),
        (64, "<I", 0xFFFFFF, "mini FAT sectors in a file of"),
        (72, "<I", 0xFFFFFF, "DIFAT sectors in a file of"),
        (48, "<I", 0xFFFFFFF0, "OLE container is damaged"),
    ],
    ids=["sector size", "FAT", "mini FAT", "DIFAT", "directory"],
)
def test_a_container_that_claims_too_much(at: int, layout: str, value: int, message: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.max"
    path.write_bytes(patched(at, layout, value))
    with pytest.raises(FileFormatError, match=message):
        read_max(path)


def test_a_stream_larger_than_its_file(tmp_path: Path) -> None:
    content = bytearray(ole_file(streams_of(MaxScene())))
    at = content.index("Scene".encode("utf-16-le"))
    struct.pack_into("<Q", content, at + 120, 1 << 30)
    (tmp_path / "hostile.max").write_bytes(content)
    with pytest.raises(FileFormatError):
        read_max(tmp_path / "hostile.max")


@pytest.mark.parametrize("sector", range(12))
def test_sectors_that_follow_each_other_in_a_circle(sector: int, tmp_path: Path) -> None:
    """Every chain of the FAT in turn is bent back to its first sector."""
    content = bytearray(ole_file(streams_of(MaxScene())))
    (table,) = struct.unpack_from("<I", content, 76)
    for entry in range(sector, 128, 12):
        struct.pack_into("<I", content, 512 * (table + 1) + 4 * entry, sector)
    assert take_it(bytes(content), tmp_path / "hostile.max").seconds < 2.0


def test_nodes_that_are_each_other_s_parents(tmp_path: Path) -> None:
    scene = MaxScene()
    first = len(scene.objects)
    prs = scene.prs((0.0, 0.0, 0.0))
    scene.node("a", len(scene.objects) + 1, prs)
    scene.node("b", len(scene.objects) - 1, prs)
    assert first < prs
    assert "each other's parents" in end_of(scene, tmp_path).message


@pytest.mark.parametrize(
    "kind", [c.POSITION_LIST, c.ROTATION_LIST, c.FLOAT_LIST, c.SCALE_LIST], ids=lambda kind: hex(kind.super)
)
def test_a_list_that_contains_itself(kind: c.ClassId, tmp_path: Path) -> None:
    scene = MaxScene()
    itself = scene.add(kind, references=[len(scene.objects)] * 40)
    still, straight = scene.xyz(c.POSITION_XYZ, (0.0, 0.0, 0.0)), scene.euler((0.0, 0.0, 0.0), 0)
    place = {c.POSITION_LIST: itself, c.FLOAT_LIST: scene.add(c.POSITION_XYZ, references=[itself] * 3)}.get(kind, still)
    turn = itself if kind == c.ROTATION_LIST else straight
    scene.node("box", scene.root, scene.prs(place, turn, itself if kind == c.SCALE_LIST else None))
    assert end_of(scene, tmp_path).end == "scene"


def test_a_crowd_of_nodes_that_share_a_crowded_list(tmp_path: Path) -> None:
    scene = MaxScene()
    number = scene.xyz(c.POSITION_XYZ, (1.0, 2.0, 3.0))
    crowded = scene.prs(scene.listed(c.POSITION_LIST, [number] * 1000))
    for index in range(300):
        scene.node(f"box {index}", scene.root, crowded)
    assert end_of(scene, tmp_path).end == "scene"


def test_a_list_of_lists_of_lists_that_doubles_at_every_level(tmp_path: Path) -> None:
    scene = MaxScene()
    inner = scene.xyz(c.POSITION_XYZ, (1.0, 2.0, 3.0))
    for _ in range(30):
        inner = scene.listed(c.POSITION_LIST, [inner, inner])
    scene.node("box", scene.root, scene.prs(inner))
    assert end_of(scene, tmp_path).end == "scene"


def nested(depth: int) -> bytes:
    data = b""
    for _ in range(depth):
        data = struct.pack("<HI", 0x1010, (6 + len(data)) | 0x80000000) + data
    return data


def test_chunks_nested_ten_thousand_deep(tmp_path: Path) -> None:
    scene = MaxScene()
    line = scene.add(c.ClassId(0x40, 0x1040, 0), nested(10_000))
    path = scene.node("line", scene.root, scene.prs((0.0, 0.0, 0.0)), line)
    block = scene.block(constant(0, 6, 0.0), record(11, TABLE | NODE, struct.pack("<I", 1) + b"\0", mark=0), references=[path])
    scene.node("rider", scene.root, scene.prs(scene.add(c.PATH_CONSTRAINT, references=[-1, -1, block])))
    outcome = end_of(scene, tmp_path)
    assert outcome.end == "scene"


@pytest.mark.parametrize(
    "table",
    [
        struct.pack("<I", 0xFFFFFFFF),
        struct.pack("<I", 0x7FFFFFFF) + bytes([CONSTANT]) + floats(1.0),
        struct.pack("<I", 5) + bytes([ANIMATED]) * 2,
        struct.pack("<I", 2) + bytes([CONSTANT]),
    ],
    ids=["all", "many", "short", "cut"],
)
def test_tables_that_claim_more_elements_than_they_have(table: bytes, tmp_path: Path) -> None:
    scene = MaxScene()
    number = scene.xyz(c.POSITION_XYZ, (1.0, 2.0, 3.0))
    block = scene.block(record(0, TABLE | FLOAT, table, mark=0))
    scene.node("box", scene.root, scene.prs(scene.add(c.POSITION_LIST, references=[number, -1, -1, block])))
    assert end_of(scene, tmp_path).end in ("scene", "error")


def test_a_string_that_claims_four_gigabytes(tmp_path: Path) -> None:
    scene = MaxScene()
    block = scene.block(
        record(2, 8, struct.pack("<I", 0xFFFFFFFF) + b"x"), record(0, NODE, struct.pack("<i", 1 << 30), flags=INLINE)
    )
    control = scene.add(c.IK_CHAIN_CONTROL, references=[block, scene.prs((0.0, 0.0, 0.0)), -1, -1, -1, -1])
    scene.node("goal", scene.root, control)
    assert end_of(scene, tmp_path).end == "scene"


def test_too_many_objects_and_too_many_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "MOST_OBJECTS", 30)
    scene = MaxScene()
    prs = scene.prs((0.0, 0.0, 0.0))
    for index in range(40):
        scene.node(f"box {index}", scene.root, prs)
    assert "more than 30 objects" in end_of(scene, tmp_path).message
    monkeypatch.setattr(objects, "MOST_OBJECTS", 1000)
    monkeypatch.setattr(max_scene, "MOST_NODES", 30)
    assert "more than 30 nodes" in end_of(scene, tmp_path).message


def test_a_range_of_time_without_end_is_not_baked(tmp_path: Path) -> None:
    scene = MaxScene()
    scene.node("box", scene.root, scene.prs((0.0, 0.0, 0.0)))
    read = read_max(scene.write(tmp_path / "hostile.max", first=-(2**31), last=2**31 - 1))
    with pytest.raises(UsageError, match=r"too long|more than maxik bakes at once"):
        bake_scene(read)


def test_sixty_thousand_tiny_objects(tmp_path: Path) -> None:
    """Six bytes each, a thousand of them nodes without anything."""
    scene = MaxScene()
    node = struct.pack("<HI", scene.classes.index(c.NODE), 6)
    scene.objects += [node] * 1_000 + [chunk(0x7FFF, b"")] * 60_000
    assert end_of(scene, tmp_path).end == "scene"


def test_a_signalling_nan_is_no_warning(tmp_path: Path) -> None:
    """0x7F800001 raises the invalid flag of a conversion; it is named as not finite instead."""
    scene = MaxScene()
    noisy = scene.add(c.BEZIER_POSITION, chunk(0x2503, struct.pack("<3I", 0x7F800001, 0, 0)))
    scene.node("box", scene.root, scene.prs(noisy))
    assert end_of(scene, tmp_path).end == "scene"
    _, certificate = bake_scene(read_max(tmp_path / "whole.max"))
    assert [entry["node"] for entry in certificate["not_finite"]] == ["box"]
