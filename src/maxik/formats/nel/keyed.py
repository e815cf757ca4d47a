"""Tracks of a node's own keys, as the exporter copies them for a node that it does not sample (nel-facts.md 1.1, 1.7).

Linear, Bezier and TCB controllers of position, rotation and scale give tracks; Euler angles, lists, constraints and what
an IK chain sets give none, and here a reason. Keys are copied whole, whatever the range of the bake.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maxik.formats.nel.naming import first_of_equal, seconds
from maxik.formats.nel.sampled import diagonal
from maxik.formats.nel.tracks import KeyFramer, key_records
from maxik.scene import tracks as t
from maxik.scene.interpolate import STEP
from maxik.scene.scene import TICKS_PER_SECOND, Node
from maxik.scene.transform import EulerRotation, LookAt, Position, QuatRotation, Rotation, RotationList
from maxik.scene.turns import Float64s

Float32s = NDArray[np.float32]

PARTS = {"scale": "scale", "rotquat": "rotation", "pos": "position"}
"""The last part of a track's name -> the part of a node's transform."""
_WITHOUT_KEYS = "no keys"
_TCB = ("tension", "continuity", "bias", "ease_to", "ease_from")


@dataclass(frozen=True)
class Unwritten:
    """Why a part of a node has no track; `still`: it is a plain value, so that nothing that moves is missing."""

    why: str
    still: bool = False


Written = KeyFramer | Unwritten


def keyed_rotation(rotation: Rotation) -> Written:
    """Return the track of a rotation's keys: LinearQuat with w negated, TCBQuat with axis and negated angle."""
    if isinstance(rotation, QuatRotation):
        track = rotation.quat
        if isinstance(track, t.SlerpTrack):
            return _framer("LinearQuat", track, value=_values(track) * np.array([1, 1, 1, -1], np.float32))
        if isinstance(track, t.TcbRotationTrack):
            axis, angle = _turns(_values(track).astype(np.float64))
            return _framer("TCBQuat", track, axis=axis, angle=-angle, **_tcb(track))
        return Unwritten(_WITHOUT_KEYS, still=True)
    if isinstance(rotation, EulerRotation):
        return Unwritten("Euler angles")
    if isinstance(rotation, LookAt):
        return Unwritten("look-at")
    return Unwritten("list" if isinstance(rotation, RotationList) else "constraint")


def keyed_position(position: Position) -> Written:
    """Return the track of a position's keys: LinearVector, BezierVector (tangents a second), TCBVector; scene units."""
    if not isinstance(position, (t.KeyedTrack, t.ConstantTrack, t.ComponentsTrack, t.SumTrack)):
        return Unwritten("list or constraint")
    return _vector(position, _values_of(position), np.float32(TICKS_PER_SECOND))


def keyed_scale(scale: t.Track, scale_axis: t.Track) -> Written:
    """Return the track of a scale's keys, the diagonal of the stretch; Bezier tangents stay as they are, a tick."""
    values = _values_of(scale)
    if values is not None and isinstance(scale, t.KeyedTrack):
        axes = np.broadcast_to(scale_axis.at(np.asarray(scale.times, np.int64)).astype(np.float64), (len(values), 4))
        values = diagonal(values.astype(np.float64), axes)
    return _vector(scale, values, np.float32(1.0))


def _vector(track: t.Track, values: Float32s | None, a_second: np.float32) -> Written:
    if values is not None:
        if isinstance(track, t.LinearTrack):
            return _framer("LinearVector", track, value=values)
        if isinstance(track, t.TcbTrack):
            return _framer("TCBVector", track, value=values, **_tcb(track))
        if isinstance(track, t.BezierTrack):
            tangents = {
                "in": np.asarray(track.in_tangents, np.float32) * a_second,
                "out": np.asarray(track.out_tangents, np.float32) * a_second,
            }
            return _framer("BezierVector", track, value=values, step=np.asarray(track.out_types) == STEP, **tangents)
    if isinstance(track, t.ConstantTrack):
        return Unwritten(_WITHOUT_KEYS, still=True)
    return Unwritten("list" if isinstance(track, t.SumTrack) else "XYZ components")


def _framer(kind: str, track: t.KeyedTrack, **fields: NDArray[np.generic]) -> KeyFramer:
    times = seconds(np.asarray(track.times))
    kept = first_of_equal(times)
    return KeyFramer(kind, key_records(kind, times, **fields)[kept], times[:1], times[-1:])


def _values(track: t.KeyedTrack) -> Float32s:
    return np.asarray(track.values, np.float32)


def _values_of(track: t.Track) -> Float32s | None:
    return _values(track) if isinstance(track, t.KeyedTrack) else None


def _tcb(track: t.TcbTrack | t.TcbRotationTrack) -> dict[str, NDArray[np.generic]]:
    return dict(zip(_TCB, np.asarray(track.tcb, np.float32).T, strict=True))


def _turns(q: Float64s) -> tuple[Float32s, Float32s]:
    """Return axes (K, 3) and angles (K,) in radians, up to a half turn, that lead from key to key; the first from no turn.

    A turn acts on the key before as the interpolation of such tracks has it (interpolate.tcb_rotation).
    """
    before = np.concatenate([[[0.0, 0.0, 0.0, 1.0]], q[:-1]])
    (ax, ay, az, aw), (bx, by, bz, bw) = before.T, q.T
    turn = np.stack(
        [
            aw * bx - ax * bw - ay * bz + az * by,
            aw * by + ax * bz - ay * bw - az * bx,
            aw * bz - ax * by + ay * bx - az * bw,
            aw * bw + ax * bx + ay * by + az * bz,
        ],
        axis=1,
    )
    turn = np.where(turn[:, 3:] < 0.0, -turn, turn)
    sine = np.linalg.norm(turn[:, :3], axis=1)
    axis = np.divide(turn[:, :3], sine[:, None], out=np.tile([1.0, 0.0, 0.0], (len(q), 1)), where=sine[:, None] > 0.0)
    return axis.astype(np.float32), (2.0 * np.arctan2(sine, turn[:, 3])).astype(np.float32)


def of_node(node: Node) -> dict[str, Written]:
    """Return what the exporter makes of a node's transform, by track name, in file order."""
    transform = node.transform
    found = {
        "scale": keyed_scale(transform.scale, transform.scale_axis),
        "rotquat": keyed_rotation(transform.rotation),
        "pos": keyed_position(transform.position),
    }
    return {part: Unwritten("list") if PARTS[part] in node.lists else written for part, written in found.items()}
