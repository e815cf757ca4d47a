"""Values between keys, for many times at once, in binary64: the formulae behind tracks.py.

Arrays: `values` (K, size) for K keys; results (F, size) for F times. Sources: max-format.md 5.3 (Bezier, verified
against values that 3ds Max cached), core-contracts.md 9 (TCB and ease, from a document only).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float64s = NDArray[np.float64]
Ints = NDArray[np.int64]

LINEAR, STEP = 1, 2
"""Bezier tangent types that have a rule of their own (max-format.md 5.3)."""
_THIRD = 1.0 / 3.0
_NEAR_THIRD = 1e-4
"""Two lengths up to this far from a third, as 3ds Max stores 0.3333, are thirds, and the time itself is the parameter: with
that rule 87 of 107 values cached between keys are exact to the bit (the others within 3 ulps, or 17 where the value almost
vanishes), without it 47. Beside an unset length 0.3333 counts as it stands: AnimatedSpotlights' own export shows it."""
_NEWTON_STEPS = 50


class Place(NamedTuple):
    """Where times lie among the keys: the key before (F,), ticks to the next key (F,), fraction of the way (F,)."""

    key: Ints
    span: Float64s
    fraction: Float64s


@dataclass(frozen=True)
class Handles:
    """Bezier handles of every key, each (K, size): tangents a tick, lengths as fractions of the segment."""

    in_tangents: Float64s
    out_tangents: Float64s
    in_lengths: Float64s
    out_lengths: Float64s


def locate(times: Ints, ticks: Ints) -> Place:
    """Return where `ticks` (F,) lie among `times` (K > 1,); outside the keys the end key's value is met exactly."""
    key = np.clip(np.searchsorted(times, ticks, side="right") - 1, 0, len(times) - 2)
    span = (times[key + 1] - times[key]).astype(np.float64)
    fraction = np.clip((ticks - times[key]) / span, 0.0, 1.0)
    return Place(key, span, fraction)


def linear(values: Float64s, place: Place) -> Float64s:
    """Return the straight line between keys, exact on both."""
    a, b = values[place.key], values[place.key + 1]
    s = place.fraction[:, None]
    return np.where(s == 0.0, a, np.where(s == 1.0, b, a + (b - a) * s))


def hold(values: Float64s, place: Place) -> Float64s:
    """Return the value of the key before."""
    return np.where(place.fraction[:, None] == 1.0, values[place.key + 1], values[place.key])


def bezier(values: Float64s, place: Place, handles: Handles, in_types: Ints, out_types: Ints) -> Float64s:
    """Return the Bezier curve between keys a and b.

    Its control points are (0, va), (la*dt, va + outa*la*dt), (dt - lb*dt, vb + inb*lb*dt), (dt, vb). Solves the time for
    the curve's parameter, then takes the value. A linear side takes the segment's slope instead of its stored tangent;
    a step holds the value of the key before.
    """
    a, b = place.key, place.key + 1
    va, vb = values[a], values[b]
    span = place.span[:, None]
    slope = (vb - va) / span
    out_length, in_length = _lengths(handles.out_lengths[a], handles.in_lengths[b])
    out_tangent = np.where(out_types[a, None] == LINEAR, slope, handles.out_tangents[a])
    in_tangent = np.where(in_types[b, None] == LINEAR, -slope, handles.in_tangents[b])
    s = np.broadcast_to(place.fraction[:, None], va.shape)
    u = _parameter(s, out_length, 1.0 - in_length)
    w = 1.0 - u
    near_a, near_b = va + out_tangent * out_length * span, vb + in_tangent * in_length * span
    curve = w * w * w * va + 3.0 * w * w * u * near_a + 3.0 * w * u * u * near_b + u * u * u * vb
    stepped = (out_types[a] == STEP) | (in_types[b] == STEP)
    curve = np.where(stepped[:, None], va, curve)
    return np.where(s == 0.0, va, np.where(s == 1.0, vb, curve))


