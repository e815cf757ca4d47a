"""Scene JSON: exact round trips, the same bits as the .max file it came from, and mistakes named by their path."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxik.bake import BakeOptions, bake_scene
from maxik.errors import FileFormatError
from maxik.formats.max import read_max
from maxik.formats.scene_json import dumps_scene, read_scene_json, write_scene_json
from maxik.numerics.float32 import from_bits, same_bits
from maxik.scene import tracks as t
from maxik.scene.scene import Notice, Scene
from maxik.scene.transform import EulerRotation, QuatRotation
from rigs import limb_scene, with_chain

DOCS = Path(__file__).resolve().parents[2] / "docs" / "scene-json.md"
TIMES = (0, 160, 800)
TCB = ((0.0, 0.5, -0.5, 0.125, 0.25),) * 3
ROWS = ((0.125,), (2.0**-100,), (-3.5,))
TURNS = ((0.0, 0.0, 0.0, 1.0), (0.5, 0.5, 0.5, 0.5), (1.0, 0.0, 0.0, 0.0))
TRACKS: dict[str, t.Track] = {
    "constant": t.ConstantTrack((0.25,)),
    "linear": t.LinearTrack(TIMES, ROWS),
    "step": t.StepTrack(TIMES, ROWS),
    "bezier": t.BezierTrack(TIMES, ROWS, ROWS, ROWS, ROWS, ROWS, (0, 1, 5), (2, 3, 4)),
    "tcb": t.TcbTrack(TIMES, ROWS, TCB),
}


def round_trip(scene: Scene, folder: Path) -> Scene:
    write_scene_json(scene, folder / "x.scene.json")
    return replace(read_scene_json(folder / "x.scene.json"), file=scene.file)


@pytest.mark.parametrize("name", TRACKS)
def test_every_kind_of_track_comes_back(name: str, tmp_path: Path) -> None:
    scene = with_chain(limb_scene(), swivel=TRACKS[name])
    once = round_trip(scene, tmp_path)
    assert type(once.chains[0].swivel) is type(TRACKS[name])
    assert round_trip(once, tmp_path) == once
    ticks = np.arange(-100, 1000, 37)
    assert once.chains[0].swivel.at(ticks).tobytes() == TRACKS[name].at(ticks).tobytes()


@pytest.mark.parametrize(
    "quat", [t.SlerpTrack(TIMES, TURNS), t.TcbRotationTrack(TIMES, TURNS, ((0.0, 0.0, 0.0, 0.0, 0.0),) * 3)]
)
def test_rotations_and_notices_come_back(quat: t.Track, tmp_path: Path) -> None:
    scene = limb_scene()
    node = replace(scene.nodes[0], transform=replace(scene.nodes[0].transform, rotation=QuatRotation(quat)))
    euler = EulerRotation(t.ConstantTrack((0.5,)), TRACKS["bezier"], t.ConstantTrack((0.0,)), 3)
    other = replace(scene.nodes[1], transform=replace(scene.nodes[1].transform, rotation=euler))
    scene = replace(
        scene, nodes=(node, other, *scene.nodes[2:]), notices=(Notice("unsupported", "held", 2, "Noise", "position"),)
    )
    once = round_trip(scene, tmp_path)
    assert once.nodes[0].transform.rotation == QuatRotation(quat)
    assert once.notices == scene.notices
    assert round_trip(once, tmp_path) == once


@pytest.mark.shared
def test_baking_the_json_of_a_max_file_gives_the_same_bits(shared: Path, tmp_path: Path) -> None:
    files = sorted((shared / "maxfiles").glob("*.max"))
    assert len(files) >= 24
    for path in files:
        scene = read_max(path)
        again = round_trip(scene, tmp_path)
        assert again == scene, path.name
        options = BakeOptions(skip_unsupported=True)
        hashes = {bake_scene(each, options)[1]["raw_output_sha256"] for each in (again, scene)}
        assert len(hashes) == 1, path.name


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=3, max_size=3))
def test_any_float32_survives(bits: list[int]) -> None:
    values = tuple(from_bits(word) for word in bits)
    scene = limb_scene()
    node = replace(scene.nodes[4], transform=replace(scene.nodes[4].transform, position=t.ConstantTrack(values)))
    entry = json.loads(dumps_scene(replace(scene, nodes=(*scene.nodes[:4], node))))["nodes"][4]["position"]
    for value, written in zip(values, entry, strict=True):
        read = from_bits(int(written, 16)) if isinstance(written, str) else float(np.float32(written))
        assert same_bits(read, value)


def test_the_example_of_the_documentation_loads(tmp_path: Path) -> None:
    (example,) = re.findall(r"```json\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "doc.scene.json"
    path.write_text(example, encoding="utf-8")
    scene = read_scene_json(path)
    assert [node.name for node in scene.nodes] == ["shoulder", "elbow", "hand", "goal"]
    assert isinstance(scene.nodes[0].transform.rotation, EulerRotation)
    assert scene.nodes[0].transform.rotation.z == t.ConstantTrack((float(np.float32(math.radians(10.0))),))
    assert bake_scene(scene)[1]["chains"][0]["frames_solved"] == 31


def read_changed(path: str, value: object, folder: Path) -> Scene:
    """Read a good scene with one value replaced; the path is like nodes.1.parent."""
    data: Any = minimal()
    at = data
    *parents, last = path.split(".")
    for key in parents:
        at = at[int(key)] if key.isdigit() else at[key]
    at[int(last) if last.isdigit() else last] = value
    file = folder / "x.scene.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return read_scene_json(file)


def test_degrees_are_taken_for_constants_and_for_whole_keyed_tracks(tmp_path: Path) -> None:
    quarter, half = (float(np.float32(angle)) for angle in (math.pi / 2, math.pi))
    assert read_changed("chains.0.swivel", {"degrees": 90}, tmp_path).chains[0].swivel == t.ConstantTrack((quarter,))
    lines = {"degrees": {"keys": "linear", "times": [0, 160], "values": [90, [180]]}}
    joined = {"degrees": {"components": [90, 180, lines["degrees"]]}}
    lines_in_radians = t.LinearTrack((0, 160), ((quarter,), (half,)))
    rotation = read_changed("nodes.1.rotation", {"x": lines}, tmp_path).nodes[1].transform.rotation
    assert rotation == EulerRotation(lines_in_radians, t.ConstantTrack((0.0,)), t.ConstantTrack((0.0,)))
    joint = read_changed("nodes.1.joint", {"preferred": joined}, tmp_path).nodes[1].joint
    assert joint is not None
    assert joint.preferred == t.ComponentsTrack((t.ConstantTrack((quarter,)), t.ConstantTrack((half,)), lines_in_radians))


def test_degrees_turn_tangents_but_not_handle_lengths(tmp_path: Path) -> None:
    keys = {"keys": "bezier", "times": [0], "in_types": [5], "out_types": [5], "values": [[180]]}
    rows = {"in_tangents": [[-180]], "out_tangents": [[90]], "in_lengths": [[0.25]], "out_lengths": [[-1]]}
    swivel = read_changed("chains.0.swivel", {"degrees": keys | rows}, tmp_path).chains[0].swivel
    pi = float(np.float32(math.pi))
    assert swivel == t.BezierTrack((0,), ((pi,),), ((-pi,),), ((pi / 2,),), ((0.25,),), ((-1.0,),), (5,), (5,))


def test_bit_patterns_and_parents_by_name_are_read(tmp_path: Path) -> None:
    position = read_changed("nodes.1.position", ["3f800000", "80000000", 0.1], tmp_path).nodes[1].transform.position
    assert isinstance(position, t.ConstantTrack)
    assert position.at(np.array([0])).tobytes() == np.array([1.0, -0.0, 0.1], np.float32).tobytes()
    assert read_changed("nodes.3.parent", "upper arm", tmp_path).nodes[3].parent == 1


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    node = read_changed("nodes.0", {"name": "bare"}, tmp_path).nodes[0]
    zero, ones, no_turn = ((0.0,) * 3, (1.0,) * 3, (0.0, 0.0, 0.0, 1.0))
    assert (node.parent, node.joint, node.object_class) == (None, None, "")
    assert node.transform.position == t.ConstantTrack(zero)
    assert node.transform.rotation == QuatRotation(t.ConstantTrack(no_turn))
    assert (node.transform.scale, node.transform.scale_axis) == (t.ConstantTrack(ones), t.ConstantTrack(no_turn))


def minimal() -> dict[str, Any]:
    return json.loads(dumps_scene(with_chain(limb_scene(), swivel=TRACKS["bezier"])))  # type: ignore[no-any-return]


MISTAKES: list[tuple[str, Any, str]] = [
    ("format", "maxik-scene/9", "format"),
    ("frame_rate", 0, "frame_rate: a rate"),
    ("range", [10, 0], "range: first and last"),
    ("nodes.0.name", 5, r"nodes\[0\].name: text"),
    ("nodes.1.parent", 77, r"nodes\[1\].parent: there is no node 77"),
    ("nodes.1.parent", "nobody", r"nodes\[1\].parent: no nodes are called 'nobody'"),
    ("nodes.0.parent", 2, r"nodes\[0\].parent: the node is its own ancestor"),
    ("nodes.1.position", [1, 2], r"nodes\[1\].position: 3 numbers are expected, not 2"),
    ("nodes.1.position", [1, 2, "3F800000"], r"nodes\[1\].position\[2\]"),
    ("nodes.1.position", [1, 2, 1e60], r"nodes\[1\].position\[2\]: the number does not fit float32"),
    ("nodes.1.position", {"keys": "wobbly"}, r"nodes\[1\].position.keys: one of linear"),
    ("nodes.1.position", {"keys": "linear", "times": [5, 5], "values": [[0, 0, 0]] * 2}, r"nodes\[1\].position: key times"),
    ("nodes.1.position", {"keys": "linear", "times": [0, 5]}, r"nodes\[1\].position: 'values' is missing"),
    ("nodes.1.position", [1, 2, math.nan], r"nodes\[1\].position\[2\]: a finite number"),
    ("nodes.1.position", [1, 2, 10**400], r"nodes\[1\].position\[2\]: a finite number"),
    ("nodes.1.position", [1, True, 2], r"nodes\[1\].position\[1\]: a number"),
    ("nodes.1.position", {"keys": []}, r"nodes\[1\].position.keys: one of linear"),
    ("nodes.1.position", {"degrees": [1, 2, 3]}, r"nodes\[1\].position: degrees are for angles"),
    ("nodes.1.position", {"keys": "slerp", "times": [0], "values": [[0, 0, 1]]}, r"nodes\[1\].position.keys: slerp keys"),
    ("nodes.1.position", {"components": [1, 2]}, r"nodes\[1\].position.components: 3 tracks"),
    ("nodes.1.psition", [1, 2, 3], r"nodes\[1\]: 'psition' is no key here"),
    ("nodes.1.joint.prefered", [1, 2, 3], r"nodes\[1\].joint: 'prefered' is no key here"),
    ("chains.0.swivel", {"keys": "tcb", "times": [0], "values": [0], "tcb": []}, r"chains\[0\].swivel.tcb: 1 entries"),
    ("chains.0.swivel", {"keys": "step", "times": [0], "values": [0], "tcb": []}, r"chains\[0\].swivel: 'tcb' is no key"),
    ("chains.0.goal", 5, r"chains\[0\].goal: there is no node 5"),
    ("chains.0.swivel_parent", [], r"chains\[0\].swivel_parent"),
    ("nodes.1.rotation", {"degrees": {"degrees": 1}}, r"nodes\[1\].rotation.degrees: degrees"),
    ("nodes.1.rotation", {"x": "no"}, r"nodes\[1\].rotation.x"),
    ("chains.0.start", None, r"chains\[0\].start: a whole number"),
    ("chains.0.swivel_parent", "moon", r"chains\[0\].swivel_parent"),
    ("units.metres", -1, "units.metres: a length above 0"),
]


@pytest.mark.parametrize(("path", "value", "message"), MISTAKES)
def test_a_mistake_is_named_by_its_path(path: str, value: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        read_changed(path, value, tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "x.scene.json"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{\n  oops", "x.scene.json:2: is not JSON"),
        (b"\xff{", "UTF-8"),
        (b"[" * 100000, "nested|JSON"),
        (b"[" + b"1" * 5000 + b"]", "too many digits"),
        (b"[1]", "the format is not"),
    ],
)
def test_a_file_that_is_no_json(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.scene.json"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=message):
        read_scene_json(path)


def test_a_name_that_two_nodes_have_is_refused(tmp_path: Path) -> None:
    data = minimal()
    data["nodes"][1]["name"] = data["nodes"][2]["name"] = "twin"
    data["chains"][0]["start"] = "twin"
    path = tmp_path / "x.scene.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"chains\[0\].start: 2 nodes are called 'twin'; use the index"):
        read_scene_json(path)


WEIRD: list[Any] = [None, True, -1, 10**30, 1e300, "", "nan", "7fc00000", [], [[]], {}, {"keys": []}, {"degrees": []}]


def places(data: object, path: str = "") -> list[str]:
    """Return the path of every value in JSON data."""
    steps = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [found for key, value in steps for here in (f"{path}.{key}".lstrip("."),) for found in (here, *places(value, here))]


def test_any_value_anywhere_is_read_or_refused_in_one_line(tmp_path: Path) -> None:
    outcomes = {"read": 0, "refused": 0}
    for path in places(minimal()):
        for value in WEIRD:
            try:
                read_changed(path, value, tmp_path)
            except FileFormatError as error:
                assert "\n" not in str(error)  # noqa: PT017 - either outcome is right
                outcomes["refused"] += 1
            else:
                outcomes["read"] += 1
    assert min(outcomes.values()) > 0
