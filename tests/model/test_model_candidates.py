"""Every candidate of every item: selectable, different from the default where it should be, and doing what its name says.

Expected values are binary64 rotations of model_cases; a candidate changes roundings, not the geometry, unless it says so.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from model_cases import Doubles, basis, bits, euler_rotation, floats, made_problem, rotation, wrist_in_chain

from maxik.model.engine import ModelEngine
from maxik.numerics.float32 import f32, step
from maxik.problems import GOAL, START_JOINT, LimbProblem, LimbSolution, Vector
from maxik.profile import ENVIRONMENT_IDS, ITEMS, CoreProfile

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
CANDIDATES = [(item, candidate) for item, candidates in ITEMS.items() for candidate in candidates]
OTHERS = [(item, candidate) for item, candidates in ITEMS.items() for candidate in candidates[1:]]
REFUTED = ("ik.initial_plane", "start-joint-zero")
REACH_ERROR = 5e-6  # of the goal distance; core-profile.md names 3.4e-6 with initial angles
TURNS = ("matrix3.pre_rotate", "matrix3.rotate", "matrix3.rot_angle_axis", "quat.make_matrix", "rotation.pre_apply")


def engine_of(item: str, candidate: str, environment: str = "x87-53") -> ModelEngine:
    return ModelEngine(CoreProfile().with_candidate("environment", environment).with_candidate(item, candidate))


def solved(engine: ModelEngine, problem: LimbProblem) -> tuple[LimbProblem, LimbSolution]:
    """Return the problem with the engine's own initial plane, and its solution."""
    given = (problem.root_init_xyz, problem.root_extend, problem.links_init_zyx, problem.links_extend)
    n0, a0 = engine.initial_plane(3, *(np.array([part], np.float32) for part in given))
    problem = replace(problem, n0=tuple(n0[0].tolist()), a0=tuple(a0[0].tolist()))
    return problem, engine.solve_limb(problem)


def miss(problem: LimbProblem, solution: LimbSolution) -> float:
    """Return the distance of the wrist to the goal, as a part of the goal's distance."""
    assert problem.goal is not None
    goal = np.array(problem.goal[9:])
    return float(np.linalg.norm(wrist_in_chain(problem, solution) - goal) / np.linalg.norm(goal))


@pytest.mark.parametrize("environment", ENVIRONMENT_IDS)
@pytest.mark.parametrize("swivel_parent", [START_JOINT, GOAL])
@pytest.mark.parametrize(("item", "candidate"), CANDIDATES)
def test_the_wrist_reaches_the_goal(item: str, candidate: str, swivel_parent: str, environment: str) -> None:
    engine = engine_of(item, candidate, environment)
    misses = [miss(*solved(engine, made_problem(seed, swivel_parent=swivel_parent))) for seed in range(8)]
    assert (max(misses) < REACH_ERROR) is ((item, candidate) != REFUTED), misses


def test_the_plane_from_start_joint_zero_misses_with_preferred_angles_only() -> None:
    """It is refuted by real exports (core-profile.md); with the start joint's preferred angles at zero it is the same."""
    engine = engine_of(*REFUTED)
    problem = replace(made_problem(1), root_init_xyz=(0.0, 0.0, 0.0))
    assert miss(*solved(engine, problem)) < REACH_ERROR
    assert miss(*solved(engine, made_problem(1))) > 0.01


