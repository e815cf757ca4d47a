"""Verification: the reference data pass; a single wrong bit, sign, status or turn is seen and shown."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maxik.cli import main
from maxik.engines import make_engine
from maxik.errors import FileFormatError
from maxik.problems import Engine
from maxik.profile import PROFILES
from maxik.vectors import read_vectors, write_vectors
from maxik.verify import VerifyReport, render, to_json, verify_files

Line = dict[str, Any]
HEADER = {
    "format": "maxik-vectors/1",
    "item": "limb.solve",
    "profile": "candidate-1",
    "provenance": {"kind": "analytic", "source": "test"},
}
IDENTITY = ["3f800000", *["00000000"] * 3, "3f800000", *["00000000"] * 3, "3f800000"]
FILES = (
    "kernel/limb.solve.jsonl",
    *(f"kernel/items/{room}*.jsonl" for room in ("ik", "matrix3", "point3", "quat")),
    "crt/*.jsonl",
    "max-export/limb*.jsonl",
    "max-export/vh-target.*.jsonl",
    *(f"max-export/hi2-{take}.*.jsonl" for take in ("idle", "spawn", "cape")),
)


@pytest.fixture(scope="module", params=["kernel", "model"])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "kernel" and make_engine(None, PROFILES["candidate-1"])[0].name != "kernel":
        pytest.skip("the compiled kernel is not there")
    return make_engine(request.param, PROFILES["candidate-1"])[0]


@pytest.mark.shared
@pytest.mark.parametrize("pattern", FILES)
def test_the_reference_data_pass(pattern: str, engine: Engine, shared: Path) -> None:
    paths = sorted((shared / "vectors").glob(pattern))
    assert paths
    report = verify_files(paths, engine)
    assert report.failed == 0, render(report)
    assert report.skipped == 0
    assert report.passed > 0


@pytest.mark.shared
def test_poses_of_other_solvers_are_skipped_by_name(engine: Engine, shared: Path) -> None:
    report = verify_files([shared / "vectors" / "max-export" / "hi2-walk-multi-axis.a.jsonl"], engine)
    assert (report.passed, report.failed) == (0, 0)
    assert "284 of hi.solve" in render(report)


def straight_ahead() -> Line:
    """Return a one-joint chain whose goal lies where it already points: no turn, by hand."""
    return {
        "id": "ahead",
        "in": {
            "link_count": 0,
            "root": {"init_xyz": ["00000000"] * 3, "rigid_extend": ["40000000", "00000000", "00000000"]},
            "goal": [*IDENTITY, "40000000", "00000000", "00000000"],
            "swivel": {"parent": "start-joint", "angle": "00000000"},
            "zero_map": {"n0": ["00000000", "00000000", "3f800000"], "a0": ["3f800000", "00000000", "00000000"]},
        },
        "out": {"status": "success"},
        "expected": {"root": [1, 0, 0, 0, 1, 0, 0, 0, 1]},
        "tolerance": 1e-6,
    }


def check(tmp_path: Path, engine: Engine, *cases: Line, header: Line | None = None) -> VerifyReport:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in [header or HEADER, *cases]) + "\n", encoding="utf-8")
    return verify_files([path], engine)


def test_a_case_made_by_hand_passes(tmp_path: Path, engine: Engine) -> None:
    report = check(tmp_path, engine, straight_ahead())
    assert render(report).splitlines()[-1] == "1 passed, 0 failed"


def turned(case: Line) -> None:
    case["expected"]["root"] = [1, 0, 0, 0, 0.999999995, 1e-4, 0, -1e-4, 0.999999995]


def wrong_status(case: Line) -> None:
    case["out"]["status"] = "invalid-argument"


def missing_elbow(case: Line) -> None:
    case["expected"]["elbow"] = [1, 0, 0, 0, 1, 0, 0, 0, 1]


def output_nobody_gives(case: Line) -> None:
    case["out"]["colour"] = "00000000"


@pytest.mark.parametrize("spoil", [turned, wrong_status, missing_elbow, output_nobody_gives])
def test_a_wrong_case_fails(spoil: Callable[[Line], None], tmp_path: Path, engine: Engine) -> None:
    case = straight_ahead()
    spoil(case)
    report = check(tmp_path, engine, straight_ahead(), case)
    assert (report.passed, report.failed) == (1, 1)
    assert render(report).splitlines()[-1] == "1 passed, 1 failed"


@pytest.mark.shared
def test_a_single_flipped_bit_is_shown(tmp_path: Path, engine: Engine, shared: Path) -> None:
    path = shared / "vectors" / "kernel" / "limb.solve.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()][:6]
    word = int(lines[3]["out"]["rot_xyz"][1], 16)
    spoiled = copy.deepcopy(lines)
    spoiled[3]["out"]["rot_xyz"][1] = f"{word ^ 1:08x}"
    report = check(tmp_path, engine, *spoiled[1:], header=spoiled[0])
    (failure,) = report.files[0].failures
    assert (failure.case, failure.output, failure.distance) == (lines[3]["id"], "rot_xyz[1]", "1 ulp")
    assert f"{word ^ 1:08x}" in failure.expected
    assert f"{word:08x}" in failure.got


def item_case(given: Line, out: Line) -> Line:
    return {"id": "one", "in": given, "out": out}


def test_minus_zero_is_not_plus_zero(tmp_path: Path, engine: Engine) -> None:
    header = {**HEADER, "item": "point3.cross"}
    given = {"a": ["3f800000", "00000000", "00000000"], "b": ["3f800000", "00000000", "00000000"]}
    good = check(tmp_path, engine, item_case(given, {"v": ["00000000"] * 3}), header=header)
    bad = check(tmp_path, engine, item_case(given, {"v": ["00000000", "00000000", "80000000"]}), header=header)
    assert (good.passed, bad.failed) == (1, 1)
    assert bad.files[0].failures[0].distance == "the sign of zero"


def test_any_nan_equals_any_nan_and_no_number(tmp_path: Path, engine: Engine) -> None:
    header = {**HEADER, "item": "acos_safe"}
    good = check(tmp_path, engine, item_case({"x": "nan"}, {"y": "nan"}), header=header)
    bad = check(tmp_path, engine, item_case({"x": "nan"}, {"y": "00000000"}), header=header)
    assert (good.passed, bad.failed) == (1, 1)


def test_an_unknown_item_is_skipped_by_name(tmp_path: Path, engine: Engine) -> None:
    report = check(tmp_path, engine, item_case({}, {}), header={**HEADER, "item": "weather"})
    assert "1 of weather" in render(report)
    assert render(report).splitlines()[-1] == "0 passed, 0 failed"


def test_the_json_report_has_the_counts(tmp_path: Path, engine: Engine) -> None:
    told = json.loads(to_json(check(tmp_path, engine, straight_ahead())))
    assert told["format"] == "maxik-verify/1"
    assert (told["passed"], told["failed"], told["files"][0]["item"]) == (1, 0, "limb.solve")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a JSON object"),
        ('{"in": {}, "out": {}}', "'id'"),
        ('{"id": "a", "out": {}}', "'in'"),
    ],
)
def test_a_broken_line_is_named(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(f"{json.dumps(HEADER)}\n{json.dumps(straight_ahead())}\n{line}\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match=message) as caught:
        read_vectors(path)
    assert str(caught.value).startswith(f"{path}:3")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"goal": ["3F800000"] * 12}, "goal"),
        ({"goal": ["3f800000"] * 11}, "11 numbers where 12 belong"),
        ({"zero_map": {"n0": ["00000000"] * 3}}, "zero_map.a0"),
        ({"swivel": {"parent": "moon", "angle": "00000000"}}, "'moon'"),
        ({"link_count": "3"}, "link_count"),
    ],
)
def test_a_malformed_input_is_named_with_its_line(change: Line, message: str, tmp_path: Path, engine: Engine) -> None:
    case = straight_ahead()
    case["in"].update(change)
    with pytest.raises(FileFormatError, match=message) as caught:
        check(tmp_path, engine, case)
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is empty"), (b'{"format": "x"}\n', "header"), (json.dumps(HEADER).encode(), "no cases"), (b"\xff\xfe\n", "UTF-8")],
)
def test_a_file_that_is_no_vector_file(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=message):
        read_vectors(path)


def test_files_are_written_as_they_are_read(tmp_path: Path, engine: Engine) -> None:
    check(tmp_path, engine, straight_ahead())
    first = read_vectors(tmp_path / "cases.jsonl")
    write_vectors(tmp_path / "again.jsonl", first.header, first.cases)
    second = read_vectors(tmp_path / "again.jsonl")
    assert second.cases == first.cases
    assert second.header == first.header


def test_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = make_engine("model", PROFILES["candidate-1"])[0]
    check(tmp_path, engine, straight_ahead())
    path = str(tmp_path / "cases.jsonl")
    assert main(["verify", path, "--engine", "model", "--report", str(tmp_path / "r.json")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 0 failed"
    assert json.loads((tmp_path / "r.json").read_text())["passed"] == 1
    case = straight_ahead()
    wrong_status(case)
    check(tmp_path, engine, case)
    assert main(["verify", path, "--engine", "model"]) == 1
    assert main(["verify", str(tmp_path / "absent.jsonl")]) == 1
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [f"maxik: {tmp_path / 'absent.jsonl'}: cannot be read: No such file or directory"]
