"""Laws of constraints, lists and turns, on random input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxik.scene import constraints, turns
from maxik.scene.turns import Float64s

numbers = st.floats(-50.0, 50.0, allow_subnormal=False)
points = st.tuples(numbers, numbers, numbers).map(lambda point: np.array([point]))
quats = st.tuples(*[st.floats(-1.0, 1.0, allow_subnormal=False)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1)
rotations = quats.map(lambda q: turns.matrix_of(np.array([q]) / np.linalg.norm(q)))


def is_rotation(matrix: Float64s) -> bool:
    return bool(np.allclose(matrix @ matrix.transpose(0, 2, 1), np.eye(3), atol=1e-9) and (np.linalg.det(matrix) > 0.0).all())


@given(rotations)
def test_a_rotation_survives_the_way_through_its_quaternion(matrix: Float64s) -> None:
    assert np.allclose(turns.matrix_of(turns.quat_of(matrix)), matrix, atol=1e-9)


@given(rotations)
def test_a_rotation_is_the_product_of_its_euler_angles(matrix: Float64s) -> None:
    x, y, z = turns.euler_xyz(matrix)[0]
    product = np.eye(3)
    for axis, angle in enumerate((x, y, z)):
        j, k = (axis + 1) % 3, (axis + 2) % 3
        turn = np.eye(3)
        turn[j, j] = turn[k, k] = np.cos(angle)
        turn[j, k], turn[k, j] = np.sin(angle), -np.sin(angle)
        product = product @ turn
    assert np.allclose(product, matrix[0], atol=1e-6)


@given(points, points, st.floats(-4.0, 4.0), st.integers(0, 2), st.booleans())
def test_looking_at_a_target_is_a_rotation_along_the_line_to_it(
    here: Float64s,
    there: Float64s,
    roll: float,
    axis: int,
    flip: bool,  # noqa: FBT001 - drawn
) -> None:
    turned = constraints.look_at(here, there, np.array([roll]), axis, flip=flip)
    assert is_rotation(turned)
    line = here - there
    if np.linalg.norm(line) > 1e-6:
        assert turned[0, axis] * (-1.0 if flip else 1.0) == pytest.approx(line[0] / np.linalg.norm(line), abs=1e-9)


def test_looking_straight_down_keeps_the_world_s_axes() -> None:
    turned = constraints.look_at(np.array([[1.0, 2.0, 9.0]]), np.array([[1.0, 2.0, 3.0]]), np.zeros(1), 2, flip=False)
    assert turned[0].tolist() == np.eye(3).tolist()


@given(rotations, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_shares_of_a_turn_add_up(matrix: Float64s, first: float, second: float) -> None:
    if turns.quat_of(matrix)[0, 3] ** 2 < 1e-6:
        return  # half a turn has two shorter ways
    parts = [constraints.weighted_turn(matrix, np.array([weight])) for weight in (first, second, first + second)]
    assert np.allclose(parts[0] @ parts[1], parts[2], atol=1e-6)
    assert np.allclose(constraints.weighted_turn(matrix, np.ones(1)), matrix, atol=1e-9)


@given(rotations, rotations, st.floats(0.01, 5.0))
def test_a_mean_with_all_the_weight_on_one_is_that_one(a: Float64s, b: Float64s, weight: float) -> None:
    both = np.stack([a, b], axis=1)
    assert np.allclose(constraints.mean_rotation(both, np.array([[weight, 0.0]])), a, atol=1e-9)
    assert is_rotation(constraints.mean_rotation(both, np.array([[weight, 1.0]])))


def test_weights_without_a_sum_count_alike() -> None:
    assert constraints.shares(np.array([[0.0, 0.0], [1.0, 3.0], [1.0, -1.0]])).tolist() == [
        [0.5, 0.5],
        [0.25, 0.75],
        [0.5, 0.5],
    ]


def test_what_is_not_finite_stays_so() -> None:
    assert np.isnan(turns.unit(np.array([[np.nan, 0.0, 0.0]]), np.ones(3))).all()