def arguments(item: str, chance: random.Random) -> dict[str, Any]:
    """Return random operands of an item: unit axes and quaternions, rotations with a translation, angles of all sizes."""

    def unit(size: int) -> Vector:
        values = np.array([chance.gauss(0.0, 1.0) for _ in range(size)])
        return tuple(f32(x) for x in (values / np.linalg.norm(values)).tolist())

    def vector() -> Vector:
        return tuple(f32(chance.gauss(0.0, 10.0)) for _ in range(3))

    def matrix() -> Vector:
        angles = [chance.uniform(-3.0, 3.0) for _ in range(3)]
        return (*(f32(x) for x in euler_rotation(angles).ravel().tolist()), *vector())

    angle = f32(chance.uniform(-3.0, 3.0) * 10.0 ** chance.choice((0, 0, 0, 15)))
    if item in ("matrix3.pre_rotate", "matrix3.rotate"):
        return {"m": matrix(), "axis": chance.choice("xyz"), "angle": angle}
    operands: dict[str, dict[str, Any]] = {
        "point3.normalize": {"v": vector()},
        "point3.unify": {"v": vector()},
        "point3.length_unify": {"v": vector()},
        "point3.zero_length": {"v": (0.0, -0.0, 0.0)},
        "matrix3.multiply": {"a": IDENTITY, "b": (-0.0, 1.0) * 6},
        "matrix3.invert": {"m": matrix()},
        "matrix3.rot_angle_axis": {"axis": unit(3), "angle": angle},
        "matrix3.validate_flags": {"m": (step(1.0, chance.choice((-2, -1, 1, 2))), *IDENTITY[1:])},
        "matrix3.to_euler": {"m": matrix()},
        "quat.product": {"a": unit(4), "b": unit(4)},
        "quat.from_ang_axis": {"axis": unit(3), "angle": angle},
        "quat.make_matrix": {"q": unit(4)},
        "rotation.pre_apply": {"q": unit(4), "m": matrix()},
        "ik.zero_map": {"v": unit(3), "n0": unit(3), "a0": unit(3)},
    }
    return operands[item]


# Operands that tell a candidate from the default where random ones hardly do.
TELLING: dict[tuple[str, str], dict[str, Any]] = {
    # rows skip the products with zero, which turn -0 into +0
    ("matrix3.pre_rotate", "multiply"): {"m": (-0.0, 1.0) * 6, "axis": "x", "angle": 1.0},
    ("matrix3.rotate", "multiply"): {"m": (-0.0, 1.0) * 6, "axis": "x", "angle": 1.0},
    # a quotient next to the midpoint of two float32 values, where one more rounding in binary64 shows
    **{
        (item, "binary64-reciprocal"): {"v": floats(["bee19da5", "400aa966", "bf89df14"])}
        for item in ("point3.normalize", "point3.unify", "point3.length_unify")
    },
}


@pytest.mark.parametrize(("item", "candidate"), [pair for pair in OTHERS if pair[0] in ModelEngine().items])
def test_a_candidate_can_be_told_from_the_default(item: str, candidate: str) -> None:
    chance = random.Random(5)  # noqa: S311 - test data
    engines = [(engine_of(item, ITEMS[item][0], place), engine_of(item, candidate, place)) for place in ENVIRONMENT_IDS]
    for _ in range(300):
        operands = TELLING.get((item, candidate)) or arguments(item, chance)
        for default, other in engines:
            one, two = default.items[item](**operands), other.items[item](**operands)
            if {name: bits(value) for name, value in one.items()} != {name: bits(value) for name, value in two.items()}:
                return
    pytest.fail(f"{item} {candidate} gave the default's bits 300 times")


def test_links_in_place_can_be_told_from_multiplied_ones() -> None:
    """The end joint's position goes through one matrix or through two; off the axis the roundings differ."""
    problems = [replace(made_problem(seed), links_extend=(1.0, f32(0.3), f32(-0.2))) for seed in range(20)]
    engines = ModelEngine(), engine_of("ik.link_matrix", "pre-rotate-in-place")
    results = [[bits(solved(engine, problem)[1].rot_xyz) for problem in problems] for engine in engines]
    assert results[0] != results[1]


@pytest.mark.parametrize("environment", ENVIRONMENT_IDS)
@pytest.mark.parametrize(("item", "candidate"), [pair for pair in CANDIDATES if pair[0] in TURNS])
def test_rotations_are_orthonormal_and_turn_the_right_way(item: str, candidate: str, environment: str) -> None:
    function = engine_of(item, candidate, environment).items[item]
    chance = random.Random(7)  # noqa: S311 - test data
    for _ in range(60):
        operands = arguments(item, chance)
        if "angle" in operands:
            operands["angle"] = f32(math.remainder(operands["angle"], 6.0))
        turn = basis(vector_of(function(**operands)["m"]))
        assert np.abs(turn @ turn.T - np.eye(3)).max() < 1e-6
        assert np.abs(turn - turned(item, operands, transposed=candidate == "transposed")).max() < 1e-6


