"""The workbench finds the profile that made some vectors, refutes what they refute, and says when they cannot tell."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxik.characterise.closure import closure, seeded_limbs
from maxik.characterise.exporter import exported_degrees
from maxik.characterise.noise import STEP, NoisePose, histogram, noise_poses, noise_test, predicted, steps_of
from maxik.characterise.report import CLOSURE_FORMAT, JSON_FORMAT
from maxik.characterise.tally import Tally, best_of, better, why_refuted
from maxik.characterise.trials import LimbTrial, load_trials
from maxik.characterise.workbench import (
    ABSENT,
    BEST,
    CANNOT_TELL,
    FITS,
    FITS_WITH_OTHERS,
    GIVEN_THE_REST,
    NO_OTHER,
    NOT_SEEN,
    REFUTED,
    SAME,
    SINGLED_OUT,
    Characterisation,
    ItemResult,
    Options,
    characterise,
)
from maxik.cli import main
from maxik.engines import make_engine
from maxik.errors import FileFormatError, UsageError
from maxik.model.engine import ModelEngine
from maxik.numerics.float32 import f32, from_hex
from maxik.problems import LimbProblem
from maxik.profile import ITEMS, PROFILES, CoreProfile
from maxik.vectors import Case, encode, limb_problem, read_vectors, write_vectors
from maxik.verify.rotations import euler_xyz_matrix

X64 = PROFILES["max-2016-x64"]
EXPORTS = "vectors/max-export"


def item(result: Characterisation, name: str) -> ItemResult:
    return next(entry for entry in result.items if entry.item == name)


def verdicts(result: Characterisation, name: str) -> dict[str, str]:
    return {entry.candidate: entry.verdict for entry in item(result, name).candidates}


def exports(shared: Path, *patterns: str) -> list[Path]:
    files = [path for pattern in patterns for path in sorted((shared / EXPORTS).glob(pattern))]
    assert files
    return files


def header(name: str, kind: str) -> dict[str, Any]:
    provenance = {"kind": kind, "source": "a test"}
    return {"format": "maxik-vectors/1", "item": name, "profile": None, "provenance": provenance}


def write_items(path: Path, name: str, profile: CoreProfile, inputs: Sequence[dict[str, Any]], kind: str = "kernel") -> Path:
    """Write what `profile` gives for an item as a vector file."""
    engine = ModelEngine(profile)
    cases = []
    for place, given_ in enumerate(inputs):
        got: dict[str, Any] = dict(engine.items[name](**given_))
        operands = {key: encode(value) for key, value in given_.items()}
        cases.append(Case(f"{place}", operands, {key: encode(value) for key, value in got.items()}, 0))
    write_vectors(path, header(name, kind), cases)
    return path


def write_limbs(path: Path, profile: CoreProfile, problems: Sequence[LimbProblem], kind: str = "kernel") -> Path:
    """Write what `profile` solves as a vector file."""
    engine = ModelEngine(profile)
    cases = []
    for place, problem in enumerate(problems):
        solution = engine.solve_limb(problem)
        given_ = {
            "link_count": 3,
            "root": {"init_xyz": encode(problem.root_init_xyz), "rigid_extend": encode(problem.root_extend)},
            "links": {"init_zyx": encode(problem.links_init_zyx), "rigid_extend": encode(problem.links_extend)},
            "goal": encode(problem.goal),
            "swivel": {"parent": problem.swivel_parent, "angle": encode(problem.swivel_angle)},
            "zero_map": {"n0": encode(problem.n0), "a0": encode(problem.a0)},
        }
        out = {"status": solution.status, "rot_xyz": encode(solution.rot_xyz), "dof_zyx": encode(solution.dof_zyx)}
        cases.append(Case(f"{place}", given_, out, 0))
    header = {
        "format": "maxik-vectors/1",
        "item": "limb.solve",
        "profile": None,
        "provenance": {"kind": kind, "source": "a test"},
    }
    write_vectors(path, header, cases)
    return path


def planar_limbs(count: int) -> list[LimbProblem]:
    """Return the limbs of closure, each with the plane of its own preferred pose."""
    engine = ModelEngine()
    limbs = []
    for problem in seeded_limbs(count):
        pose = (problem.root_init_xyz, problem.root_extend, problem.links_init_zyx, problem.links_extend)
        n0, a0 = engine.initial_plane(3, *(np.array([part], np.float32) for part in pose))
        limbs.append(replace(problem, n0=tuple(n0[0].tolist()), a0=tuple(a0[0].tolist())))
    return limbs


def random_vectors(count: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(1)
    return [{"v": tuple(f32(x) for x in row)} for row in random.normal(size=(count, 3)) * 10.0]


# --- the candidate that made some vectors is found again -------------------------------------------------------------


@pytest.mark.parametrize("candidate", ITEMS["point3.normalize"])
@pytest.mark.parametrize("environment", ["x87-53", "sse-32"])
def test_the_candidate_that_made_the_vectors_survives(candidate: str, environment: str, tmp_path: Path) -> None:
    profile = CoreProfile("candidate-1", environment).with_candidate("point3.normalize", candidate)
    path = write_items(tmp_path / "v.jsonl", "point3.normalize", profile, random_vectors(60))
    result = characterise([path], Options(environments=(environment,)))
    assert candidate in item(result, "point3.normalize").survivors
    assert result.best.right == result.best.compared == 180
    kept = candidate.rsplit("-", maxsplit=1)[-1]
    others = [name for name in item(result, "point3.normalize").survivors if "binary64" not in name]
    assert all(name.endswith(kept) for name in others)


def test_a_combination_of_candidates_is_found(tmp_path: Path) -> None:
    made_by = X64.with_candidate("matrix3.invert", "transpose").with_candidate("matrix3.to_euler", "via-quat")
    made_by = made_by.with_candidate("point3.normalize", "length-reciprocal")
    path = write_limbs(tmp_path / "v.jsonl", made_by, planar_limbs(6))
    result = characterise([path])
    assert result.best.right == result.best.compared == 36
    assert verdicts(result, "environment") == {"x87-53": REFUTED, "sse-32": BEST}
    for name in ("matrix3.invert", "matrix3.to_euler", "point3.normalize"):
        assert made_by[name] in item(result, name).survivors
        assert ITEMS[name][0] not in item(result, name).survivors


def test_vectors_of_an_implementation_pin_nothing(tmp_path: Path) -> None:
    inputs = random_vectors(20)
    made = write_items(tmp_path / "a.jsonl", "point3.normalize", X64, inputs)
    exported = write_items(tmp_path / "b.jsonl", "point3.normalize", X64, inputs, kind="max-export")
    assert not characterise([made]).pins
    assert characterise([exported]).pins
    assert not characterise([made, exported]).pins


def test_items_that_the_vectors_do_not_consult_are_not_tried(tmp_path: Path) -> None:
    path = write_items(tmp_path / "v.jsonl", "point3.normalize", X64, random_vectors(5))
    assert {entry.item for entry in characterise([path], Options(environments=("sse-32",))).items} == {"point3.normalize"}


def test_a_candidate_that_consults_other_items_brings_them_in(tmp_path: Path) -> None:
    inputs = [{"axis": (0.6, 0.0, 0.8), "angle": f32(0.3)}]
    path = write_items(tmp_path / "v.jsonl", "matrix3.rot_angle_axis", CoreProfile(), inputs)
    tried = {entry.item for entry in characterise([path], Options(environments=("x87-53",))).items}
    assert {"quat.from_ang_axis", "quat.make_matrix"} <= tried


def test_the_x87_is_absent_from_64_bit_releases(tmp_path: Path) -> None:
    inputs = [{"axis": (0.6, 0.0, 0.8), "angle": f32(0.3)}]
    path = write_items(tmp_path / "v.jsonl", "matrix3.rot_angle_axis", X64, inputs)
    result = characterise([path], Options(environments=("sse-32",), items=("matrix3.rot_angle_axis", "quat.from_ang_axis")))
    assert verdicts(result, "matrix3.rot_angle_axis").get("x87-fsincos", ABSENT) == ABSENT
    assert all(entry.verdict != NO_OTHER or entry.item == "quat.from_ang_axis" for entry in result.items)


def test_candidates_that_change_no_bit_are_not_seen(tmp_path: Path) -> None:
    path = write_limbs(tmp_path / "v.jsonl", CoreProfile(), planar_limbs(2))
    result = characterise([path], Options(environments=("x87-53",), items=("matrix3.validate_flags", "matrix3.multiply")))
    assert {entry.verdict for entry in result.items} == {NOT_SEEN}
    assert set(verdicts(result, "matrix3.multiply").values()) == {BEST, SAME}


def test_repeated_cases_count_once(tmp_path: Path) -> None:
    inputs = random_vectors(7)
    path = write_items(tmp_path / "v.jsonl", "point3.normalize", CoreProfile(), [*inputs, *inputs])
    result = characterise([path], Options(environments=("x87-53",)))
    assert (result.cases, result.trials) == (14, 7)


def test_a_run_is_repeatable(tmp_path: Path) -> None:
    path = write_limbs(tmp_path / "v.jsonl", X64.with_candidate("matrix3.invert", "binary64"), planar_limbs(3))
    options = Options(items=("matrix3.invert", "matrix3.to_euler", "point3.normalize"))
    assert characterise([path], options) == characterise([path], options)


# --- exports of 3ds Max ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bone_1(shared: Path) -> Characterisation:
    return characterise(exports(shared, "limb0-*.jsonl"))


@pytest.mark.shared
def test_the_profile_max_2016_x64_gives_every_exported_angle(bone_1: Characterisation) -> None:
    assert bone_1.pins
    assert bone_1.best.profile == "candidate-1,environment=sse-32"
    assert bone_1.best.right == bone_1.best.compared >= 12
    assert bone_1.best.exceeded == 0
    assert item(bone_1, "environment").verdict == SINGLED_OUT


@pytest.mark.shared
def test_exported_angles_single_out_the_normaliser_but_for_a_reciprocal_in_binary64(bone_1: Characterisation) -> None:
    assert item(bone_1, "point3.normalize").survivors == ("binary64-divide", "binary64-reciprocal")
    assert verdicts(bone_1, "point3.normalize")["binary64-reciprocal"] == SAME


@pytest.mark.shared
def test_exported_angles_single_out_the_zero_length(bone_1: Characterisation) -> None:
    assert (item(bone_1, "point3.zero_length").verdict, item(bone_1, "point3.zero_length").survivors) == (
        SINGLED_OUT,
        ("unit_x",),
    )


@pytest.mark.shared
def test_exported_angles_single_out_rodrigues_while_the_inverse_stands(bone_1: Characterisation) -> None:
    found = verdicts(bone_1, "matrix3.rot_angle_axis")
    assert found["rodrigues"] == BEST
    assert found["quaternion"] == REFUTED
    assert found["half-angle"] in (REFUTED, FITS_WITH_OTHERS)
    assert item(bone_1, "matrix3.rot_angle_axis").verdict in (SINGLED_OUT, GIVEN_THE_REST)


@pytest.mark.shared
def test_exported_angles_refute_other_decompositions(bone_1: Characterisation) -> None:
    found = verdicts(bone_1, "matrix3.to_euler")
    assert (found["shoemake"], found["asin"], found["via-quat"]) == (BEST, REFUTED, REFUTED)
    assert found["shoemake-binary64"] in (FITS, SAME, REFUTED)


@pytest.mark.shared
def test_exported_angles_cannot_tell_what_limb_md_says_they_cannot(bone_1: Characterisation) -> None:
    for name in ("matrix3.invert", "ik.zero_map"):
        assert item(bone_1, name).verdict == CANNOT_TELL
        assert item(bone_1, name).survivors == ITEMS[name]
    assert item(bone_1, "point3.length_unify").verdict == CANNOT_TELL
    assert verdicts(bone_1, "point3.length_unify")["flength-reciprocal"] == REFUTED


@pytest.mark.shared
@pytest.mark.parametrize("engine_name", ["kernel", "model"])
def test_kernel_and_model_give_the_exported_angles(engine_name: str, shared: Path) -> None:
    engine, _ = make_engine(engine_name, X64)
    seen = set()
    for path in exports(shared, "limb0-*.jsonl"):
        file = read_vectors(path)
        for case in file.cases:
            if not case.extra.get("exact_inputs"):
                continue
            solution = engine.solve_limb(limb_problem(file, case))
            node_tm = engine.euler_matrix(np.array([solution.rot_xyz], np.float32))[0]
            exported = tuple(case.extra["export_deg"]["root"])
            assert exported_degrees(X64, node_tm) == exported
            seen.add(exported)
    assert len(seen) >= 4


def test_the_exporter_writes_degrees_of_the_angles() -> None:
    angles = (0.3, -1.1, 2.0)
    node_tm = np.zeros((4, 3), np.float32)
    node_tm[:3] = euler_xyz_matrix(angles)
    assert [from_hex(word) for word in exported_degrees(X64, node_tm)] == pytest.approx(np.degrees(angles), rel=1e-6)


@pytest.mark.shared
def test_the_plane_of_the_preferred_pose_is_singled_out(shared: Path) -> None:
    result = characterise(exports(shared, "hi2-idle.a*", "hi2-spawn.a*"), Options(items=("ik.initial_plane",)))
    assert item(result, "ik.initial_plane").survivors == ("preferred-pose",)
    assert item(result, "environment").verdict == CANNOT_TELL


@pytest.mark.shared
def test_a_pose_that_was_fitted_proves_nothing_about_the_plane(shared: Path) -> None:
    loaded = load_trials(exports(shared, "limb3-walk*.jsonl"), ModelEngine(X64))
    assert not any(trial.derive_plane for trial in loaded.trials if isinstance(trial, LimbTrial))
    assert loaded.environment == "sse-32"


@pytest.mark.shared
def test_other_hi_poses_are_left_out_by_name(shared: Path) -> None:
    path = exports(shared, "hi2-walk-multi-axis*.jsonl")
    result = characterise(path, Options(items=()))
    assert set(result.left_out) == {"hi.solve"}
    assert result.items == ()


# --- noise -------------------------------------------------------------------------------------------------------------


@pytest.mark.shared
def test_noise_speaks_for_the_unrounded_length(shared: Path) -> None:
    result = noise_test(exports(shared, "limb3-walk*.jsonl"), ("sse-32",))
    assert result is not None
    likelihood = {row.candidate: row.log_likelihood for row in result.rows}
    assert result.rows[0].candidate == "binary64-divide"
    assert likelihood["binary64-divide"] - likelihood["length-divide"] > 5.0
    assert likelihood["length-divide"] - likelihood["length-reciprocal"] > 10.0
    assert likelihood["binary64-reciprocal"] == likelihood["binary64-divide"]
    assert sum(result.seen) == result.poses > 200


@pytest.mark.shared
def test_kernel_and_model_predict_the_same_noise(shared: Path) -> None:
    poses = [pose for path in exports(shared, "limb3-walk*.jsonl") for pose in noise_poses(read_vectors(path))][:60]
    kernel, model = (make_engine(name, X64)[0] for name in ("kernel", "model"))
    assert predicted(kernel, poses, jitters=2) == predicted(model, poses, jitters=2)


@pytest.mark.shared
def test_noise_is_a_whole_number_of_steps(shared: Path) -> None:
    poses = [pose for path in exports(shared, "limb3-walk*.jsonl") for pose in noise_poses(read_vectors(path))]
    engine, _ = make_engine("kernel", X64)
    for pose in poses:
        rows = euler_xyz_matrix(engine.solve_limb(pose.problem).rot_xyz or (np.nan,) * 3)
        turn = 2.0 * np.arcsin(np.linalg.norm(rows - pose.noise_free) / np.sqrt(8.0))
        assert abs(turn - np.sqrt(steps_of(engine, pose)) * STEP) < 2e-5
    assert pytest.approx(3.45267e-4, rel=1e-5) == STEP


def test_histogram_gathers_large_numbers() -> None:
    assert histogram([0, 0, 1, 3, 7]) == (2, 1, 0, 2)


def test_files_without_noise_give_no_test(tmp_path: Path) -> None:
    path = write_limbs(tmp_path / "v.jsonl", CoreProfile(), planar_limbs(1))
    assert noise_test([path], ("x87-53",)) is None
    assert isinstance(NoisePose(planar_limbs(1)[0], np.eye(3), 0).problem, LimbProblem)


# --- closure -----------------------------------------------------------------------------------------------------------


def test_one_combination_of_conventions_closes_and_it_is_the_shipped_one() -> None:
    rows = closure()
    (closing,) = [row for row in rows if row.closes]
    assert rows[0] is closing
    assert (closing.turn, closing.euler, closing.order, closing.normal) == ("right-handed", "M", "Rx Ry Rz", "+")
    assert closing.product == ITEMS["quat.product"][0]
    assert closing.plane_pose == ITEMS["ik.initial_plane"][0]
    assert closing.miss < 2e-6
    assert all(row.miss > 0.1 or row.plane > 0.1 for row in rows[1:])


# --- refutation --------------------------------------------------------------------------------------------------------


def tally_of(
    wrong: Sequence[int] = (), excess: Sequence[float] = (), squares: Sequence[float] = (), profile: CoreProfile | None = None
) -> Tally:
    count = max(len(wrong), len(excess), len(squares))

    def padded(values: Sequence[float]) -> list[float]:
        return list(values) + [0.0] * (count - len(values))

    return Tally(
        profile=profile or CoreProfile(),
        words=((),) * count,
        wrong=np.array(padded(wrong), np.int64),
        compared=3 * count,
        excess=np.array(padded(excess)),
        squares=np.array(padded(squares)),
        residuals=5 * len(squares),
    )


def test_one_wrong_bit_refutes_when_another_profile_gives_all() -> None:
    assert why_refuted(tally_of(wrong=[0, 0]), tally_of(wrong=[0, 1]))
    assert why_refuted(tally_of(wrong=[0, 1]), tally_of(wrong=[0, 0])) is None


def test_a_tolerance_just_exceeded_refutes_nothing() -> None:
    kept = tally_of(excess=[0.5] * 8)
    assert why_refuted(kept, tally_of(excess=[0.5] * 7 + [1.5])) is None
    assert why_refuted(kept, tally_of(excess=[0.5] * 7 + [2.5]))
    assert why_refuted(kept, tally_of(excess=[1.5] * 8))


def test_one_flipped_pose_does_not_refute_by_residuals() -> None:
    best = tally_of(squares=[1e-13] * 7)
    assert why_refuted(best, tally_of(squares=[1e-13] * 6 + [1e-10])) is None
    assert why_refuted(best, tally_of(squares=[1e-12] * 7))


def test_a_difference_of_chance_does_not_refute_by_residuals() -> None:
    random = np.random.default_rng(3)
    best, other = (tally_of(squares=(random.normal(size=(40, 5)) ** 2).sum(axis=1)) for _ in range(2))
    assert why_refuted(best, other) is None
    assert why_refuted(other, best) is None


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0.0, 3.0)), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 3), st.floats(0.0, 3.0)), min_size=1, max_size=6),
)
@settings(max_examples=200, deadline=None)
def test_nothing_refutes_itself_and_two_do_not_refute_each_other(
    a: list[tuple[int, float]], b: list[tuple[int, float]]
) -> None:
    count = min(len(a), len(b))
    first, second = (tally_of([wrong for wrong, _ in rows[:count]], [excess for _, excess in rows[:count]]) for rows in (a, b))
    assert why_refuted(first, first) is None
    assert not better(first, first)
    assert not (better(first, second) and better(second, first))


def test_of_equals_the_one_with_fewest_changes_is_the_best() -> None:
    changed = tally_of(wrong=[0], profile=CoreProfile().with_candidate("matrix3.invert", "binary64"))
    assert best_of([changed, tally_of(wrong=[0])]).profile == CoreProfile()


# --- the command line --------------------------------------------------------------------------------------------------


def test_characterise_prints_a_table_and_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_items(tmp_path / "v.jsonl", "point3.normalize", X64, random_vectors(30))
    page = tmp_path / "page.html"
    assert main(["characterise", str(path), "--environment", "sse-32", "--html", str(page)]) == 0
    out = capsys.readouterr().out
    assert "point3.normalize" in out
    assert "pin nothing" in out
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "length-divide" in text
    assert "http" not in text


def test_characterise_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_items(tmp_path / "v.jsonl", "point3.normalize", X64, random_vectors(30))
    assert main(["characterise", str(path), "--environment", "sse-32", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == JSON_FORMAT
    assert [entry["item"] for entry in found["items"]] == ["point3.normalize"]


def test_closure_prints_text_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["characterise", "--closure"]) == 0
    assert "1 of 64 combinations" in capsys.readouterr().out
    assert main(["characterise", "--closure", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == CLOSURE_FORMAT
    assert sum(row["closes"] for row in found["combinations"]) == 1


def test_core_prints_text_json_and_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "core.html"
    assert main(["core", "--html", str(page)]) == 0
    assert "30 items: 0 pinned" in capsys.readouterr().out
    assert "point3.normalize" in page.read_text(encoding="utf-8")
    assert main(["core", "--json", "--profile", "max-2016-x64"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == "maxik-core/1"
    assert {entry["item"] for entry in found["items"]} == {"crt", *ITEMS}
    assert sum(found["counts"].values()) == len(ITEMS)


@pytest.mark.parametrize(
    "arguments",
    [["characterise"], ["characterise", "--closure", "x.jsonl"], ["characterise", "{file}", "--items", "point3.nothing"]],
)
def test_wrong_usage_exits_with_2(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_items(tmp_path / "v.jsonl", "point3.normalize", X64, random_vectors(1))
    assert main([argument.replace("{file}", str(path)) for argument in arguments]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_an_unknown_item_is_a_usage_error(tmp_path: Path) -> None:
    path = write_items(tmp_path / "v.jsonl", "point3.normalize", X64, random_vectors(1))
    with pytest.raises(UsageError, match=r"unknown item 'no\.item'"):
        characterise([path], Options(items=("no.item",)))


@pytest.mark.parametrize(
    "damage",
    [
        lambda case: case.update(expected={"root": [1.0]}, tolerance=1.0),
        lambda case: case.update(expected={"root": [0.0] * 9}),
        lambda case: case.update(expected=[1.0], tolerance=1.0),
    ],
)
def test_a_damaged_case_is_an_error_with_its_line(damage: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    path = write_limbs(tmp_path / "v.jsonl", CoreProfile(), planar_limbs(1))
    first, line = path.read_text(encoding="utf-8").splitlines()
    case = json.loads(line)
    damage(case)
    path.write_text(f"{first}\n{json.dumps(case)}\n", encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        characterise([path])
    assert caught.value.line == 2
