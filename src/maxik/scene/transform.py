"""What sets a node's local transform: tracks, constraints to other nodes, lists of both.

A Transform is what 3ds Max calls a PRS controller, with whatever stands in its slots. Tracks depend on time alone;
constraints refer to other nodes by their index in Scene.nodes and are evaluated in world space (constraints.py), then
brought below the node's parent. Sources: max-format.md 5.2, core-contracts.md 2 and 9; what rests on no file that
3ds Max evaluated is said at each class, and readers name it as assumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from maxik.scene.tracks import Track

AXIS_ORDERS = ("xyz", "xzy", "yzx", "yxz", "zxy", "zyx", "xyx", "yzy", "zxz")
"""3ds Max's codes of Euler orders: the axis turned about first, second, third (core-contracts.md 2)."""


@dataclass(frozen=True)
class EulerRotation:
    """Rotation from three angle tracks (each size 1, radians) as row matrices, for axis order 0: R = Rx * Ry * Rz.

    Other orders (AXIS_ORDERS) multiply in the order of their letters. Each of the first six turns about its own axis by
    the track of that axis; in the last three, x, y and z are the first, second and third turn. Order 0 is proved on
    real files, no file has another.
    """

    x: Track
    y: Track
    z: Track
    axis_order: int = 0

    @property
    def turns(self) -> tuple[tuple[str, Track], ...]:
        """The turns in the order in which they act: axis letter and angle track."""
        letters = AXIS_ORDERS[self.axis_order]
        by_place = len(set(letters)) < 3  # noqa: PLR2004 - a letter stands twice
        names = "xyz" if by_place else letters
        return tuple((letter, getattr(self, name)) for letter, name in zip(letters, names, strict=True))


@dataclass(frozen=True)
class QuatRotation:
    """Rotation from a quaternion track (size 4: x, y, z, w) in 3ds Max's convention (quat.make_matrix gives the row matrix)."""

    quat: Track


@dataclass(frozen=True)
class LookAt:
    """A Look At controller: `axis` (0 x, 1 y, 2 z) points away from `target`, with `flip` at it; `roll` turns about it.

    World space, the world's z axis up: for axis z, x = unit(up x z), y = z x x, then x' = cos(roll) x + sin(roll) y.
    Proved on cameras exported by 3ds Max (axis z, no flip, no parent); other axes, flip and parents are assumed.
    """

    target: int
    roll: Track
    axis: int = 2
    flip: bool = False


@dataclass(frozen=True)
class OrientationConstraint:
    """World rotation of the targets, weighted; `local`: their local rotation becomes the local one. Assumed."""

    targets: tuple[int, ...]
    weights: tuple[Track, ...]
    local: bool = False


@dataclass(frozen=True)
class RotationList:
    """Rotations one in another: R = R(last) * ... * R(first), each turn's angle times its weight.

    A constraint does not turn further, it takes the place of what stands before it (blended by its weight), as a
    constraint added from 3ds Max's menu does: real lists hold both with weight 1. `average`: the weighted mean of all.
    All of it but a list with one working entry is assumed.
    """

    entries: tuple[Rotation, ...]
    weights: tuple[Track, ...]
    average: bool = False


@dataclass(frozen=True)
class PathPosition:
    """A Path Constraint: the weighted mean of the points of `paths` (nodes with a shape) at the fraction `percent`.

    `constant_velocity` takes the fraction of the curve's length, else every segment has an equal share. `loop` lets
    fractions outside 0..1 go round. Proved at fraction 0 (max-format-spline-ik.md S.4), else assumed.
    """

    paths: tuple[int, ...]
    weights: tuple[Track, ...]
    percent: Track
    constant_velocity: bool = False
    loop: bool = False


@dataclass(frozen=True)
class PositionConstraint:
    """The weighted mean of the targets' world positions, plus `offset` (world space, scene units). Assumed."""

    targets: tuple[int, ...]
    weights: tuple[Track, ...]
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class PositionList:
    """Positions added, each times its weight; a constraint takes the place of what stands before it, blended by its weight.

    `average`: the weighted mean of all. See RotationList; assumed but for sums with weights 1.
    """

    entries: tuple[Position, ...]
    weights: tuple[Track, ...]
    average: bool = False


Rotation = EulerRotation | QuatRotation | LookAt | OrientationConstraint | RotationList
Position = Track | PathPosition | PositionConstraint | PositionList


@dataclass(frozen=True)
class Transform:
    """A PRS controller: local = scale * rotation * translation (row vectors).

    `position` has size 3. `scale` is a track of size 3, `scale_axis` a track of size 4: the quaternion q of
    S = transpose(Q) * diag(s) * Q with Q = quat.make_matrix(q) (max-format.md 4).
    """

    position: Position
    rotation: Rotation
    scale: Track
    scale_axis: Track


@dataclass(frozen=True)
class Links:
    """A Link Constraint: from `times[i]` (ticks, rising) on, the node hangs below the node `targets[i]` (None: the world).

    At each link the node stays where it is: frame(t) = frame at the link * inverse(target then) * target(t); before the
    first link the frame is the node's parent. Assumed: no file with one is at hand.
    """

    times: tuple[int, ...]
    targets: tuple[int | None, ...]


def is_constraint(source: Position | Rotation) -> bool:
    """Tell whether a position or rotation is set by other nodes."""
    return isinstance(source, (LookAt, OrientationConstraint, PathPosition, PositionConstraint))


def nodes_of(source: Position | Rotation | None) -> tuple[int, ...]:
    """Return the nodes that a position or rotation refers to; for paths the nodes that bear the shapes."""
    if isinstance(source, LookAt):
        return (source.target,)
    if isinstance(source, (OrientationConstraint, PositionConstraint)):
        return source.targets
    if isinstance(source, PathPosition):
        return source.paths
    if isinstance(source, (RotationList, PositionList)):
        return tuple(node for entry in source.entries for node in nodes_of(entry))
    return ()


def paths_of(source: Position) -> tuple[int, ...]:
    """Return the nodes whose splines a position follows."""
    if isinstance(source, PositionList):
        return tuple(path for entry in source.entries for path in paths_of(entry))
    return source.paths if isinstance(source, PathPosition) else ()


def tracks_of(transform: Transform) -> Iterator[tuple[str, Track]]:
    """Yield every track of a transform with its name: "position", "rotation x", "rotation 2 weight", "path percent"..."""
    yield from _tracks("position", transform.position)
    yield from _tracks("rotation", transform.rotation)
    yield "scale", transform.scale
    yield "scale axis", transform.scale_axis


def _tracks(name: str, source: Position | Rotation) -> Iterator[tuple[str, Track]]:
    if isinstance(source, EulerRotation):
        yield from ((f"{name} {axis}", getattr(source, axis)) for axis in "xyz")
    elif isinstance(source, QuatRotation):
        yield f"{name} quaternion", source.quat
    elif isinstance(source, LookAt):
        yield "roll", source.roll
    elif isinstance(source, (RotationList, PositionList)):
        for place, (entry, weight) in enumerate(zip(source.entries, source.weights, strict=True), 1):
            yield from _tracks(f"{name} {place}", entry)
            yield f"{name} {place} weight", weight
    elif isinstance(source, (OrientationConstraint, PositionConstraint, PathPosition)):
        if isinstance(source, PathPosition):
            yield "path percent", source.percent
        yield from ((f"{name} weight {place}", weight) for place, weight in enumerate(source.weights, 1))
    else:
        yield name, source