def tcb(values: Float64s, place: Place, times: Float64s, parameters: Float64s) -> Float64s:
    """Return the Kochanek-Bartels curve with time-scaled tangents and ease; `parameters` (K, 5), see tracks.Tcb."""
    incoming, outgoing = _tangents(np.diff(values, axis=0), times, parameters)
    a, b = place.key, place.key + 1
    u = ease(place, parameters)[:, None]
    u2, u3 = u * u, u * u * u
    curve = (
        (2.0 * u3 - 3.0 * u2 + 1.0) * values[a]
        + (u3 - 2.0 * u2 + u) * outgoing[a]
        + (u3 - u2) * incoming[b]
        + (3.0 * u2 - 2.0 * u3) * values[b]
    )
    return np.where(u == 0.0, values[a], np.where(u == 1.0, values[b], curve))


def ease(place: Place, parameters: Float64s) -> Float64s:
    """Return the eased fraction (F,): parabola, line, parabola; ease out of the key before, ease in of the next."""
    start, end = parameters[place.key, 4], parameters[place.key + 1, 3]
    total = start + end
    scale = np.where(total > 1.0, total, 1.0)
    start, end = start / scale, end / scale
    k = 1.0 / (2.0 - start - end)
    s = place.fraction
    with np.errstate(divide="ignore", invalid="ignore"):
        rising = k / start * s * s
        falling = 1.0 - k / end * (1.0 - s) * (1.0 - s)
    middle = k * (2.0 * s - start)
    eased = np.where(s < start, rising, np.where(s > 1.0 - end, falling, middle))
    return np.where(total == 0.0, s, np.clip(eased, 0.0, 1.0))


def slerp(values: Float64s, place: Place, fraction: Float64s) -> Float64s:
    """Return unit quaternions (F, 4) between keys, the shorter way, exact on the keys."""
    turned = _between_two(values[place.key], values[place.key + 1], fraction)
    s = fraction[:, None]
    return np.where(s == 0.0, values[place.key], np.where(s == 1.0, values[place.key + 1], turned))


def _between_two(a: Float64s, b: Float64s, fraction: Float64s) -> Float64s:
    """Return the quaternion at a fraction (F,) of the shorter way from a to b, (F, 4) each."""
    cosine = np.einsum("ij,ij->i", a, b)
    b = np.where(cosine[:, None] < 0.0, -b, b)
    angle = np.arctan2(np.linalg.norm(b - a * np.abs(cosine)[:, None], axis=1), np.abs(cosine))
    sine = np.sin(angle)
    near = sine < 1e-9  # noqa: PLR2004 - so near that the chord is the arc in binary64
    safe = np.where(near, 1.0, sine)
    weight_a = np.where(near, 1.0 - fraction, np.sin((1.0 - fraction) * angle) / safe)
    weight_b = np.where(near, fraction, np.sin(fraction * angle) / safe)
    return weight_a[:, None] * a + weight_b[:, None] * b


def tcb_rotation(values: Float64s, place: Place, times: Float64s, parameters: Float64s) -> Float64s:
    """Return unit quaternions (F, 4) between TCB keys, exact on the keys.

    The turns from key to key, as logarithms, take the place of the chords of `tcb`; their tangents give the inner
    quaternions of a spherical cubic (Shoemake's squad, which is this one for tension, continuity and bias 0 at even keys).
    """
    q = values / np.linalg.norm(values, axis=1, keepdims=True)
    for key in range(1, len(q)):
        if q[key] @ q[key - 1] < 0.0:
            q[key] = -q[key]
    turns = _log(_product(_conjugate(q[:-1]), q[1:]))
    incoming, outgoing = _tangents(turns, times, parameters)
    after = np.concatenate([turns, turns[-1:]])
    before = np.concatenate([turns[:1], turns])
    leaving = _product(q, _exp(0.5 * (outgoing - after)))
    arriving = _product(q, _exp(0.5 * (before - incoming)))
    a, b = place.key, place.key + 1
    u = ease(place, parameters)
    whole = _between_two(q[a], q[b], u)
    inner = _between_two(leaving[a], arriving[b], u)
    turned = _between_two(whole, inner, 2.0 * u * (1.0 - u))
    s = place.fraction[:, None]
    return np.where(s == 0.0, values[a], np.where(s == 1.0, values[b], turned))


def _product(a: Float64s, b: Float64s) -> Float64s:
    """Return the Hamilton products of quaternions (K, 4)."""
    (ax, ay, az, aw), (bx, by, bz, bw) = a.T, b.T
    return np.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ],
        axis=1,
    )


