"""The model's Spline IK solver (spec 4) against the vectors, against poses of 3ds Max, and on what could make it hang."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_cases import bits, cases, floats

from maxik.model.core import core_of
from maxik.model.engine import ModelEngine
from maxik.model.spline import solve
from maxik.model.spline_curve import position
from maxik.numerics.float32 import f32
from maxik.numerics.registers import Wide
from maxik.problems import SUCCESS, SplineJoint, SplineProblem, SplineSolution
from maxik.profile import ENVIRONMENT_IDS, ITEMS, CoreProfile

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
ZERO = (0.0, 0.0, 0.0)
NAN_POINT = (math.nan, 0.0, 0.0)


def spline_problem(case: Mapping[str, Any]) -> SplineProblem:
    """Return the problem of a spline.solve case; a zero map given as a vector comes in decimals."""
    given = case["in"]
    zero_map = given["zero_map"]
    vector = zero_map.get("vector")
    return SplineProblem(
        joints=tuple(SplineJoint(floats(joint["t"]), joint["axes"], floats(joint["init"])) for joint in given["joints"]),
        closed=given["spline"]["closed"],
        segments=floats(given["spline"]["segments"]),
        object_tm=floats(given["object_tm"]),
        parent_matrix=floats(given["parent_matrix"]),
        twist_parent=floats(given["twist_parent"]),
        start_twist=floats(given["start_twist"]),
        end_twist=floats(given["end_twist"]),
        n0=floats(zero_map.get("n0", ["3f800000", "00000000", "00000000"])),
        a0=floats(zero_map.get("a0", ["00000000", "3f800000", "00000000"])),
        zero_map_vector=None if vector is None else tuple(f32(x) for x in vector),
    )


def vector_cases(shared: Path) -> list[dict[str, Any]]:
    return [case for _, case in cases(shared / "vectors" / "kernel" / "spline.solve.jsonl")]


def outputs(solution: SplineSolution) -> dict[str, Any]:
    """Return what a spline.solve vector records, as bits."""
    names = ("bone_lengths", "u", "points", "euler")
    return {"status": solution.status, **{name: bits(getattr(solution, name)) for name in names}}


@pytest.mark.shared
def test_spline_vectors(shared: Path) -> None:
    engine = ModelEngine()
    given = vector_cases(shared)
    assert len(given) == 12
    assert [case["id"] for case in given if outputs(engine.solve_spline(spline_problem(case))) != case["out"]] == []


@pytest.mark.shared
def test_position_vectors(shared: Path) -> None:
    items = ModelEngine().items
    wrong = []
    for item, case in cases(shared / "vectors" / "kernel" / "items" / "spline.position.jsonl"):
        spline = {"closed": case["in"]["spline"]["closed"], "segments": floats(case["in"]["spline"]["segments"])}
        out = items[item](spline=spline, u=floats(case["in"]["u"]), type=case["in"]["type"])
        if {name: bits(value) for name, value in out.items()} != case["out"]:
            wrong.append(case["id"])
    assert wrong == []


@pytest.mark.shared
def test_the_inlined_loop_is_the_literal_one(shared: Path) -> None:
    """With plain floats the sampling loop is written out for speed; with `Wide` registers every function is the general one."""
    core = core_of(CoreProfile())
    for case in vector_cases(shared):
        plain, wide = (solve(machine, spline_problem(case)) for machine in (core, replace(core, register=Wide)))
        assert outputs(plain) == outputs(wide), case["id"]
        assert (bits(plain.frames), plain.samples) == (bits(wide.frames), wide.samples)


def misses(engine: ModelEngine, shared: Path, *, with_map: bool = True) -> dict[str, list[tuple[float, float]]]:
    """Return (error, allowed) of every bone's frame and direction in the poses kept by 3ds Max, radians."""
    found: dict[str, list[tuple[float, float]]] = {"frame": [], "direction": []}
    for _, case in cases(shared / "vectors" / "max-export" / "spline-solve.jsonl"):
        problem = spline_problem(case)
        solution = engine.solve_spline(problem if with_map else replace(problem, zero_map_vector=None))
        for b, step_effect in enumerate(case["u_step_effect"]):
            turn = np.reshape(solution.frames[b][:9], (3, 3)) @ np.reshape(case["out"]["frames"][b], (3, 3)).T
            sine = math.hypot(turn[1, 2] - turn[2, 1], turn[2, 0] - turn[0, 2], turn[0, 1] - turn[1, 0])
            found["frame"].append((math.atan2(sine, float(np.trace(turn)) - 1.0), case["tolerance"]["angle"] + step_effect))
            sine = float(np.linalg.norm(np.cross(solution.directions[b], case["out"]["directions"][b])))
            cosine = float(np.dot(solution.directions[b], case["out"]["directions"][b]))
            found["direction"].append((math.atan2(sine, cosine), case["tolerance"]["direction"] + step_effect))
    return found


