"""Spline IK chains: knots, curve and problem of every frame (max-format-spline-ik.md S.3, S.6; core-profile.md, spline items).

Knots moved by helpers lie at helper position * Inverse(object TM of the spline's node); their handles, and those of
"auto" knots, are recomputed by the sixths rule. Object TM = object offset * node TM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxik.problems import Engine, Float32s, SplineJoint, SplineProblem, Vector
from maxik.scene.ik import NOT_FINITE
from maxik.scene.scene import Shape
from maxik.scene.turns import Float64s

IDENTITY: Vector = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
Segments = tuple[tuple[Vector, Vector, Vector, Vector], ...]

TOO_LONG = "bones longer than the spline"
ZERO_BONE = "zero-length bone"
NO_POINT = "no point on the spline"
AUTO = 0
LENGTH_SAMPLES = 100
_DRAWN = 32


def segments_of(shape: Shape, knots: Float32s | None) -> Segments:
    """Return the cubic segments of a shape, object space; `knots` (K, 3): its knots where helpers carry them.

    A shape of one knot has no segment (unless closed, where it runs into itself).
    """
    points = np.array([knot.point for knot in shape.knots], np.float32) if knots is None else knots
    handles = auto_handles(points, closed=shape.closed)
    inward, outward = [], []
    for index, knot in enumerate(shape.knots):
        automatic = knot.kind == AUTO or knots is not None
        inward.append(handles[index][0] if automatic else knot.in_handle)
        outward.append(handles[index][1] if automatic else knot.out_handle)
    count = len(points)
    corners = [tuple(row) for row in points.tolist()]
    return tuple(
        (corners[i], outward[i], inward[(i + 1) % count], corners[(i + 1) % count])
        for i in range(count if shape.closed and count > 1 else count - 1)
    )


def auto_handles(points: Float32s, *, closed: bool) -> list[tuple[Vector, Vector]]:
    """Return (in, out) handle of every knot by spline.auto_handles `sixths`; binary64, rounded once to float32."""
    k = points.astype(np.float64)
    count = len(k)
    handles = []
    for i in range(count):
        if closed and count > 1:
            out = (k[(i + 1) % count] - k[i - 1]) / 6.0
            inward, outward = k[i] - out, k[i] + out
        elif count < 2:  # noqa: PLR2004 - a knot alone
            inward, outward = k[i], k[i]
        elif count == 2:  # noqa: PLR2004 - one segment: thirds
            other = k[1 - i]
            third = k[i] + (other - k[i]) / 3.0
            inward, outward = (k[i], third) if i == 0 else (third, k[i])
        elif i == 0:
            inward, outward = k[0], k[0] + (-3.0 * k[0] + 4.0 * k[1] - k[2]) / 6.0
        elif i == count - 1:
            inward, outward = k[-1] + (-3.0 * k[-1] + 4.0 * k[-2] - k[-3]) / 6.0, k[-1]
        else:
            out = (k[i + 1] - k[i - 1]) / 6.0
            inward, outward = k[i] - out, k[i] + out
        handles.append((_vector(inward), _vector(outward)))
    return handles


def points_at(engine: Engine, shape: Shape, knots: Float32s | None, u: Float32s) -> Float32s:
    """Return the points of the curve at `u` (F or 1, 1), (F, 3) in object space; the first knot where it has no segment."""
    frames = max(len(u), 1 if knots is None else len(knots))
    points = np.zeros((frames, 3), np.float32)
    for frame in range(frames):
        segments = segments_of(shape, None if knots is None else _frame(knots, frame))
        if segments:
            spline = {"closed": shape.closed, "segments": segments}
            found: Any = engine.items["spline.position"](spline=spline, u=float(_frame(u, frame)[0]), type=0)["point"]
            points[frame] = found
        else:
            points[frame] = shape.knots[0].point if knots is None else _frame(knots, frame)[0]
    return points


def by_length(shape: Shape, knots: Float32s | None, fraction: Float32s) -> Float32s:
    """Return the curve parameters (F or more, 1) at fractions of the curve's length (F, 1).

    Chords of LENGTH_SAMPLES a segment measure the length, binary64: 3ds Max's own table is unknown (core-contracts.md 8).
    The ends are met exactly; a curve without length keeps the fraction.
    """
    frames = max(len(fraction), 1 if knots is None else len(knots))
    found = np.empty((frames, 1), np.float32)
    table: tuple[Float64s, Float64s] | None = None
    for frame in range(frames):
        if table is None or knots is not None:
            table = _lengths(segments_of(shape, None if knots is None else _frame(knots, frame)))
        at, lengths = table
        wanted = float(_frame(fraction, frame)[0])
        inside = 0.0 < wanted < 1.0 and lengths[-1] > 0.0
        found[frame] = np.interp(wanted * lengths[-1], lengths, at) if inside else wanted
    return found


def curve_points(shape: Shape) -> Float64s:
    """Return points along a shape's curve, object space, (P, 3) binary64: 32 chords a segment, for drawing."""
    points = [np.array(shape.knots[:1][0].point, np.float64)[None]]
    t = np.linspace(0.0, 1.0, _DRAWN + 1)[1:, None]
    w = 1.0 - t
    for a, b, c, d in np.array(segments_of(shape, None), np.float64).reshape(-1, 4, 3):
        points.append(w * w * w * a + 3.0 * w * w * t * b + 3.0 * w * t * t * c + t * t * t * d)
    return np.concatenate(points)


