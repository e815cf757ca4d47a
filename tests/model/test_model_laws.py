"""Laws of the model for any float32 operands, NaN and infinities included: it never raises, and it answers in float32."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_cases import bits, made_problem

from maxik.model.engine import ModelEngine
from maxik.numerics.float32 import f32, same_bits
from maxik.problems import GOAL, START_JOINT, STATUSES, LimbProblem, Vector
from maxik.profile import ENVIRONMENT_IDS, ITEMS, CoreProfile

FLOATS = st.floats(width=32, allow_nan=True, allow_infinity=True)
VECTORS = st.tuples(*[FLOATS] * 3)
MATRICES = st.tuples(*[FLOATS] * 12)
SEGMENTS = st.lists(st.tuples(*[VECTORS] * 4), min_size=1, max_size=3).map(tuple)
OPERANDS: dict[str, st.SearchStrategy[Any]] = {
    "v": VECTORS,
    "n0": VECTORS,
    "a0": VECTORS,
    "m": MATRICES,
    "q": st.tuples(*[FLOATS] * 4),
    "angle": FLOATS,
    "type": st.sampled_from((0, 1)),
    "spline": st.fixed_dictionaries({"closed": st.booleans(), "segments": SEGMENTS}),
}
ENGINES = [
    ModelEngine(CoreProfile().with_candidate("environment", environment).with_candidate(item, candidate))
    for item, candidates in ITEMS.items()
    for candidate in candidates
    for environment in ENVIRONMENT_IDS
]
PROBLEMS = st.builds(
    LimbProblem,
    link_count=st.sampled_from((3, 3, 0, 1)),
    root_init_xyz=VECTORS,
    root_extend=VECTORS,
    links_init_zyx=VECTORS,
    links_extend=VECTORS,
    goal=st.one_of(MATRICES, MATRICES, st.none()),
    swivel_parent=st.sampled_from((GOAL, START_JOINT)),
    swivel_angle=FLOATS,
    vh_target=st.one_of(st.none(), VECTORS),
    n0=VECTORS,
    a0=VECTORS,
)


def operand(item: str, name: str) -> st.SearchStrategy[Any]:
    """Return the values that an item's operand may have."""
    if name == "axis":
        return st.sampled_from("xyz") if item in ("matrix3.pre_rotate", "matrix3.rotate") else VECTORS
    if name in ("a", "b"):
        return {"point3.cross": VECTORS, "quat.product": OPERANDS["q"]}.get(item, MATRICES)
    return OPERANDS.get(name, FLOATS)


def all_float32(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(all_float32, value))
    return isinstance(value, int) or (type(value) is float and same_bits(f32(value), value))


@pytest.mark.parametrize("item", sorted(ModelEngine().items))
@settings(deadline=None)  # the time of a first call is no law
@given(data=st.data())
def test_an_item_never_raises_and_gives_float32(item: str, data: st.DataObject) -> None:
    engine = data.draw(st.sampled_from(ENGINES))
    names = list(inspect.signature(engine.items[item]).parameters)
    out = engine.items[item](**{name: data.draw(operand(item, name), name) for name in names})
    assert all(map(all_float32, out.values()))


@settings(deadline=None)
@given(problem=PROBLEMS, engine=st.sampled_from(ENGINES))
def test_a_solve_never_raises_and_gives_float32(problem: LimbProblem, engine: ModelEngine) -> None:
    solution = engine.solve_limb(problem)
    assert solution.status in STATUSES
    assert (solution.rot_xyz is not None) is (solution.status == "success")
    assert (solution.dof_zyx is not None) is (solution.status == "success" and problem.link_count == 3)
    assert all_float32(solution.rot_xyz or ())
    assert all_float32(solution.dof_zyx or ())


@settings(deadline=None)
@given(problem=PROBLEMS, engine=st.sampled_from(ENGINES))
def test_a_solve_is_stateless(problem: LimbProblem, engine: ModelEngine) -> None:
    first = engine.solve_limb(problem)
    engine.solve_limb(made_problem(3))
    second = engine.solve_limb(problem)
    assert [bits(part) for part in vars(first).values()] == [bits(part) for part in vars(second).values()]


@settings(deadline=None)
@given(problem=PROBLEMS, goal=MATRICES)
def test_the_rotation_of_the_goal_is_not_looked_at_in_start_joint_space(problem: LimbProblem, goal: Vector) -> None:
    """The limb solver has no end-effector rotation (spec 3): only the goal's translation counts, VH target included."""
    engine = ModelEngine()
    unrotated = replace(problem, swivel_parent=START_JOINT, goal=goal)
    turned = replace(unrotated, goal=(math.nan,) * 9 + goal[9:])
    assert bits(engine.solve_limb(turned).rot_xyz) == bits(engine.solve_limb(unrotated).rot_xyz)
