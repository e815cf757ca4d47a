"""Tracks of a baked node, a key a frame: what the exporter writes for the nodes that it samples (nel-facts.md 1.2 to 1.6).

The node's local TM is split into turn, position and scale; 3ds Max's own decomposition is not modelled, so last bits of the
turn are those of the bake's rotation matrix, taken to a quaternion in binary64. From there on the exporter's steps: w
negated, float32, normalised twice, put on the hemisphere of the key before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxik.errors import SceneError
from maxik.formats.nel.naming import first_of_equal, seconds
from maxik.formats.nel.packing import make_closest, normalise
from maxik.formats.nel.tracks import KeyFramer, key_records
from maxik.scene.motion import BakedScene, NodeMotion, same_rows
from maxik.scene.turns import Float64s, matrix_of, quat_of, unit

Float32s = NDArray[np.float32]

_NO_TURN = np.array([0.0, 0.0, 0.0, 1.0])


def sampled_tracks(baked: BakedScene, index: int) -> dict[str, KeyFramer]:
    """Return a node's tracks by name, in file order: `scale` where it is not 1 throughout, `rotquat`, `pos`.

    LinearVector and LinearQuat, one key for each tick of the bake; scene units, rotation of NeL's convention. SceneError,
    with node and tick, where a value is not finite.
    """
    motion = baked.nodes[index]
    _refuse_non_finite(baked, index)
    tracks = {}
    scale = scales(motion)
    if (scale != 1.0).any():
        tracks["scale"] = _linear("LinearVector", baked, scale)
    tracks["rotquat"] = _linear("LinearQuat", baked, rotations(motion))
    tracks["pos"] = _linear("LinearVector", baked, motion.position)
    return tracks


def rotations(motion: NodeMotion) -> Float32s:
    """Return the turns of a node's local TM as keys, (F, 4) float32, NeL's convention.

    Of a mirrored TM it is the turn of the negated matrix; axes that only a pair of negative scales reverses turn by a
    half (1.4).
    """
    turned, scale, scale_axis = (
        part.astype(np.float64) for part in same_rows(motion.rotation, motion.scale, motion.scale_axis)
    )
    signs = np.where(scale < 0.0, -1.0, 1.0) * _mirrored(scale)[:, None]
    if (signs < 0.0).any():
        axes = matrix_of(unit(scale_axis, _NO_TURN))
        turned = axes.transpose(0, 2, 1) @ (signs[:, :, None] * axes) @ turned
    nel = _signed(quat_of(turned) * (1.0, 1.0, 1.0, -1.0))
    return make_closest(normalise(normalise(nel.astype(np.float32))))


def scales(motion: NodeMotion) -> Float32s:
    """Return NeL's scales (F, 3) float32: the diagonal of the stretch of the local TM, all negative where it mirrors (1.4)."""
    scale, scale_axis = (part.astype(np.float64) for part in same_rows(motion.scale, motion.scale_axis))
    stretch = _mirrored(scale)[:, None] * np.abs(scale)
    return diagonal(stretch, scale_axis)


def diagonal(scale: Float64s, scale_axis: Float64s) -> Float32s:
    """Return the diagonal (F, 3) of scales (F, 3) along axes given by quaternions (F, 4), rounded once to float32."""
    axes = matrix_of(unit(scale_axis, _NO_TURN))
    found: Float64s = np.sum(axes * axes * scale[:, :, None], axis=1)
    uniform = np.ptp(scale, axis=1, keepdims=True) == 0.0
    return np.where(uniform, scale, found).astype(np.float32)


def _mirrored(scale: Float64s) -> Float64s:
    """Return -1 where an odd number of scales is negative, else 1."""
    return np.where((scale < 0.0).sum(axis=1) % 2 == 1, -1.0, 1.0)


def _signed(q: Float64s) -> Float64s:
    """Return quaternions with the sign that real skeletons have for 98 % of their bones.

    w is negative where it is half or more, as the 3ds Max quaternion's is positive; else the largest other one is negative.
    """
    largest = np.take_along_axis(q, np.argmax(np.abs(q[:, :3]), axis=1)[:, None], axis=1)[:, 0]
    return np.where((np.where(np.abs(q[:, 3]) >= 0.5, q[:, 3], largest) > 0.0)[:, None], -q, q)  # noqa: PLR2004


def _linear(kind: str, baked: BakedScene, values: Float32s) -> KeyFramer:
    times = seconds(baked.ticks)
    kept = first_of_equal(times)
    rows = np.broadcast_to(values, (len(times), values.shape[1]))
    return KeyFramer(kind, key_records(kind, times[kept], value=rows[kept]), times[:1], times[-1:])


def _refuse_non_finite(baked: BakedScene, index: int) -> None:
    for what in ("position", "rotation", "scale", "scale_axis"):
        values = getattr(baked.nodes[index], what)
        finite = np.isfinite(values).reshape(len(values), -1).all(axis=1)
        if not finite.all():
            message = f"the {what} is not finite, which an animation cannot hold"
            raise SceneError(
                message,
                file=baked.scene.file,
                node=baked.scene.nodes[index].name,
                tick=int(baked.ticks[int(np.argmin(finite))]),
                hint="bake a range without that frame, or to .npz, which keeps it",
            )