def vector_of(output: object) -> Vector:
    """Return an output that is a tuple of floats."""
    assert isinstance(output, tuple)
    return output


def turned(item: str, operands: dict[str, Any], *, transposed: bool) -> Doubles:
    """Return in binary64 the basis that the rotation item must give: pre-rotations on the left, Rotate on the right."""
    m = basis(operands["m"]) if "m" in operands else np.eye(3)
    if "q" in operands:  # the left-hand rule: vec p' = conj(q) p q (core-contracts.md 1)
        x, y, z, w = operands["q"]
        axis, angle = np.array((x, y, z)), -2.0 * math.atan2(math.hypot(x, y, z), w)
        turn = about(axis / np.linalg.norm(axis), angle)
        return (turn.T if transposed else turn) @ m
    if isinstance(operands["axis"], str):
        turn = rotation(operands["axis"], operands["angle"])
        return turn @ m if item == "matrix3.pre_rotate" else m @ turn
    return about(np.array(operands["axis"]), operands["angle"])


def about(axis: Doubles, angle: float) -> Doubles:
    """Return the right-handed turn about a unit axis for row vectors: exp of the cross-product matrix."""
    x, y, z = axis.tolist()
    k: Doubles = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
    turn: Doubles = np.eye(3) + math.sin(angle) * k + (1.0 - math.cos(angle)) * (k @ k)
    return turn


@pytest.mark.parametrize("environment", ENVIRONMENT_IDS)
@pytest.mark.parametrize("candidate", ITEMS["matrix3.invert"])
def test_the_inverse_undoes_a_rotation_and_translation(candidate: str, environment: str) -> None:
    engine = engine_of("matrix3.invert", candidate, environment)
    for seed in range(20):
        m = arguments("matrix3.invert", random.Random(seed))["m"]  # noqa: S311 - test data
        product = engine.items["matrix3.multiply"](a=m, b=engine.items["matrix3.invert"](m=m)["m"])["m"]
        assert np.abs(np.array(product) - np.array(IDENTITY)).max() < 2e-5


@pytest.mark.parametrize("candidate", ["adjugate-reciprocal", "adjugate-divide", "binary64"])
def test_the_inverse_undoes_scale_and_shear(candidate: str) -> None:
    engine = engine_of("matrix3.invert", candidate)
    m = (2.0, 0.25, 0.0, 0.0, -0.5, 1.0, 1.5, 0.0, 4.0, 10.0, -20.0, 0.5)
    product = engine.items["matrix3.multiply"](a=m, b=engine.items["matrix3.invert"](m=m)["m"])["m"]
    assert np.abs(np.array(product) - np.array(IDENTITY)).max() < 1e-5


@pytest.mark.parametrize("environment", ENVIRONMENT_IDS)
@pytest.mark.parametrize("candidate", ITEMS["matrix3.to_euler"])
def test_euler_angles_rebuild_the_matrix(candidate: str, environment: str) -> None:
    function = engine_of("matrix3.to_euler", candidate, environment).items["matrix3.to_euler"]
    chance = random.Random(3)  # noqa: S311 - test data
    for _ in range(60):
        angles = [chance.uniform(-3.0, 3.0), chance.uniform(-1.4, 1.4), chance.uniform(-3.0, 3.0)]
        m = (*(f32(x) for x in euler_rotation(angles).ravel().tolist()), 0.0, 0.0, 0.0)
        assert np.abs(np.array(function(m=m)["euler"]) - np.array(angles)).max() < 3e-6


def test_products_of_quaternions() -> None:
    """Unit quaternions: i * j = k for the textbook product in both orders of terms, j * i = -k for `reversed`."""
    i, j = (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)
    signs = {"hamilton": 1.0, "hamilton-vector-first": 1.0, "reversed": -1.0}
    for candidate, sign in signs.items():
        assert engine_of("quat.product", candidate).items["quat.product"](a=i, b=j)["q"] == (0.0, 0.0, sign, 0.0)