def rms(values: list[float]) -> float:
    return math.sqrt(sum(x * x for x in values) / len(values))


@pytest.mark.shared
@pytest.mark.parametrize("environment", ENVIRONMENT_IDS)
def test_poses_of_3ds_max(shared: Path, environment: str) -> None:
    """Over all bones together: a bone off by one step of u is a flipped threshold, not another method."""
    found = misses(ModelEngine(CoreProfile().with_candidate("environment", environment)), shared)
    for errors in found.values():
        assert len(errors) == 35
        assert rms([error / allowed for error, allowed in errors]) < 0.5


@pytest.mark.shared
def test_the_simple_parameter_fits_3ds_max_best(shared: Path) -> None:
    error = {
        candidate: rms([e for e, _ in misses(engine_of("spline.parameter", candidate), shared)["direction"]])
        for candidate in ("simple", "chord-table-10", "chord-table-100", "chord-table-200")
    }
    assert all(error["simple"] < 0.7 * other for candidate, other in error.items() if candidate != "simple"), error


@pytest.mark.shared
@pytest.mark.parametrize(("candidate", "fits"), [("constant-y", True), ("axis-cross-z", True), ("world-up", False)])
def test_which_zero_maps_3ds_max_refutes(shared: Path, candidate: str, fits: bool) -> None:  # noqa: FBT001 - a parameter
    frames = misses(engine_of("spline.zero_map", candidate), shared, with_map=False)["frame"]
    assert (rms([error for error, _ in frames]) < 1e-6) is fits


def engine_of(item: str, candidate: str) -> ModelEngine:
    return ModelEngine(CoreProfile().with_candidate(item, candidate))


def line(*ends: tuple[float, float, float]) -> tuple[tuple[Any, ...], ...]:
    """Return a spline of straight segments from knot to knot, handles at thirds, so that t is the share of the length."""
    return tuple(
        tuple(tuple(f32(a + (b - a) * i / 3) for a, b in zip(start, end, strict=True)) for i in range(4))
        for start, end in pairwise(ends)
    )


def chain_on(segments: tuple[tuple[Any, ...], ...], *lengths: float, closed: bool = False) -> SplineProblem:
    """Return a straight chain along x with bones of `lengths`, on a spline given in chain space."""
    return SplineProblem(
        joints=tuple(SplineJoint((f32(length), 0.0, 0.0), "xyz", ZERO) for length in lengths),
        closed=closed,
        segments=segments,
        object_tm=IDENTITY,
        parent_matrix=IDENTITY,
        twist_parent=IDENTITY,
        start_twist=0.0,
        end_twist=0.0,
        n0=(0.0, 0.0, 1.0),
        a0=(1.0, 0.0, 0.0),
    )


SKEW = line(ZERO, (3.0, 4.0, 0.0), (6.0, 8.0, 6.0))


@pytest.mark.shared
def test_an_accepted_point_lies_within_a_hundredth_of_the_bone(shared: Path) -> None:
    """Neither kind of acceptance leaves L - dist above L/100; an overshoot is at most one coarse step."""
    checked = 0
    for case in vector_cases(shared):
        solution = ModelEngine().solve_spline(spline_problem(case))
        spans = np.linalg.norm(np.diff(np.array(solution.points), axis=0), axis=1)
        checked += len(spans)
        assert all(spans > 0.98999 * np.array(solution.bone_lengths[: len(spans)])), case["id"]
    assert checked > 50


@pytest.mark.shared
def test_every_bone_lies_along_its_direction(shared: Path) -> None:
    """The bone, the next joint's position, goes through the solved frame to the direction; twist turns about it."""
    for case in vector_cases(shared):
        problem = spline_problem(case)
        solution = ModelEngine().solve_spline(problem)
        for joint, frame, direction in zip(problem.joints, solution.frames, solution.directions, strict=True):
            bone = np.array(joint.t) @ np.reshape(frame[:9], (3, 3))
            assert np.allclose(bone / np.linalg.norm(bone), direction, atol=2e-5), case["id"]


