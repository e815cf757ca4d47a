"""What a NeL file can show of a rotation: packing by nel-facts.md 3.3 and 3.4, and what candidates do to vectors."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from maxik.characterise.consulted import Problem, Solution, consulted, solve, solve_recorded
from maxik.characterise.observe import code_steps, compare, observe
from maxik.characterise.quantise import closest, quaternions, raw
from maxik.cli import main
from maxik.errors import UsageError
from maxik.formats.nel.packing import normalised, pack, unpack
from maxik.model.core import Core
from maxik.model.engine import ModelEngine
from maxik.numerics.float32 import step
from maxik.problems import LimbProblem, SplineProblem, SplineSolution
from maxik.profile import ITEMS, PROFILES, CoreProfile
from maxik.scene.turns import quat_of
from maxik.solutions import limb_bits
from maxik.vectors import VectorFile, read_vectors, solve_problems
from maxik.verify import limb_problems, spline_problems
from maxik.verify.rotations import euler_xyz_matrix, turn_between

REFERENCE, RELEASE = PROFILES["candidate-1"], PROFILES["max-2016-x64"]
STEP = 3.0518509e-5
"""1/32767 (nel-facts.md 3.3)."""
Captured = pytest.CaptureFixture[str]
Float64s = NDArray[np.float64]


def random_rotations(count: int, seed: int = 0) -> Float64s:
    """Return quaternions spread evenly over all rotations."""
    return normalised(np.random.default_rng(seed).normal(size=(count, 4)))


def turns(a: NDArray[np.floating], b: NDArray[np.floating]) -> Float64s:
    """Return the turns between rotations, radians."""
    p, q = normalised(a.astype(np.float64)), normalised(b.astype(np.float64))
    near, far = np.linalg.norm(p - q, axis=1), np.linalg.norm(p + q, axis=1)
    return np.asarray(4.0 * np.arctan2(np.minimum(near, far), np.maximum(near, far)))


def floats(*rows: Sequence[float]) -> NDArray[np.float32]:
    return np.array(rows, np.float32)


def limb0(shared: Path) -> VectorFile:
    return read_vectors(shared / "vectors" / "max-export" / "limb0-throw-disc.a.jsonl")


def first_cases(file: VectorFile, count: int) -> VectorFile:
    return replace(file, cases=file.cases[:count])


# The table of 3.4


def test_the_table_is_that_of_the_facts() -> None:
    rows = code_steps()
    ulps = [
        *(512.0156, 1024.031, 2048.063, 4096.125, 8192.25, 16384.5, 32769.0, 65538.0),
        *(131076, 262152, 524304, 1048608, 2097216, 4194432, 8388864, 16777728),
    ]
    hidden = [*(256, 512, 1024, 2048, 4096, 8192, 16384, 32769, 65538, 131076, 262152, 524304, 1048608, 2097216, 4194432), None]
    chances = [
        *(1.95e-3, 9.77e-4, 4.88e-4, 2.44e-4, 1.22e-4, 6.10e-5, 3.05e-5, 1.53e-5),
        *(7.63e-6, 3.81e-6, 1.91e-6, 9.54e-7, 4.77e-7, 2.38e-7, 1.19e-7, 5.96e-8),
    ]
    assert [row.k for row in rows] == list(range(16))
    assert [row.ulps_per_step for row in rows] == pytest.approx(ulps, rel=1e-6)
    assert [row.hidden for row in rows] == hidden
    assert [row.chance for row in rows] == pytest.approx(chances, rel=3e-3)
    for row in rows:
        assert np.spacing(np.float32(row.low)) == row.ulp == np.spacing(np.nextafter(np.float32(row.high), np.float32(0)))


def test_effective_ulps_per_step_at_a_half_are_683_and_grow_without_bound() -> None:
    rows = code_steps()
    assert round(rows[0].effective_low) == 683
    assert rows[0].effective_high is None
    # at 0.5 the two rows meet: the step is one, the ULP halves
    assert rows[1].effective_high == pytest.approx(2 * 683, rel=1e-3)


# Packing, 3.3


@pytest.mark.parametrize(
    ("q", "codes"),
    [
        ((0.0, 0.0, 0.0, 1.0), (0, 0, 0, 32767)),
        ((0.0, 0.0, 0.0, -2.0), (0, 0, 0, -32767)),
        ((0.0, math.sqrt(0.5), 0.0, -math.sqrt(0.5)), (0, 23170, 0, -23170)),
        ((1.0, 1.0, -1.0, 1.0), (16384, 16384, -16383, 16384)),
    ],
)
def test_codes_by_hand(q: Sequence[float], codes: Sequence[int]) -> None:
    """The last is a tie in every component: 16383.5 goes up to 16384, -16383.5 up to -16383."""
    packed = pack(floats(q))
    assert packed.dtype == np.int16
    assert packed.tolist() == [list(codes)]


def test_ties_go_up_and_minus_a_half_is_0() -> None:
    """Integers of length 65534 = 2 * 32767, so that every component lies between two codes."""
    q = (-1.0, 1.0, 59635.0, 27173.0)
    assert math.hypot(*q) == 65534.0
    assert pack(floats(q)).tolist() == [[0, 1, 29818, 13587]]
    assert pack(-floats(q)).tolist() == [[1, 0, -29817, -13586]]


@given(st.lists(st.floats(-1.0, 1.0, width=32), min_size=4, max_size=4), st.floats(1e-3, 1e3))
def test_packing_ignores_the_length(components: list[float], scale: float) -> None:
    q = np.array([components], np.float64)
    assume(np.linalg.norm(q) > 1e-3)
    scaled = 32767 * normalised(q)
    assume((np.abs(scaled - np.floor(scaled) - 0.5) > 1e-6).all())
    assert pack(q * scale).tolist() == pack(q).tolist()


@given(st.lists(st.floats(-1.0, 1.0, width=32), min_size=4, max_size=4))
def test_q_and_minus_q_have_opposite_codes_and_are_one_rotation(components: list[float]) -> None:
    q = np.array([components], np.float64)
    assume(np.linalg.norm(q) > 1e-3)
    scaled = 32767 * normalised(q)
    assume((np.abs(scaled - np.floor(scaled) - 0.5) > 1e-6).all())
    assert pack(-q).tolist() == (-pack(q)).tolist()
    assert pack(closest(-q, q)).tolist() == pack(q).tolist()


@pytest.mark.parametrize("q", [(0.0, -0.0, 0.0, 0.0), (math.nan, 0.0, 0.0, 1.0), (math.inf, 0.0, 0.0, 1.0)])
def test_what_has_no_direction_has_no_codes(q: Sequence[float]) -> None:
    with pytest.raises(UsageError, match="no codes"):
        pack(floats(q))


def test_unpacking_gives_float32_of_length_1() -> None:
    (identity, turned) = unpack(np.array([[0, 0, 0, 32767], [1, 0, 0, 32767]], np.int16))
    assert identity.tolist() == [0.0, 0.0, 0.0, 1.0]
    assert turned.dtype == np.float32
    assert turned[0] == pytest.approx(STEP, rel=1e-7)
    assert turns(identity[None], turned[None])[0] == pytest.approx(6.1037e-5, rel=1e-5)


def test_the_error_of_a_packed_rotation() -> None:
    q = raw(random_rotations(200_000))
    errors = turns(q, unpack(pack(q)))
    assert errors.max() <= 6.1037e-5
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(3.05e-5, rel=5e-3)


def test_unpacking_and_packing_again_changes_a_code_in_1_5_percent() -> None:
    codes = pack(raw(random_rotations(200_000)))
    moved = np.abs(pack(unpack(codes)).astype(int) - codes).max(axis=1)
    assert moved.max() == 1
    assert np.mean(moved) == pytest.approx(0.015, abs=0.001)


@pytest.mark.parametrize(("ulps", "within"), [(1, 0.1), (256, 0.01)])
def test_one_component_moved_changes_its_code_as_often_as_the_effective_step_says(ulps: int, within: float) -> None:
    """At k = 0: less than the 1.95e-3 for 1 ULP that the bare step would give, since packing normalises (3.4)."""
    q = raw(random_rotations(400_000))
    rows, columns = np.nonzero((np.abs(q) >= 0.5) & (np.abs(q) < 1.0))
    moved, each = q[rows], np.arange(len(rows))
    moved.view(np.int32)[each, columns] += ulps
    seen = (pack(moved) != pack(q[rows]))[each, columns].mean()
    tangential = np.mean(1.0 - q[rows, columns].astype(np.float64) ** 2)
    assert seen == pytest.approx(ulps * tangential / 512.0156, rel=within)
    assert seen < ulps * 1.95e-3


def test_w_of_a_rotation_below_11_milliradians_carries_nothing() -> None:
    angles = np.array([[0.001, 0.0, 0.0], [0.0109, 0.0, 0.0], [0.0112, 0.0, 0.0]])
    assert pack(raw(quaternions(angles)))[:, 3].tolist() == [32767, 32767, 32766]


# Angles to quaternions


@given(st.lists(st.floats(-7.0, 7.0, width=32), min_size=3, max_size=3))
def test_the_quaternion_turns_as_the_node_matrix(xyz: list[float]) -> None:
    """NeL stores the usual quaternion, whose column matrix is the transposed row matrix (nel-facts.md 1.4)."""
    ((x, y, z, w),) = quaternions([xyz])
    column = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    assert np.allclose(np.array(column).T, euler_xyz_matrix(xyz), rtol=0, atol=1e-14)
    assert x * x + y * y + z * z + w * w == pytest.approx(1.0, abs=1e-15)


@given(st.lists(st.floats(-7.0, 7.0, width=32), min_size=3, max_size=3))
def test_one_rotation_has_one_sign(xyz: list[float]) -> None:
    """A full turn more is the same rotation and the negated product of half angles."""
    x, y, z = xyz
    (once, twice) = quaternions([[x, y, z], [x + 2 * math.pi, y, z]])
    assume(abs(once[3]) > 1e-9)
    assert once[3] > 0.0
    assert np.allclose(once, twice, rtol=0, atol=1e-14)
    assert not np.signbit(once[once == 0.0]).any()


def test_rotations_near_a_half_turn_are_compared_on_one_hemisphere() -> None:
    below, above = floats([3.1415, 0.0, 0.0]), floats([3.1417, 0.0, 0.0])
    found = compare(below, above)
    assert found.turn[0] == pytest.approx(0.0002, rel=2e-3)
    assert found.ulps[0] == pytest.approx(0.0001 * 2**24, rel=2e-3)


# Comparing rotations


def test_what_each_kind_of_track_sees() -> None:
    one = (1.0, 1e-12, 1.0)
    base = floats((1.0, 0.0, 0.0), one, one, one, one)
    other = floats(
        (1.0, -0.0, 0.0), (1.0, step(base[1, 1].item(), 1), 1.0), (step(1.0, 1), 1e-12, 1.0), (1.00015, *one[1:]), one
    )
    found = compare(base, other)
    assert found.euler.tolist() == [True, True, True, True, False]  # the sign of a zero is a bit
    assert found.raw.tolist() == [False, False, True, True, False]  # 1e-19 rad is below every component's ULP
    assert found.packed.tolist() == [False, False, False, True, False]  # more than one step, less than one
    assert found.turn == pytest.approx([0.0, 0.0, 2.0**-23, 1.5e-4, 0.0], rel=1e-3, abs=1e-18)


def test_a_rotation_against_none_is_seen_and_none_against_none_is_not() -> None:
    none = (math.nan, 0.0, 1.0)
    found = compare(floats((1.0, 0.0, 1.0), none, none), floats(none, none, (math.nan, 0.0, 2.0)))
    assert (found.euler.tolist(), found.raw.tolist(), found.packed.tolist()) == (
        [True, False, True],
        [True, False, False],
        [True, False, False],
    )
    assert (found.ulps.tolist(), found.turn.tolist()) == ([0.0] * 3, [0.0] * 3)


# Items that a solve consults


def test_a_one_joint_chain_consults_no_quaternion_and_no_spline() -> None:
    problem = replace(limb_problems.make_problem("plain", 1), link_count=0)
    items = consulted(REFERENCE, [problem])
    assert {"point3.normalize", "matrix3.rot_angle_axis", "matrix3.to_euler", "ik.zero_map"} <= set(items)
    assert not {item for item in items if item.startswith(("quat.", "spline."))}
    assert list(items) == [item for item in ITEMS if item in items]
    assert consulted(REFERENCE, []) == ()


def test_several_problems_consult_what_each_of_them_does() -> None:
    limb = limb_problems.make_problem("plain", 1)
    refused = replace(limb, link_count=1)
    assert consulted(REFERENCE, [refused]) == ()
    assert consulted(REFERENCE, [refused, limb]) == consulted(REFERENCE, [limb])


@pytest.mark.parametrize("profile", [REFERENCE, RELEASE], ids=str)
@pytest.mark.parametrize("kind", sorted(limb_problems.KINDS))
def test_candidates_of_other_items_change_no_bit(kind: str, profile: CoreProfile) -> None:
    for seed in range(3):
        problem = limb_problems.make_problem(kind, seed)
        solution, seen = solve_recorded(profile, problem)
        assert not isinstance(solution, SplineSolution)
        bits = limb_bits(solution)
        assert limb_bits(ModelEngine(profile).solve_limb(problem)) == bits
        for item in set(ITEMS) - seen:
            for candidate in ITEMS[item]:
                changed = ModelEngine(profile.with_candidate(item, candidate)).solve_limb(problem)
                assert limb_bits(changed) == bits, (item, candidate)


def test_a_spline_consults_its_curve_once_there_is_one() -> None:
    problem = spline_problems.make_problem("straight", 0)
    curve = {"spline.bezier", "spline.parameter", "rotation.pre_apply", "quat.make_matrix"}
    assert curve <= set(consulted(REFERENCE, [problem]))
    assert not curve & set(consulted(REFERENCE, [replace(problem, segments=())]))


# Observing files


@pytest.mark.shared
def test_a_candidate_of_the_same_bits_is_said_to_be_one(shared: Path) -> None:
    """Flags change no number while matrices are multiplied in full (ledger, matrix3.validate_flags)."""
    seen = observe(RELEASE, first_cases(limb0(shared), 9), ["matrix3.validate_flags"])
    (entry,) = seen.candidates
    assert "matrix3.validate_flags" in seen.consulted
    assert (entry.candidate, entry.verdict) == ("epsilon-1e-6", "same bits everywhere")
    assert (entry.euler, entry.raw, entry.packed, entry.ulps, entry.turn) == ((), (), (), 0.0, 0.0)


@pytest.mark.shared
def test_candidates_that_3ds_max_refutes_are_seen_in_raw(shared: Path) -> None:
    """Each misses exported angles of bone.1 (max-export/LIMB.md), so its rotations there must differ as float32."""
    refuted = {
        ("point3.normalize", "length-divide"),
        ("point3.normalize", "length-reciprocal"),
        ("matrix3.rot_angle_axis", "half-angle"),
        ("matrix3.rot_angle_axis", "quaternion"),
        ("matrix3.to_euler", "asin"),
        ("matrix3.to_euler", "via-quat"),
        ("environment", "x87-53"),
    }
    different = set()
    for path in sorted((shared / "vectors" / "max-export").glob("limb0-*.jsonl")):
        file = read_vectors(path)
        bone_1 = replace(file, cases=tuple(case for case in file.cases if case.extra.get("exact_inputs")))
        if bone_1.cases:
            seen = observe(RELEASE, bone_1, sorted({item for item, _ in refuted}))
            different |= {(entry.item, entry.candidate) for entry in seen.candidates if entry.raw}
    assert refuted <= different


@pytest.mark.shared
def test_counts_are_those_of_a_plain_loop(shared: Path) -> None:
    """Euler bits by the engine; codes by way of matrices, one rotation at a time."""
    file = read_vectors(shared / "vectors" / "kernel" / "limb.solve.jsonl")
    (entry,) = (
        entry for entry in observe(REFERENCE, file, ["point3.normalize"]).candidates if entry.candidate == "length-reciprocal"
    )
    base = ModelEngine(REFERENCE)
    other = ModelEngine(REFERENCE.with_candidate("point3.normalize", "length-reciprocal"))
    euler, packed = [], []
    for case, problem in zip(file.cases, solve_problems(file), strict=True):
        assert isinstance(problem, LimbProblem)
        a, b = base.solve_limb(problem), other.solve_limb(problem)
        if limb_bits(a) == limb_bits(b):
            continue
        euler.append(case.id)
        pairs = [(a.rot_xyz, b.rot_xyz), (a.dof_zyx and a.dof_zyx[::-1], b.dof_zyx and b.dof_zyx[::-1])]
        if any(codes_by_hand(p) != codes_by_hand(q, p) for p, q in pairs if p and q):
            packed.append(case.id)
    assert entry.euler == tuple(euler)
    assert entry.packed == tuple(packed)
    assert 0 < len(packed) < len(euler)


@pytest.mark.shared
def test_the_turn_is_the_largest_of_start_joint_and_elbow(shared: Path) -> None:
    """The second joint's angles come as z, y, x (spec 3)."""
    file = read_vectors(shared / "vectors" / "kernel" / "limb.solve.jsonl")
    base, other = ModelEngine(REFERENCE), ModelEngine(REFERENCE.with_candidate("matrix3.to_euler", "via-quat"))
    by_elbow = 0
    for case in [case for case in file.cases if "reach" in case.id][:20]:
        one = replace(file, cases=(case,))
        (problem,) = solve_problems(one)
        assert isinstance(problem, LimbProblem)
        a, b = base.solve_limb(problem), other.solve_limb(problem)
        pairs = [(a.rot_xyz, b.rot_xyz), (a.dof_zyx and a.dof_zyx[::-1], b.dof_zyx and b.dof_zyx[::-1])]
        root, elbow = (turn_between(euler_xyz_matrix(p), euler_xyz_matrix(q)) for p, q in pairs if p and q)
        by_elbow += elbow > root
        entry = observe(REFERENCE, one, ["matrix3.to_euler"]).candidates[-1]
        assert entry.candidate == "via-quat"
        assert entry.turn == pytest.approx(max(root, elbow), rel=1e-6, abs=1e-14)
    assert by_elbow > 3


