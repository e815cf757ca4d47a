"""Discriminating inputs separate what they are said to, no fewer would do, and the hazards of spec 6 come out."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxik.characterise.discriminate import (
    ASKED,
    UNSEEN,
    Asked,
    Discrimination,
    discriminate,
    encoded,
    fewest,
    write_discrimination,
)
from maxik.characterise.inputs import RARE_DEGREES, RARE_QUOTIENTS, RARE_TURN, angles, inputs_for
from maxik.characterise.maxscript import can_ask, render_script
from maxik.characterise.maxscript_rig import check_apart
from maxik.characterise.trials import LimbTrial, SplineTrial
from maxik.characterise.workbench import Options, characterise
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


@settings(deadline=None)
@given(st.integers(2, 5).flatmap(lambda size: st.lists(st.tuples(*[st.integers(0, 2)] * size), min_size=1, max_size=7)))
def test_the_fewest_of_any_groupings(rows: list[tuple[int, ...]]) -> None:
    entries = [Asked({}, {f"c{place}": {"y": value} for place, value in enumerate(row)}) for row in rows]
    pairs = set(itertools.combinations(range(len(rows[0])), 2))
    reached = [{(a, b) for a, b in pairs if row[a] != row[b]} for row in rows]
    everything = set().union(*reached)
    chosen = fewest(entries, {(f"c{a}", f"c{b}") for a, b in everything})
    smallest = next(
        size
        for size in range(len(rows) + 1)
        if any(set().union(*parts) == everything for parts in itertools.combinations(reached, size))
    )
    assert set().union(*(reached[entries.index(entry)] for entry in chosen)) == everything
    assert len(chosen) == smallest or smallest > 3


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


SCRIPTED = [item for item, environment in ASKABLE if environment == "sse-32" and can_ask(item)]
RESERVED = frozenset(
    re.findall(
        r"\w+",
        "about and animate as at attributes by case catch collect continue coordsys do else exit fn for from function global "
        "if in local macroscript mapped max not of off on or parameters persistent plugin rcmenu return rollout set struct "
        "then throw to tool try undo utility when where while with",
    )
)
"""Reserved words of MAXScript, from its public help."""


def code_of(script: str) -> str:
    """Return a script without comments and texts."""
    return "\n".join(line for line in re.sub(r'"(\\.|[^"\\])*"', '""', script).splitlines() if not line.startswith("--"))


@pytest.mark.parametrize("item", SCRIPTED)
def test_the_script_hands_over_every_bit(item: str, found: dict[tuple[str, str], Discrimination]) -> None:
    result = found[item, "sse-32"]
    script = render_script(result)
    assert "NOT BEEN RUN INSIDE 3ds Max" in script.splitlines()[1]
    code = code_of(script)
    assert code.count("(") == code.count(")")
    assert code.count("[") == code.count("]")
    given_ = set(map(int, re.findall(r"\((-?\d+)\)", code)))
    given_ |= {-(2**31)} if "(-2147483647 - 1)" in code else set()
    assert all(-(2**31) <= number < 2**31 for number in given_)
    for entry in result.inputs:
        by_bits = ("m", "v", "a", "b", "q", "spline", "u")
        wanted: dict[str, Any] = {name: value for name, value in entry.operands.items() if name in by_bits}
        if "root" in entry.operands:
            wanted = {"extends": [entry.operands[link]["rigid_extend"] for link in ("root", "links")]}
            wanted["goal"] = entry.operands["goal"][9:]
        bits = [to_bits(x) for x in flat(wanted)]
        assert {word - 2**32 if word >= 2**31 else word for word in bits} <= given_
        assert all(to_hex(x) in script for x in flat(dict(entry.operands)))


@pytest.mark.parametrize("item", SCRIPTED)
def test_the_names_in_a_script_are_not_reserved(item: str, found: dict[tuple[str, str], Discrimination]) -> None:
    code = code_of(render_script(found[item, "sse-32"]))
    names = re.findall(r"\blocal (\w+)", code) + [
        name for line in re.findall(r"\bfn ([\w ]+?) =", code) for name in line.split()
    ]
    assert names
    assert not RESERVED & {name.lower() for name in names}


@pytest.mark.parametrize("item", ["matrix3.pre_rotate", "quat.from_ang_axis"])
def test_the_degrees_of_a_script_are_the_radians_of_its_cases(item: str, found: dict[tuple[str, str], Discrimination]) -> None:
    result = found[item, "x87-53"]
    asked = re.findall(r"(?:preRotate[XYZ] m|angleaxis) \((-?[\d.]+)\)", render_script(result))
    assert len(asked) == len(result.inputs)
    for degrees, entry in zip(map(float, asked), result.inputs, strict=True):
        assert degrees == f32(degrees)
        assert entry.operands["angle"] == f32(math.radians(degrees)) == float(np.float32(degrees) * np.float32(math.pi / 180.0))


def written(script: str, values: list[str]) -> str:
    """Return what the script's format lines write, with `values` for the expressions that 3ds Max would evaluate."""
    left = iter(values)
    out = ""
    for form, line in re.findall(r'^ *format ("(?:\\.|[^"\\])*") (.*) to:vectors$', script, re.MULTILINE):
        arguments, given_ = line, []
        while arguments:
            literal = re.match(r'"(?:\\.|[^"\\])*"', arguments)
            end = literal.end() if literal else closing(arguments) if arguments[0] == "(" else len(arguments)
            part, arguments = arguments[:end], arguments[end:].lstrip()
            given_.append(json.loads(part) if literal else next(left) if part[0] == "(" else "18.0, x64")
        pieces = json.loads(form).split("%")
        assert len(pieces) == len(given_) + 1
        out += pieces[0] + "".join(value + piece for value, piece in zip(given_, pieces[1:], strict=True))
    assert next(left, None) is None
    return out


def closing(text: str) -> int:
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place + 1
    raise AssertionError(text)


@pytest.mark.parametrize("item", SCRIPTED)
def test_what_the_script_writes_tells_the_candidate(
    item: str, found: dict[tuple[str, str], Discrimination], tmp_path: Path
) -> None:
    result = found[item, "sse-32"]
    apart = [name for name in result.candidates[1:] if all(name not in pair for pair in result.alike)]
    for truth in (result.candidates[0], apart[-1]):
        values = []
        for entry in result.inputs:
            outputs = entry.outputs[truth]
            if "rot_xyz" in outputs:
                angles_ = (outputs["rot_xyz"], outputs["dof_zyx"][::-1])
                values += [repr(euler_xyz_matrix(list(map(from_hex, words))).reshape(9).tolist()) for words in angles_]
            else:
                values.append(json.dumps(next(iter(outputs.values()))))
        path = tmp_path / f"{truth}.jsonl"
        path.write_text(written(render_script(result), values), encoding="utf-8")
        start = CoreProfile().with_candidate(
            "matrix3.multiply", "skip-identity" if item == "matrix3.validate_flags" else "full"
        )
        answer = characterise([str(path)], Options(items=(item,), environments=("sse-32",), start=start))
        (told,) = answer.items
        assert told.survivors == (truth,)
        assert answer.pins


def test_a_pose_too_near_its_rival_is_no_rig(found: dict[tuple[str, str], Discrimination]) -> None:
    result = found["ik.link_matrix", "x87-53"]
    with pytest.raises(UsageError, match="too little"):
        check_apart(result.item, result.inputs[0].outputs)


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