def test_twist_grows_from_bone_to_bone_about_the_bone() -> None:
    problem = chain_on(SKEW, 1.0, 1.0, 1.0, 1.0)
    still = ModelEngine().solve_spline(problem)
    turned = ModelEngine().solve_spline(replace(problem, start_twist=f32(0.3), end_twist=f32(0.6)))
    assert turned.directions == still.directions
    for b, twist in enumerate((0.3, 0.5, 0.7, 0.9)):
        before, after = (np.reshape(solution.frames[b][:9], (3, 3)) for solution in (still, turned))
        turn = before.T @ after
        assert np.trace(turn) == pytest.approx(1.0 + 2.0 * math.cos(twist), abs=1e-5)
        assert np.allclose(np.array(still.directions[b]) @ turn, still.directions[b], atol=1e-5)


def test_past_the_end_of_the_spline_the_direction_is_carried_over() -> None:
    """Two bones fit on the spline and four do not: bone 3 takes the spline's end, those after keep its direction."""
    corner = line(ZERO, (2.0, 0.0, 0.0), (2.0, 0.5, 0.0))
    solution = ModelEngine().solve_spline(chain_on(corner, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0))
    assert len(solution.points) == 3
    assert solution.directions[3] == pytest.approx((0.0, 1.0, 0.0), abs=1e-5)
    assert solution.directions[3] == solution.directions[4] == solution.directions[5]
    assert solution.euler is not None
    assert len(solution.euler) == len(solution.frames) == 6