@pytest.mark.shared
def test_a_twist_the_other_way_round_is_seen_in_every_track(shared: Path) -> None:
    file = read_vectors(shared / "vectors" / "kernel" / "spline.solve.jsonl")
    case = next(
        case
        for case, problem in zip(file.cases, solve_problems(file), strict=True)
        if isinstance(problem, SplineProblem) and problem.start_twist and len(problem.joints) > 1
    )
    seen = observe(REFERENCE, replace(file, cases=(case,)), ["quat.make_matrix"])
    transposed = next(entry for entry in seen.candidates if entry.candidate == "transposed")
    assert seen.rotations > 1
    assert transposed.packed == (case.id,)
    assert transposed.turn > 0.01


def codes_by_hand(xyz: Sequence[float], near: Sequence[float] | None = None) -> list[int]:
    """Return the codes of a rotation, on the hemisphere of the rotation `near`."""
    q, at = ((quat_of(euler_xyz_matrix(angles)[None])[0] * (-1, -1, -1, 1)).astype(np.float32) for angles in (xyz, near or xyz))
    sign = -1.0 if float(q @ at) < 0.0 else 1.0
    sign *= -1.0 if at[3] < 0.0 else 1.0
    wide = [sign * float(value) for value in q]
    length = math.sqrt(sum(value * value for value in wide))
    return [math.floor(value / length * 32767 + 0.5) for value in wide]