def _conjugate(q: Float64s) -> Float64s:
    return np.concatenate([-q[:, :3], q[:, 3:]], axis=1)


def _log(q: Float64s) -> Float64s:
    """Return half turns as vectors (K, 3)."""
    sine = np.linalg.norm(q[:, :3], axis=1, keepdims=True)
    angle = np.arctan2(sine, q[:, 3:])
    scale: Float64s = np.divide(angle, sine, out=np.ones_like(sine), where=sine > 0.0)
    return q[:, :3] * scale


def _exp(v: Float64s) -> Float64s:
    angle = np.linalg.norm(v, axis=1, keepdims=True)
    return np.concatenate([v * np.sinc(angle / np.pi), np.cos(angle)], axis=1)


def _lengths(out_stored: Float64s, in_stored: Float64s) -> tuple[Float64s, Float64s]:
    """Return the out- and in-lengths of segments; where none is set (below 0) a third, and see _NEAR_THIRD."""
    unset_out, unset_in = out_stored < 0.0, in_stored < 0.0
    near_out, near_in = np.abs(out_stored - _THIRD) < _NEAR_THIRD, np.abs(in_stored - _THIRD) < _NEAR_THIRD
    thirds = near_out & near_in
    out_length = np.where(unset_out | thirds, _THIRD, np.minimum(out_stored, 1.0))
    in_length = np.where(unset_in | thirds, _THIRD, np.minimum(in_stored, 1.0))
    return out_length, in_length


def _parameter(s: Float64s, near_a: Float64s, near_b: Float64s) -> Float64s:
    """Return u in [0, 1] with x(u) = s on the cubic 0, near_a, near_b, 1; Newton steps kept inside a shrinking bracket."""
    u = s.copy()
    if (near_a == _THIRD).all() and (near_b == 1.0 - _THIRD).all():
        return u
    low, high = np.zeros_like(u), np.ones_like(u)
    for _ in range(_NEWTON_STEPS):
        w = 1.0 - u
        error = 3.0 * w * w * u * near_a + 3.0 * w * u * u * near_b + u * u * u - s
        slope = 3.0 * w * w * near_a + 6.0 * w * u * (near_b - near_a) + 3.0 * u * u * (1.0 - near_b)
        low, high = np.where(error < 0.0, u, low), np.where(error > 0.0, u, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = u - error / slope
        better = np.where((newton > low) & (newton < high), newton, 0.5 * (low + high))
        if np.array_equal(better, u):
            break
        u = np.where(error == 0.0, u, better)
    return u


def _tangents(chords: Float64s, times: Float64s, parameters: Float64s) -> tuple[Float64s, Float64s]:
    """Return (incoming, outgoing) tangents of every key, (K, size), for a segment scaled to unit time.

    `chords` (K - 1, size): what lies between neighbouring keys. The end keys take theirs from the neighbour's; two keys
    make a straight line scaled by 1 - tension.
    """
    tension, continuity, bias = (parameters[:, column, None] for column in range(3))
    incoming, outgoing = np.zeros((len(times), chords.shape[1])), np.zeros((len(times), chords.shape[1]))
    spans = np.diff(times)
    if len(times) > 2:  # noqa: PLR2004 - with an inner key
        before, after = chords[:-1], chords[1:]
        share = 2.0 / (spans[:-1] + spans[1:])
        t, c, b = tension[1:-1], continuity[1:-1], bias[1:-1]
        half = 0.5 * (1.0 - t)
        incoming[1:-1] = (half * (1.0 - c) * (1.0 + b) * before + half * (1.0 + c) * (1.0 - b) * after) * (share * spans[:-1])[
            :, None
        ]
        outgoing[1:-1] = (half * (1.0 + c) * (1.0 + b) * before + half * (1.0 - c) * (1.0 - b) * after) * (share * spans[1:])[
            :, None
        ]
        outgoing[0] = (1.0 - tension[0]) * (1.5 * chords[0] - 0.5 * incoming[1])
        incoming[-1] = (1.0 - tension[-1]) * (1.5 * chords[-1] - 0.5 * outgoing[-2])
    else:
        outgoing[0] = (1.0 - tension[0]) * chords[0]
        incoming[-1] = (1.0 - tension[-1]) * chords[0]
    return incoming, outgoing
