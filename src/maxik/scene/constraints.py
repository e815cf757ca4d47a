"""Constraints and lists as arithmetic over frames, in binary64: where other nodes put this one.

Points (F, 3), rotations as row matrices (F, 3, 3), weights (F, n). Sources and how sure they are: at each class of
transform.py.
"""

from __future__ import annotations

import numpy as np

from maxik.scene.turns import NO_LENGTH, Float64s, matrix_of, quat_of, unit

_UP = np.array([0.0, 0.0, 1.0])
_X = np.array([1.0, 0.0, 0.0])


def shares(weights: Float64s) -> Float64s:
    """Return the weights divided by their sum, (F, n); equal shares where the sum is nought."""
    total = weights.sum(axis=1, keepdims=True)
    empty = np.abs(total) < NO_LENGTH
    return np.where(empty, 1.0 / weights.shape[1], weights / np.where(empty, 1.0, total))


def mean_point(points: Float64s, weights: Float64s) -> Float64s:
    """Return the weighted mean of points (F, n, 3), (F, 3)."""
    return np.asarray(np.einsum("fn,fni->fi", shares(weights), points))


def mean_rotation(rotations: Float64s, weights: Float64s) -> Float64s:
    """Return the weighted mean of rotations (F, n, 3, 3): their quaternions added on one hemisphere, (F, 3, 3)."""
    quats = np.stack([quat_of(rotations[:, place]) for place in range(rotations.shape[1])], axis=1)
    side = np.sign(np.einsum("fni,fi->fn", quats, quats[:, 0]))
    added = np.einsum("fn,fni->fi", shares(weights) * np.where(side < 0.0, -1.0, 1.0), quats)
    return matrix_of(unit(added, np.array([0.0, 0.0, 0.0, 1.0])))


def look_at(position: Float64s, target: Float64s, roll: Float64s, axis: int, *, flip: bool) -> Float64s:
    """Return the rotation whose `axis` points from the target to the position (see transform.LookAt), (F, 3, 3).

    All in world space; roll (F,) radians. No turn where the target is at the position; straight above or below the
    target the next axis is the world's x.
    """
    away = (target - position) if flip else (position - target)
    seen = np.linalg.norm(away, axis=1) > NO_LENGTH
    along = unit(away, _UP)
    first = unit(np.cross(_UP, along), _X)
    second = np.cross(along, first)
    c, s = np.cos(roll)[:, None], np.sin(roll)[:, None]
    turned = np.empty((len(away), 3, 3))
    turned[:, axis] = along
    turned[:, (axis + 1) % 3] = c * first + s * second
    turned[:, (axis + 2) % 3] = c * second - s * first
    turned[~seen] = np.eye(3)
    return turned


def weighted_turn(rotation: Float64s, weight: Float64s) -> Float64s:
    """Return the rotation (F, 3, 3) with its angle times the weight (F,), the shorter way round."""
    quat = quat_of(rotation)
    quat = quat * np.where(quat[:, 3:] < 0.0, -1.0, 1.0)
    sine = np.linalg.norm(quat[:, :3], axis=1)
    half = np.arctan2(sine, quat[:, 3]) * weight
    axis = unit(quat[:, :3], _X)
    return matrix_of(np.concatenate([axis * np.sin(half)[:, None], np.cos(half)[:, None]], axis=1))


def unit_rows(matrices: Float64s) -> Float64s:
    """Return (F, 3, 3) with every row of length 1: the rotation of a TM without its scale."""
    return unit(matrices.reshape(-1, 3), _X).reshape(-1, 3, 3)
