"""Tracks: exact on keys, held outside them, and the curve that is meant in between."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxik.scene.tracks import (
    BezierTrack,
    ComponentsTrack,
    ConstantTrack,
    KeyedTrack,
    LinearTrack,
    SlerpTrack,
    StepTrack,
    SumTrack,
    TcbRotationTrack,
    TcbTrack,
)

THIRD = 1.0 / 3.0
FLAT = (0.0, 0.0, 0.0, 0.0, 0.0)
HALF_TURN = (0.0, 0.0, 1.0, 0.0)
NO_TURN = (0.0, 0.0, 0.0, 1.0)


def at(track: KeyedTrack, *ticks: int) -> list[list[float]]:
    rows: list[list[float]] = track.at(np.array(ticks, np.int64)).tolist()
    return rows


def bezier(  # noqa: PLR0913 - the parts of two keys
    values: tuple[float, float],
    out_tangent: float = 0.0,
    in_tangent: float = 0.0,
    out_length: float = THIRD,
    in_length: float = THIRD,
    *,
    out_type: int = 5,
    in_type: int = 5,
) -> BezierTrack:
    """Return two keys at 0 and 1000; tangents and lengths of the segment between."""
    return BezierTrack(
        (0, 1000),
        tuple((value,) for value in values),
        ((0.0,), (in_tangent,)),
        ((out_tangent,), (0.0,)),
        ((THIRD,), (in_length,)),
        ((out_length,), (THIRD,)),
        (5, in_type),
        (out_type, 5),
    )


KEYED: list[KeyedTrack] = [
    LinearTrack((0, 100, 1000), ((1.5,), (-2.0,), (7.0,))),
    StepTrack((0, 100, 1000), ((1.5,), (-2.0,), (7.0,))),
    TcbTrack((0, 100, 1000), ((1.5,), (-2.0,), (7.0,)), (FLAT, (0.5, 0.5, -0.5, 0.3, 0.3), FLAT)),
    bezier((1.5, 7.0), 0.01, 0.02, 0.5, 0.2),
    SlerpTrack((0, 100, 1000), (NO_TURN, (0.6, 0.0, 0.0, 0.8), HALF_TURN)),
    TcbRotationTrack((0, 100, 1000), (NO_TURN, (0.6, 0.0, 0.0, 0.8), HALF_TURN), (FLAT,) * 3),
]


@pytest.mark.parametrize("track", KEYED, ids=lambda track: type(track).__name__)
def test_a_track_meets_its_keys_exactly_and_holds_its_ends(track: KeyedTrack) -> None:
    wanted = np.array(track.values, np.float32).tolist()
    assert at(track, *track.times) == wanted
    assert at(track, -5000, 5000) == [wanted[0], wanted[-1]]
    assert track.key_range == (0, 1000)


def test_a_track_with_one_key_never_changes() -> None:
    track = LinearTrack((160,), ((3.0, 4.0, 5.0),))
    assert track.key_range is None
    assert at(track, 0, 1000) == [[3.0, 4.0, 5.0]]


def test_linear_and_step() -> None:
    assert at(LinearTrack((0, 10), ((0.0,), (1.0,))), 2, 5) == [[np.float32(0.2)], [0.5]]
    assert at(StepTrack((0, 10), ((0.0,), (1.0,))), 9, 10) == [[0.0], [1.0]]


def test_bezier_with_flat_tangents_is_the_smooth_step() -> None:
    u = 0.3
    assert at(bezier((0.0, 1.0)), 300)[0][0] == pytest.approx(3 * u * u - 2 * u * u * u, abs=1e-7)


def test_a_bezier_in_tangent_points_back_in_time() -> None:
    """Value t / 1000 with slope 0.001 on both keys: the handle before the second key lies below it."""
    track = bezier((0.0, 1.0), 0.001, -0.001)
    for tick in (100, 500, 900):
        assert at(track, tick)[0][0] == pytest.approx(tick / 1000, abs=1e-7)


def test_bezier_lengths_bend_the_time() -> None:
    """The curve is met at its own parameter: x(u) and y(u) computed forwards."""
    la, lb, out_tangent, in_tangent = 0.9, 0.05, 0.003, 0.004
    track = bezier((2.0, -1.0), out_tangent, in_tangent, la, lb)
    for u in np.linspace(0.05, 0.95, 19):
        w = 1 - u
        x = 3 * w * w * u * la + 3 * w * u * u * (1 - lb) + u**3
        y = 2 * w**3 + 3 * w * w * u * (2 + out_tangent * la * 1000) + 3 * w * u * u * (-1 + in_tangent * lb * 1000) - u**3
        before, after = at(track, int(np.floor(1000 * x)), int(np.ceil(1000 * x)))
        assert min(before[0], after[0]) - 1e-3 <= y <= max(before[0], after[0]) + 1e-3


def test_an_unset_bezier_length_is_a_third() -> None:
    unset, third = (bezier((0.0, 1.0), 0.002, 0.001, length, length) for length in (-1.0, THIRD))
    np.testing.assert_allclose(at(unset, 100, 400, 700), at(third, 100, 400, 700), rtol=1e-7)


def test_a_linear_side_ignores_its_stored_tangent() -> None:
    track = bezier((0.0, 1.0), 99.0, 99.0, out_type=1, in_type=1)
    assert at(track, 250)[0][0] == pytest.approx(0.25, abs=1e-7)


@pytest.mark.parametrize("side", ["out_type", "in_type"])
def test_a_step_holds_the_key_before(side: str) -> None:
    track = bezier((0.0, 1.0), **{side: 2})
    assert at(track, 999, 1000) == [[0.0], [1.0]]


def test_tcb_of_equal_steps_is_a_straight_line() -> None:
    track = TcbTrack((0, 100, 200, 300), ((0.0,), (1.0,), (2.0,), (3.0,)), (FLAT,) * 4)
    np.testing.assert_allclose(at(track, 50, 150, 250), [[0.5], [1.5], [2.5]], atol=1e-7)


def test_full_tension_stops_at_the_key() -> None:
    track = TcbTrack((0, 100, 200), ((0.0,), (1.0,), (5.0,)), (FLAT, (1.0, 0.0, 0.0, 0.0, 0.0), FLAT))
    below, above = at(track, 99, 101)
    assert abs(below[0] - 1.0) < 2e-3
    assert abs(above[0] - 1.0) < 2e-3


def test_ease_slows_the_start() -> None:
    plain = TcbTrack((0, 100), ((0.0,), (1.0,)), (FLAT, FLAT))
    eased = TcbTrack((0, 100), ((0.0,), (1.0,)), ((0.0, 0.0, 0.0, 0.0, 1.0), FLAT))
    assert at(eased, 20)[0][0] == pytest.approx(0.2**2, abs=1e-6)
    assert at(plain, 20)[0][0] == pytest.approx(0.2, abs=1e-6)


def test_slerp_turns_at_constant_speed_the_shorter_way() -> None:
    quarter = (0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4))
    track = SlerpTrack((0, 90), (NO_TURN, tuple(-c for c in quarter)))
    angle = np.radians(30)
    np.testing.assert_allclose(at(track, 30)[0], [0.0, 0.0, np.sin(angle / 2), np.cos(angle / 2)], atol=1e-7)


@given(st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=8), st.integers(0, 1000))
def test_slerp_stays_a_unit_quaternion(numbers: list[float], tick: int) -> None:
    ends = [np.array(numbers[:4]), np.array(numbers[4:])]
    if min(np.linalg.norm(end) for end in ends) < 0.1:
        return
    a, b = (tuple((end / np.linalg.norm(end)).tolist()) for end in ends)
    assert np.linalg.norm(at(SlerpTrack((0, 1000), (a, b)), tick)[0]) == pytest.approx(1.0, abs=1e-5)


def test_components_stand_side_by_side() -> None:
    track = ComponentsTrack((ConstantTrack((1.0,)), LinearTrack((0, 10), ((0.0,), (1.0,))), ConstantTrack((2.0,))))
    assert track.size == 3
    assert track.key_range == (0, 10)
    assert track.at(np.array([0, 5])).tolist() == [[1.0, 0.0, 2.0], [1.0, 0.5, 2.0]]
    still = ComponentsTrack((ConstantTrack((1.0,)), ConstantTrack((2.0,))))
    assert (still.key_range, still.at(np.array([0, 5])).tolist()) == (None, [[1.0, 2.0]])


@pytest.mark.parametrize(
    ("times", "values", "message"),
    [
        ((), (), "0 key times"),
        ((0, 1), ((1.0,),), "2 key times"),
        ((1, 1), ((1.0,),) * 2, "rising"),
        ((0, 1), ((1.0,), (1.0, 2.0)), "size"),
    ],
)
def test_keys_that_do_not_fit_are_refused(times: tuple[int, ...], values: tuple[tuple[float, ...], ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LinearTrack(times, values)


@pytest.mark.parametrize("length", [-1.0, THIRD, 0.3333])
def test_lengths_of_a_third_make_the_time_the_parameter(length: float) -> None:
    """3ds Max stores 0.3333 where it means a third: with both lengths so, the curve is the plain cubic in time."""
    track = bezier((0.0, 3.0), 1 / 256, 1 / 512, length, length)
    for tick in (100, 437, 900):
        u = tick / 1000
        cubic = 3 * (1 - u) ** 2 * u * (1000 / 256 / 3) + 3 * (1 - u) * u * u * (3 + 1000 / 512 / 3) + 3 * u**3
        assert at(track, tick)[0][0] == np.float32(cubic)


def test_a_length_of_0_3333_beside_an_unset_one_counts_as_it_stands() -> None:
    """Seen in an export of 3ds Max: the curve runs a little ahead of the plain cubic, by 3 u (1 - u)^2 / 30000."""
    u = 0.4
    ahead = 3 * u * (1 - u) ** 2 / 30000
    plain, mixed = (at(bezier((0.0, 1.0), out_length=length, in_length=-1.0), 400)[0][0] for length in (-1.0, 0.3333))
    assert mixed - plain == pytest.approx(ahead * 6 * u * (1 - u), rel=1e-2)


def test_a_tcb_rotation_about_one_axis_is_the_tcb_curve_of_its_angle() -> None:
    angles, times, tcb = (0.2, 0.9, 0.5), (0, 400, 1000), (FLAT, (0.2, 0.1, -0.3, 0.2, 0.1), FLAT)
    quats = tuple((0.0, 0.0, np.sin(angle / 2), np.cos(angle / 2)) for angle in angles)
    turned = TcbRotationTrack(times, quats, tcb).at(np.arange(0, 1001, 50)).astype(np.float64)
    curve = TcbTrack(times, tuple((angle,) for angle in angles), tcb).at(np.arange(0, 1001, 50))[:, 0]
    assert 2 * np.arctan2(turned[:, 2], turned[:, 3]) == pytest.approx(curve, abs=2e-2)
    assert np.linalg.norm(turned, axis=1) == pytest.approx(np.ones(21), abs=1e-6)


def test_a_sum_adds_its_tracks_times_their_weights() -> None:
    ramp = LinearTrack((0, 1000), ((0.0, 0.0), (10.0, 20.0)))
    still, half = ConstantTrack((1.0, 2.0)), ConstantTrack((0.5,))
    assert at_any(SumTrack((ramp, still), (half, half)), 500) == [[3.0, 6.0]]
    assert at_any(SumTrack((ramp, still), (ConstantTrack((3.0,)), ConstantTrack((1.0,))), average=True), 500) == [[4.0, 8.0]]
    assert SumTrack((ramp, still), (half, half)).key_range == (0, 1000)


def at_any(track: SumTrack, tick: int) -> list[list[float]]:
    rows: list[list[float]] = track.at(np.array([tick], np.int64)).tolist()
    return rows


def test_keyed_tracks_are_equal_when_all_their_bits_are() -> None:
    one, other = LinearTrack((0, 10), ((0.0,), (1.0,))), LinearTrack([0, 10], np.array([[0.0], [1.0]], np.float32))
    assert one == other
    assert one != LinearTrack((0, 10), ((-0.0,), (1.0,)))
    assert one != StepTrack((0, 10), ((0.0,), (1.0,)))