@pytest.mark.parametrize("candidate", ITEMS["quat.make_matrix"])
def test_a_zero_quaternion_makes_identity(candidate: str) -> None:
    """1 - 2*(0) on the diagonal; neither scaling nor normalising may divide by the zero norm."""
    function = engine_of("quat.make_matrix", candidate).items["quat.make_matrix"]
    assert function(q=(0.0, 0.0, 0.0, 0.0))["m"] == IDENTITY


def test_the_reversed_product_switches_the_swivel_off() -> None:
    """core-contracts.md 0: with swapped arguments ApplyRowQuat is the identity, which is why it cannot be right."""
    problem = made_problem(2)
    for candidate, same in (("hamilton", False), ("reversed", True)):
        engine = engine_of("quat.product", candidate)
        turns = [engine.solve_limb(replace(problem, swivel_angle=angle)).rot_xyz for angle in (0.25, 2.0)]
        assert np.allclose(turns[0] or (), turns[1] or (), atol=2e-3) is same  # acos noise: 6e-4


@pytest.mark.parametrize("item", ["point3.normalize", "point3.unify", "point3.length_unify"])
@pytest.mark.parametrize("candidate", ITEMS["point3.normalize"])
@pytest.mark.parametrize(
    ("rule", "expected"),
    [("unit_x", (1.0, 0.0, 0.0)), ("keep", (0.0, -0.0, 0.0)), ("zero", (0.0, 0.0, 0.0)), ("ieee", (math.nan,) * 3)],
)
def test_a_vector_of_zero_length(item: str, candidate: str, rule: str, expected: Vector) -> None:
    profile = CoreProfile().with_candidate(item, candidate).with_candidate("point3.zero_length", rule)
    out = ModelEngine(profile).items[item](v=(0.0, -0.0, 0.0))
    assert bits(out["v"]) == bits(expected)
    assert out.get("length", 0.0) == 0.0


def test_flength_of_a_tiny_vector_is_zero_and_the_other_lengths_are_not() -> None:
    """The square of 1e-23f underflows in the float parameter of Sqrt, not in the register (core-contracts.md 4)."""
    tiny = (f32(1e-23), 0.0, 0.0)
    for candidate in ITEMS["point3.length_unify"]:
        engine = ModelEngine(
            CoreProfile().with_candidate("point3.length_unify", candidate).with_candidate("point3.zero_length", "keep")
        )
        out = engine.items["point3.length_unify"](v=tiny)
        if candidate.startswith("flength"):
            assert out == {"v": tiny, "length": 0.0}
        else:
            assert out == {"v": (1.0, 0.0, 0.0), "length": tiny[0]}


def test_validate_flags_at_one_ulp_from_identity() -> None:
    item = "matrix3.validate_flags"
    exact, near = (engine_of(item, candidate).items[item] for candidate in ITEMS[item])
    one_ulp, moved = (step(1.0, 1), *IDENTITY[1:]), (*IDENTITY[:9], 1e-10, 0.0, 0.0)
    far, unknown = (1.001, *IDENTITY[1:]), (math.nan, *IDENTITY[1:])
    assert [exact(m=m)["flags"] for m in (IDENTITY, one_ulp, moved, far, unknown)] == [7, 1, 6, 1, 1]
    assert [near(m=m)["flags"] for m in (IDENTITY, one_ulp, moved, far, unknown)] == [7, 7, 7, 1, 1]


def test_skip_identity_returns_the_other_factor_unchanged() -> None:
    function = engine_of("matrix3.multiply", "skip-identity").items["matrix3.multiply"]
    odd = (-0.0, math.nan, *IDENTITY[2:])
    assert bits(function(a=IDENTITY, b=odd)["m"]) == bits(odd)
    assert bits(function(a=odd, b=IDENTITY)["m"]) == bits(odd)


def test_rotate_turns_the_translation_with_the_rows() -> None:
    turn = rotation("z", 0.5)
    for candidate in ITEMS["matrix3.rotate"]:
        function = engine_of("matrix3.rotate", candidate).items["matrix3.rotate"]
        m = vector_of(function(m=(*IDENTITY[:9], 1.0, 2.0, 3.0), axis="z", angle=0.5)["m"])
        assert np.allclose(m[:9], turn.ravel(), atol=1e-6)
        assert np.allclose(m[9:], np.array((1.0, 2.0, 3.0)) @ turn, atol=1e-6)