@pytest.mark.shared
def test_problems_of_the_same_bits_are_solved_once(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = first_cases(limb0(shared), 4)
    once = observe(RELEASE, few, ["matrix3.to_euler"])
    solved: list[Problem] = []

    def counted(core: Core, problem: Problem) -> Solution:
        solved.append(problem)
        return solve(core, problem)

    monkeypatch.setattr("maxik.characterise.observe.solve", counted)
    thrice = observe(RELEASE, replace(few, cases=few.cases * 3), ["matrix3.to_euler", "spline.bezier"])
    assert len(solved) == 3 * 4  # three candidates of to_euler; a limb consults no spline.bezier
    assert thrice.cases == 12
    for single, triple in zip(once.candidates, thrice.candidates[:3], strict=True):
        assert triple.raw == single.raw * 3
        assert (triple.ulps, triple.turn) == (single.ulps, single.turn)
    assert {entry.verdict for entry in thrice.candidates[3:]} == {"same bits everywhere"}


@pytest.mark.shared
def test_default_items_are_those_consulted_that_have_a_choice(shared: Path) -> None:
    few = first_cases(limb0(shared), 2)
    seen = observe(RELEASE, few)
    items = list(dict.fromkeys(entry.item for entry in seen.candidates))
    assert items == [item for item in seen.consulted if len(ITEMS[item]) > 1]
    assert seen.consulted == consulted(RELEASE, solve_problems(few))


@pytest.mark.shared
def test_a_profile_is_compared_with_what_it_does_not_use(shared: Path) -> None:
    """The difference is the same seen from either side."""
    few = first_cases(limb0(shared), 9)
    (there,) = (entry for entry in observe(RELEASE, few, ["matrix3.to_euler"]).candidates if entry.candidate == "asin")
    changed = RELEASE.with_candidate("matrix3.to_euler", "asin")
    found = observe(changed, few, ["matrix3.to_euler"]).candidates
    assert [entry.candidate for entry in found] == ["shoemake", "shoemake-binary64", "via-quat"]
    assert (found[0].raw, found[0].ulps) == (there.raw, there.ulps)
    assert there.raw


# The command


def test_without_vectors_the_table_is_printed(capsys: Captured) -> None:
    assert main(["observable"]) == 0
    printed = capsys.readouterr().out
    assert "512.0156" in printed
    assert "±4194432" in printed
    assert "verdict" not in printed


@pytest.mark.shared
def test_the_table_of_candidates_is_printed(shared: Path, tmp_path: Path, capsys: Captured) -> None:
    path = few_lines(shared, tmp_path)
    assert main(["observable", str(path), "--profile", "max-2016-x64", "--items", "matrix3.to_euler,environment"]) == 0
    printed = capsys.readouterr().out
    assert "5 cases, 5 rotations, against max-2016-x64" in printed
    for word in ("via-quat", "x87-53", "seen in raw", "2.8 mrad"):
        assert word in printed
    assert "point3" not in printed


@pytest.mark.shared
def test_json_is_versioned_and_names_the_cases(shared: Path, tmp_path: Path, capsys: Captured) -> None:
    path = few_lines(shared, tmp_path)
    assert main(["observable", str(path), "--profile", "max-2016-x64", "--items", "matrix3.to_euler", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["format"], told["profile"]) == ("maxik-observable/1", "max-2016-x64")
    assert [row["k"] for row in told["steps"]] == list(range(16))
    assert told["steps"][0]["effective_high"] is None
    (file,) = told["files"]
    assert (file["path"], file["item"], file["cases"]) == (str(path), "limb.solve", 5)
    known = {case.id for case in read_vectors(path).cases}
    assert [entry["candidate"] for entry in file["candidates"]] == ["shoemake-binary64", "asin", "via-quat"]
    for entry in file["candidates"]:
        assert set(entry["packed"]) <= set(entry["raw"]) <= set(entry["euler"]) <= known
        verdicts = {
            (True, True): "seen in raw and packed",
            (True, False): "seen in raw only",
            (False, False): "not seen" if entry["euler"] else "same bits everywhere",
        }
        assert entry["verdict"] == verdicts[bool(entry["raw"]), bool(entry["packed"])]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["max-export/limb0-throw-disc.a.jsonl", "--items", "point3.nothing"], 2, "unknown item 'point3.nothing'"),
        (["max-export/limb0-throw-disc.a.jsonl", "--items", "point3.cross"], 2, "single candidate"),
        (["max-export/limb0-throw-disc.a.jsonl", "--profile", "nothing"], 2, "unknown profile"),
        (["kernel/items/point3.cross.jsonl"], 2, "holds cases of point3.cross"),
        (["absent.jsonl"], 1, "cannot be read"),
        (["--items", "point3.unify"], 2, "name some"),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], code: int, message: str, shared: Path, capsys: Captured) -> None:
    paths = [str(shared / "vectors" / part) if part.endswith(".jsonl") else part for part in arguments]
    assert main(["observable", *paths]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert message in line


def few_lines(shared: Path, folder: Path) -> Path:
    """Return a vector file of five cases."""
    source = shared / "vectors" / "max-export" / "limb0-throw-disc.a.jsonl"
    path = folder / "few.jsonl"
    path.write_text("\n".join(source.read_text(encoding="utf-8").splitlines()[:6]) + "\n", encoding="utf-8")
    return path