def test_a_direction_along_twist_up_takes_the_axis_k() -> None:
    """The frame by hand, spec 4.4.

    The bone along x (i = 0, k = 2) and up y give the basis rows x, -z, y; the direction y gives the global rows y,
    norm = unit(z ^ y) = -x, y ^ -x = z; basis^-1 * global has the rows y, z, x.
    """
    along_y = chain_on(line(ZERO, (0.0, 9.0, 0.0)), 1.0)
    (frame,) = ModelEngine().solve_spline(replace(along_y, zero_map_vector=(0.0, 1.0, 0.0))).frames
    assert frame == (0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_a_bone_along_chain_up_takes_another_co_axis() -> None:
    """The frame by hand, spec 4.1 and 4.4.

    Bone and up along x (ei = 0) give the co-axis x ^ unit(z ^ x) = z, the basis rows x, z ^ x = y, z, so identity; the
    direction y with twistUp x gives norm = x ^ y = z, so the global rows y, z, x.
    """
    along_y = chain_on(line(ZERO, (0.0, 9.0, 0.0)), 1.0)
    (frame,) = ModelEngine().solve_spline(replace(along_y, zero_map_vector=(1.0, 0.0, 0.0))).frames
    assert frame == (0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_a_spline_without_extent_has_the_direction_x() -> None:
    solution = ModelEngine().solve_spline(chain_on(line(ZERO, ZERO), 1.0, 1.0, 1.0))
    assert solution.points == (ZERO,)
    assert solution.directions == ((1.0, 0.0, 0.0),) * 3


def test_a_joint_turns_up_to_the_first_blank_axis_from_the_end() -> None:
    turned = SplineJoint((1.0, 0.0, 0.0), "x__", (f32(1.5707964), 0.0, 0.0))
    problem = replace(chain_on(SKEW, 1.0, 1.0), joints=(turned, SplineJoint((1.0, 0.0, 0.0), "xyz", ZERO)))
    straight = outputs(ModelEngine().solve_spline(chain_on(SKEW, 1.0, 1.0)))
    assert outputs(ModelEngine().solve_spline(problem)) == straight
    problem = replace(problem, joints=(replace(turned, axes="__x"), problem.joints[1]))
    assert outputs(ModelEngine().solve_spline(problem)) != straight


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("environment", ENVIRONMENT_IDS)
@pytest.mark.parametrize("bad", [math.nan, math.inf, 3e38])
def test_a_damaged_segment_neither_raises_nor_hangs(bad: float, environment: str, closed: bool) -> None:  # noqa: FBT001 - a parameter
    segments = (((f32(bad), 0.0, 0.0), *SKEW[0][1:]), SKEW[1])
    engine = ModelEngine(CoreProfile().with_candidate("environment", environment))
    for candidate in ITEMS["spline.parameter"][:2]:
        solution = ModelEngine(engine.profile.with_candidate("spline.parameter", candidate)).solve_spline(
            chain_on(segments, 1.0, 2.0, closed=closed)
        )
        assert solution.status == SUCCESS
        assert solution.euler is not None
        assert len(solution.euler) == 2


@pytest.mark.parametrize("closed", [False, True])
def test_a_nan_point_is_recorded_where_the_march_stands(closed: bool) -> None:  # noqa: FBT001 - a parameter
    """Every comparison with a NaN distance is false: the first point and then each bone are taken at u = 0."""
    solution = ModelEngine().solve_spline(chain_on(line(ZERO, NAN_POINT), 1.0, 2.0, closed=closed))
    assert solution.u == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("length", [0.0, 1e-45, 1e-30, 1e30, math.inf, math.nan])
def test_a_bone_of_any_length_terminates(length: float, closed: bool) -> None:  # noqa: FBT001 - a parameter
    solution = ModelEngine().solve_spline(chain_on(SKEW, 1.0, length, 1.0, closed=closed))
    assert solution.status == SUCCESS
    assert len(solution.directions) == 3


def test_a_bone_of_no_length_is_accepted_without_advancing() -> None:
    solution = ModelEngine().solve_spline(chain_on(SKEW, 1.0, 0.0, 1.0))
    assert len(solution.u) == 4
    assert solution.u[1] == solution.u[2] < solution.u[3]


def test_a_spline_beside_the_first_joint_starts_at_its_nearest_point() -> None:
    """No sample comes within L/100: the rescan in steps of 1e-6 finds the foot of the perpendicular, x = 0 at u = 0.4."""
    problem = chain_on(line((-4.0, 1.0, 0.0), (6.0, 1.0, 0.0)), 1.0)
    solution = ModelEngine().solve_spline(problem)
    distance = math.dist(solution.points[0], ZERO)
    assert distance == pytest.approx(1.0, abs=1e-6)
    assert solution.u[0] == pytest.approx(0.4, abs=1e-3)  # the distance is flat there: 1 + x*x/2, stored as a float


def test_no_goal_and_no_joint() -> None:
    engine = ModelEngine()
    solution = engine.solve_spline(replace(chain_on(SKEW, 1.0), segments=()))
    assert (solution.status, solution.u, solution.points, solution.euler) == (SUCCESS, (), (), None)
    solution = engine.solve_spline(chain_on(SKEW))
    assert outputs(solution) == {"status": SUCCESS, "bone_lengths": [], "u": [], "points": [], "euler": None}


def test_every_bezier_candidate_is_the_same_cubic() -> None:
    segment = ((0.0, 1.0, -2.0), (1.0, 3.0, 0.5), (2.5, -1.0, 0.25), (4.0, 0.0, 1.0))
    for candidate in ITEMS["spline.bezier"]:
        at = position(engine_of("spline.bezier", candidate).core, (segment,))
        for t in (0.0, 0.125, 0.3, 0.5, 0.99, 1.0):
            s = 1.0 - t
            exact = np.array([s**3, 3 * s * s * t, 3 * s * t * t, t**3]) @ np.array(segment)
            assert at(f32(t)) == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("candidate", ITEMS["spline.parameter"])
def test_a_parameter_by_length_and_one_by_segment(candidate: str) -> None:
    """Segments of lengths 1 and 9: half of the length is x = 5, half of the segments is the knot x = 1."""
    at = position(engine_of("spline.parameter", candidate).core, line(ZERO, (1.0, 0.0, 0.0), (10.0, 0.0, 0.0)))
    assert at(0.5)[0] == pytest.approx(1.0 if candidate == "simple" else 5.0, abs=1e-5)
    assert at(-1.0) == ZERO
    assert at(1.0) == at(2.0) == pytest.approx((10.0, 0.0, 0.0), abs=1e-5)
    assert all(math.isnan(x) for x in at(math.nan)[:1])


def test_a_zero_map_off_the_plane_depends_on_the_length_of_its_axis() -> None:
    """Raw: n0 - (n0 % axis)*axis is far from the map of the unit axis once n0 % axis is not 0 (core-contracts.md 7)."""
    problem = replace(chain_on(SKEW, 5.0, 5.0), n0=(f32(0.6), 0.0, f32(0.8)))
    unit, raw = (engine_of("spline.zero_map", c).solve_spline(problem).frames[0] for c in ITEMS["spline.zero_map"][:2])
    assert not np.allclose(unit, raw, atol=1e-2)
