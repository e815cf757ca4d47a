"""Discriminating inputs separate what they are said to, no fewer would do, and the hazards of spec 6 come out."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxik.characterise.discriminate import ASKED, UNSEEN, Discrimination, discriminate, encoded, write_discrimination
from maxik.characterise.inputs import RARE_DEGREES, RARE_QUOTIENTS, RARE_TURN, angles, inputs_for
from maxik.characterise.maxscript import can_ask, render_script
from maxik.characterise.trials import LimbTrial, SplineTrial
from maxik.cli import main
from maxik.errors import UsageError
from maxik.model.engine import ModelEngine
from maxik.model.trig import fsincos, sin_cos
from maxik.numerics.float32 import FLT_EPSILON, f32, from_hex, to_bits, to_hex
from maxik.profile import ENVIRONMENT_IDS, ITEMS, CoreProfile, candidates_in
from maxik.vectors import LIMB_SOLVE, SPLINE_SOLVE, Case, VectorFile, encode, limb_problem, read_vectors, spline_problem
from maxik.verify import verify_files
from maxik.verify.rotations import euler_xyz_matrix, turn_between

ASKABLE = [
    (item, environment)
    for item in ITEMS
    for environment in ENVIRONMENT_IDS
    if item not in UNSEEN and len(candidates_in(item, environment)) > 1
]
FEW = 150
"""Inputs tried in tests of many items."""


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, str], Discrimination]:
    few = {"spline.parameter": 20, "spline.zero_map": 3}
    return {key: discriminate(*key, tried=few.get(key[0], 400 if key[0] not in ASKED else 120)) for key in ASKABLE}


def output(item: str, candidate: str, environment: str, operands: dict[str, object]) -> str:
    """Return the output bits of a candidate, apart from discriminate.py; a solve as characterise judges it."""
    profile = CoreProfile("candidate-1", environment).with_candidate(item, candidate)
    if item == "matrix3.validate_flags":
        profile = profile.with_candidate("matrix3.multiply", "skip-identity")
    engine, asked = ModelEngine(profile), ASKED.get(item, item)
    case = Case("", {name: encoded(value) for name, value in operands.items()}, {}, 0, {})
    if asked == LIMB_SOLVE:
        return repr(LimbTrial("", limb_problem(VectorFile("", asked, {}, ()), case), derive_plane=True).judge(engine).words)
    if asked == SPLINE_SOLVE:
        return repr(SplineTrial("", spline_problem(VectorFile("", asked, {}, ()), case), derive_plane=True).judge(engine).words)
    got = engine.items[asked](**operands)
    return repr(
        {name: encode(tuple(map(float, value)) if isinstance(value, (list, tuple)) else value) for name, value in got.items()}
    )


@pytest.mark.parametrize("key", ASKABLE)
def test_the_inputs_separate_all_pairs_but_those_named(
    key: tuple[str, str], found: dict[tuple[str, str], Discrimination]
) -> None:
    result = found[key]
    for pair in itertools.combinations(result.candidates, 2):
        separated = any(
            len({output(key[0], candidate, key[1], dict(entry.operands)) for candidate in pair}) > 1 for entry in result.inputs
        )
        assert separated == (pair not in result.alike)


def test_nothing_is_left_together_but_one_function_under_two_names(found: dict[tuple[str, str], Discrimination]) -> None:
    alike = {(*key, *pair) for key, result in found.items() for pair in result.alike}
    assert alike == {
        (f"point3.{name}", "sse-32", f"length-{how}", f"flength-{how}")
        for name in ("normalize", "unify", "length_unify")
        for how in ("divide", "reciprocal")
    }


@pytest.mark.parametrize("key", [("point3.normalize", "x87-53"), ("matrix3.invert", "sse-32"), ("matrix3.to_euler", "sse-32")])
def test_no_fewer_inputs_would_do(key: tuple[str, str]) -> None:
    item, environment = key
    result = discriminate(item, environment, tried=FEW)
    pool = [*itertools.islice(inputs_for(item), FEW)]
    pool += [{"v": v} for v in RARE_QUOTIENTS] if item == "point3.normalize" else []
    candidates = candidates_in(item, environment)
    words = [[output(item, candidate, environment, operands) for candidate in candidates] for operands in pool]
    separable = {(a, b) for a, b in itertools.combinations(range(len(candidates)), 2) if any(row[a] != row[b] for row in words)}
    for fewer in range(len(result.inputs)):
        for rows in itertools.combinations(words, fewer):
            assert any(all(row[a] == row[b] for row in rows) for a, b in separable)
    names = {(candidates[a], candidates[b]) for a, b in separable}
    assert names == set(itertools.combinations(candidates, 2)) - set(result.alike)


# --- the hazards of spec 6 ---------------------------------------------------------------------------------------------


def widest(result: Discrimination, candidate: str) -> dict[str, object]:
    return dict(next(entry.asked.operands for entry in result.widest if entry.candidate == candidate))


def test_near_gimbal(found: dict[tuple[str, str], Discrimination]) -> None:
    m = widest(found["matrix3.to_euler", "x87-53"], "asin")["m"]
    assert isinstance(m, tuple)
    assert math.hypot(m[0], m[1]) < 1e-3
    assert found["matrix3.to_euler", "x87-53"].widest


def test_cy_on_both_sides_of_the_gimbal_threshold() -> None:
    cys = [math.hypot(*operands["m"][:2]) for operands in itertools.islice(inputs_for("matrix3.to_euler"), FEW)]
    threshold = 16 * FLT_EPSILON
    assert any(0.5 * threshold < cy <= threshold for cy in cys)
    assert any(threshold < cy < 2 * threshold for cy in cys)


def test_zero_length(found: dict[tuple[str, str], Discrimination]) -> None:
    for environment in ENVIRONMENT_IDS:
        for entry in found["point3.zero_length", environment].inputs:
            assert not any(entry.operands["v"])


def test_a_square_that_underflows_is_among_the_inputs() -> None:
    smallest = min(
        sum(f32(x * x) for x in operands["v"]) + (not any(operands["v"]))
        for operands in itertools.islice(inputs_for("point3.zero_length"), 6)
    )
    assert smallest == 0.0


def test_identity_beside_an_ulp(found: dict[tuple[str, str], Discrimination]) -> None:
    identity = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    for environment in ENVIRONMENT_IDS:
        (entry,) = found["matrix3.validate_flags", environment].inputs
        near = [m for m in (entry.operands["a"], entry.operands["b"]) if m != identity and np.allclose(m, identity, atol=2e-7)]
        assert near


def test_a_sum_that_straddles_a_rounding_boundary(found: dict[tuple[str, str], Discrimination]) -> None:
    v = found["point3.normalize", "x87-53"].inputs[0].operands["v"]
    exact = sum(x * x for x in v)
    assert f32(math.sqrt(exact)) != f32(math.sqrt(f32(exact)))


@pytest.mark.parametrize("v", RARE_QUOTIENTS)
def test_a_reciprocal_in_binary64_rounds_to_another_float(v: tuple[float, float, float]) -> None:
    r = math.sqrt(sum(x * x for x in v))
    assert any(f32(x / r) != f32(x * (1.0 / r)) for x in v)


def test_a_sign_of_zero_tells_an_identity_that_is_skipped(found: dict[tuple[str, str], Discrimination]) -> None:
    (entry,) = found["matrix3.multiply", "x87-53"].inputs
    full, skipped = (next(iter(entry.outputs[name].values())) for name in ("full", "skip-identity"))
    assert [from_hex(a) for a in full] == [from_hex(b) for b in skipped]
    assert full != skipped


@pytest.mark.parametrize("turn", [RARE_TURN, -RARE_TURN, math.radians(RARE_DEGREES)])
def test_the_hard_angles_lie_beside_a_midpoint(turn: float) -> None:
    turn = f32(turn)
    assert fsincos(turn) != sin_cos(turn)
    sine = math.sin(turn)
    middles = [(f32(sine) + float(np.nextafter(np.float32(sine), np.float32(to)))) / 2.0 for to in (-2.0, 2.0)]
    assert min(abs(sine - middle) for middle in middles) < 32.0 * math.ulp(sine)  # of the 2^29 between two floats


def test_the_runtime_was_measured_at_the_hard_angle(shared: Path) -> None:
    file = read_vectors(shared / "vectors" / "crt" / "ambiguous_sin.jsonl")
    measured = {case.given["x"]: case.expected["y"] for case in file.cases}
    assert measured[to_hex(RARE_TURN)] == to_hex(sin_cos(RARE_TURN)[0]) != to_hex(fsincos(RARE_TURN)[0])


def test_hard_angles_separate_nothing_but_what_is_left(found: dict[tuple[str, str], Discrimination]) -> None:
    for item in ("matrix3.pre_rotate", "matrix3.rot_angle_axis"):
        nice, hard = found[item, "x87-53"].inputs
        assert abs(nice.operands["angle"]) < 4.0
        assert abs(hard.operands["angle"]) > 1e3
        together = [group for group in nice.groups if len(group) > 1]
        assert together == [(candidates_in(item, "x87-53")[0], "x87-fsincos")]


def test_terms_that_cancel_show_their_order(found: dict[tuple[str, str], Discrimination]) -> None:
    (entry,) = found["quat.product", "x87-53"].inputs
    *vector, w = (a * b for a, b in zip(entry.operands["a"], entry.operands["b"], strict=True))
    largest = max(abs(term) for term in (*vector, w))
    assert abs(w - sum(vector)) < 1e-7 * largest
    assert 0.0 < min(abs(term) for term in vector if term) < FLT_EPSILON**2 * largest


def test_a_plane_shows_as_a_turn_that_rounded_data_show(found: dict[tuple[str, str], Discrimination]) -> None:
    for environment in ENVIRONMENT_IDS:
        (entry,) = found["ik.initial_plane", environment].inputs
        turns = [
            turn_between(*(euler_xyz_matrix(list(map(from_hex, output["rot_xyz"]))) for output in entry.outputs.values())),
        ]
        assert min(turns) > 0.05
        assert any(entry.operands["root"]["init_xyz"])


def test_angles_are_the_same_by_either_conversion() -> None:
    assert len(angles()) > 5
    for degrees, radians in angles():
        assert radians == f32(math.radians(degrees)) == float(np.float32(degrees) * np.float32(math.pi / 180.0))


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted({ASKED.get(item, item) for item, _ in ASKABLE})), st.integers(1, 40))
def test_inputs_are_float32_and_come_again_in_the_same_order(asked: str, count: int) -> None:
    first, second = (list(itertools.islice(inputs_for(asked), count)) for _ in range(2))
    assert repr(first) == repr(second)
    assert all(x == f32(x) for operands in first for x in flat(list(operands.values())))


def flat(value: object) -> list[float]:
    if isinstance(value, dict):
        return flat(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [x for entry in value for x in flat(entry)]
    return [value] if isinstance(value, float) else []


# --- files and scripts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("environment", ENVIRONMENT_IDS)
def test_the_vector_file_is_read_and_verified(environment: str, tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    assert main(["discriminate", "matrix3.rot_angle_axis", "--environment", environment, "-o", str(path)]) == 0
    file = read_vectors(path)
    assert file.header["provenance"]["kind"] == "analytic"
    assert all(
        set(case.extra["candidates"]) == set(candidates_in("matrix3.rot_angle_axis", environment)) for case in file.cases
    )
    report = verify_files([path], ModelEngine(CoreProfile("candidate-1", environment)))
    assert (report.passed, report.failed) == (len(file.cases), 0)


@pytest.mark.parametrize(
    "item", [item for item, environment in ASKABLE if environment == "sse-32" and can_ask(ASKED.get(item, item))]
)
def test_the_script_hands_over_every_bit(item: str, found: dict[tuple[str, str], Discrimination]) -> None:
    result = found[item, "sse-32"]
    script = render_script(result)
    assert "NOT BEEN RUN INSIDE 3ds Max" in script
    code = "\n".join(line for line in re.sub(r'"(\\.|[^"\\])*"', '""', script).splitlines() if not line.startswith("--"))
    assert code.count("(") == code.count(")")
    given_ = set(map(int, re.findall(r"\((-?\d+)\)", code)))
    for entry in result.inputs:
        wanted = {name: value for name, value in entry.operands.items() if name not in ("angle", "type")}
        bits = [to_bits(x) for x in flat(wanted)]
        assert {word - 2**32 if word >= 2**31 else word for word in bits} <= given_


def test_what_the_script_writes_can_be_characterised(tmp_path: Path, found: dict[tuple[str, str], Discrimination]) -> None:
    script = render_script(found["matrix3.invert", "sse-32"])
    texts = [json.loads(f'"{text}"') for text in re.findall(r'"((?:\\.|[^"\\])*)"', script)]
    start = next(text for text in texts if text.startswith('{"format"'))
    end = texts[texts.index(start) + 3]
    case = next(text for text in texts if text.startswith('{"id"'))
    words = ", ".join(['"00000000"'] * 12)
    path = tmp_path / "v.jsonl"
    path.write_text(f"{start}12.0{end}\n{case}[{words}]}}}}\n", encoding="utf-8")
    file = read_vectors(path)
    assert (file.item, file.header["provenance"]["kind"]) == ("matrix3.invert", "max-export")
    assert len(file.cases) == 1


def test_a_function_that_maxscript_lacks_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.ms"
    assert main(["discriminate", "ik.zero_map", "--script", str(path)]) == 2
    assert "plug-in" in capsys.readouterr().err
    assert not path.exists()


@pytest.mark.parametrize("item", ["no.item", "point3.cross", *UNSEEN])
def test_what_cannot_be_discriminated_is_a_usage_error(item: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["discriminate", item]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("item", ["ik.initial_plane", "ik.link_matrix", "spline.zero_map"])
def test_a_whole_solve_is_written_and_verified(item: str, tmp_path: Path, found: dict[tuple[str, str], Discrimination]) -> None:
    path = tmp_path / "v.jsonl"
    write_discrimination(path, found[item, "x87-53"])
    assert read_vectors(path).item == ASKED[item]
    report = verify_files([path], ModelEngine(CoreProfile()))
    assert (report.passed, report.failed, report.skipped) == (len(found[item, "x87-53"].inputs), 0, 0)


def test_what_maxscript_cannot_ask_is_still_written(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    assert main(["discriminate", "ik.zero_map", "-o", str(path), "--script", str(tmp_path / "x.ms")]) == 2
    assert read_vectors(path).item == "ik.zero_map"


def test_an_item_with_one_candidate_in_the_environment_has_nothing_to_discriminate() -> None:
    with pytest.raises(UsageError, match="one candidate in sse-32"):
        discriminate("quat.from_ang_axis", "sse-32")


def test_json_is_versioned(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["discriminate", "point3.zero_length", "--json"]) == 0
    got = json.loads(capsys.readouterr().out)
    assert got["format"] == "maxik-discriminate/1"
    assert got["candidates"] == list(ITEMS["point3.zero_length"])
    assert got["not_separated"] == []


def test_text_names_what_is_not_separated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["discriminate", "point3.unify", "--environment", "sse-32"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"not separated by \d+ inputs: length-divide and flength-divide", text)
    assert "not separated by 0" not in text