def _lengths(segments: Segments) -> tuple[Float64s, Float64s]:
    """Return parameters from 0 to 1 and the length of the curve up to each."""
    samples = np.linspace(0.0, 1.0, LENGTH_SAMPLES + 1)[:, None]
    points = [np.zeros((0, 3))]
    for place, (a, b, c, d) in enumerate(np.array(segments, np.float64).reshape(-1, 4, 3)):
        t = samples[1:] if place else samples
        w = 1.0 - t
        points.append(w * w * w * a + 3.0 * w * w * t * b + 3.0 * w * t * t * c + t * t * t * d)
    chords = np.linalg.norm(np.diff(np.concatenate(points), axis=0), axis=1)
    lengths = np.concatenate([[0.0], np.cumsum(chords)])
    return np.linspace(0.0, 1.0, len(lengths)), lengths


def chain_plane(engine: Engine, joints: Sequence[SplineJoint]) -> tuple[Vector, Vector]:
    """Return (n0, a0) of the chain at its preferred pose, chain space (core-profile.md, spline.zero_map).

    a0 points to the end; n0 = Normalize(a0 ^ w), w the joint farthest from the line through a0, the first of equals.
    """
    items = engine.items
    frame: Any = IDENTITY
    positions: list[Vector] = []
    for joint in joints:
        for letter in reversed(joint.axes):
            if letter == "_":
                break
            frame = items["matrix3.pre_rotate"](m=frame, axis=letter, angle=joint.init["xyz".index(letter)])["m"]
        frame = items["matrix3.multiply"](a=(*IDENTITY[:9], *joint.t), b=frame)["m"]
        positions.append(tuple(frame[9:]))
    a0: Any = items["point3.normalize"](v=positions[-1])["v"]
    normals: list[Any] = [items["point3.cross"](a=a0, b=position)["v"] for position in positions[:-1]]
    normals = normals or [(0.0, 0.0, 0.0)]  # one bone: as for the limb
    lengths = [sum(c * c for c in normal) for normal in normals]
    farthest = max(range(len(lengths)), key=lambda i: lengths[i])
    n0: Any = items["point3.normalize"](v=normals[farthest])["v"]
    return n0, a0


@dataclass(frozen=True)
class SplineFrames:
    """What a spline chain needs of its nodes; arrays have F rows, or 1 where constant.

    `preferred`, `extends`: for each joint but the end, its preferred angles and the next joint's position (F, 3);
    `knots`: (F, K, 3) object space where helpers carry them, else None; matrices (F, 4, 3); `twists` (F, 2) radians.
    """

    shape: Shape
    preferred: tuple[Float32s, ...]
    extends: tuple[Float32s, ...]
    knots: Float32s | None
    object_tm: Float32s
    parent_matrix: Float32s
    twist_parent: Float32s | None
    twists: Float32s


@dataclass(frozen=True)
class SplineTake:
    """A spline chain solved over F frames: Euler XYZ of every bone (F, bones, 3), which frames were solved, and causes.

    `points` (F, bones + 1, 3): the accepted points, chain space, NaN past the last.
    """

    euler: Float32s
    points: Float32s
    solved: NDArray[np.bool_]
    causes: dict[str, NDArray[np.bool_]]


def solve_take(engine: Engine, frames: int, parts: SplineFrames) -> SplineTake:
    """Solve every frame; a frame whose inputs are those of the frame before takes over its solution."""
    bones = len(parts.extends)
    euler = np.full((frames, bones, 3), np.nan, np.float32)
    points = np.full((frames, bones + 1, 3), np.nan, np.float32)
    masks = {cause: np.zeros(frames, np.bool_) for cause in (TOO_LONG, ZERO_BONE, NO_POINT, NOT_FINITE)}
    joints: tuple[SplineJoint, ...] | None = None
    plane: tuple[Vector, Vector] = ((), ())
    problems: list[SplineProblem] = []
    place: list[int] = []
    for frame in range(frames):
        fresh = _joints(parts, frame)
        if fresh != joints:
            joints, plane = fresh, chain_plane(engine, fresh)
        problem = spline_problem(joints, plane, parts, frame)
        if not problems or problem != problems[-1]:
            problems.append(problem)
        place.append(len(problems) - 1)
    solutions = engine.solve_spline_take(problems)
    for frame, solution in enumerate(solutions[at] for at in place):
        masks[ZERO_BONE][frame] = 0.0 in solution.bone_lengths
        masks[NO_POINT][frame] = solution.euler is None
        if solution.euler is not None:
            euler[frame] = solution.euler
            points[frame, : len(solution.points)] = solution.points[: bones + 1]
            masks[TOO_LONG][frame] = len(solution.points) <= bones
            masks[NOT_FINITE][frame] = not np.isfinite(euler[frame]).all()
    return SplineTake(euler, points, ~masks[NO_POINT], {cause: mask for cause, mask in masks.items() if mask.any()})


def _joints(parts: SplineFrames, frame: int) -> tuple[SplineJoint, ...]:
    return tuple(
        SplineJoint(t=_row(extend, frame), axes="xyz", init=_row(preferred, frame))
        for extend, preferred in zip(parts.extends, parts.preferred, strict=True)
    )


def spline_problem(
    joints: tuple[SplineJoint, ...], plane: tuple[Vector, Vector], parts: SplineFrames, frame: int
) -> SplineProblem:
    """Return the problem of one frame."""
    start_twist, end_twist = _row(parts.twists, frame)
    return SplineProblem(
        joints=joints,
        closed=parts.shape.closed,
        segments=segments_of(parts.shape, None if parts.knots is None else _frame(parts.knots, frame)),
        object_tm=_row(parts.object_tm, frame),
        parent_matrix=_row(parts.parent_matrix, frame),
        twist_parent=IDENTITY if parts.twist_parent is None else _row(parts.twist_parent, frame),
        start_twist=start_twist,
        end_twist=end_twist,
        n0=plane[0],
        a0=plane[1],
    )


def _frame(array: Float32s, frame: int) -> Float32s:
    row: Float32s = array[frame if len(array) > 1 else 0]
    return row


def _row(array: Float32s, frame: int) -> Vector:
    return tuple(_frame(array, frame).reshape(-1).tolist())


def _vector(point: Any) -> Vector:  # noqa: ANN401 - a numpy row
    return tuple(np.asarray(point, np.float32).astype(float).tolist())
