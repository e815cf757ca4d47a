"""Nodes at many ticks: local position and rotation from tracks, constraints and lists, and the world TM.

Every array has F rows, or 1 where nothing changes over the take. Node arithmetic is the engine's, in float32: local =
scale * rotation * translation, world = local * parent's world (row vectors; core-contracts.md 9, max-format.md 4).
Constraints are computed in binary64 from float32 TMs and rounded once (constraints.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from maxik.errors import SceneError
from maxik.problems import Engine, Float32s
from maxik.scene import constraints, spline_ik, turns
from maxik.scene.motion import NodeMotion, same_rows
from maxik.scene.scene import Scene, Shape
from maxik.scene.tracks import Ticks, Track
from maxik.scene.transform import (
    EulerRotation,
    Links,
    LookAt,
    OrientationConstraint,
    PathPosition,
    Position,
    PositionConstraint,
    PositionList,
    QuatRotation,
    Rotation,
    RotationList,
    Transform,
    is_constraint,
)
from maxik.scene.turns import Float64s

_IDENTITY_QUAT = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class SolvedAngles:
    """What a chain gives a joint: Euler XYZ (F, 3) radians, the frames (F,) in which they count, the chain's name."""

    chain: str
    euler: Float32s
    solved: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


@dataclass
class Placing:
    """Places nodes one after another; what a node depends on has been placed before (evaluate.py sees to that)."""

    scene: Scene
    ticks: Ticks
    engine: Engine
    motions: dict[int, NodeMotion] = field(default_factory=dict)
    solved: dict[int, SolvedAngles] = field(default_factory=dict)

    def place(self, index: int) -> None:
        """Evaluate one node."""
        node = self.scene.nodes[index]
        position = self.position(index)
        scale = node.transform.scale.at(self.ticks)
        scale_axis = node.transform.scale_axis.at(self.ticks)
        euler, rotation = self._rotation_of(index, position)
        local = rotation
        scaling = scale_matrix(self.engine, scale, scale_axis)
        if scaling is not None:
            local = self.engine.multiply(*same_rows(scaling, local))
        local = with_translation(local, position)
        world = local
        if node.links is not None:
            world = self.engine.multiply(*same_rows(local, self._frame(index, node.links)))
            local = world
            if node.parent is not None:
                local = self.engine.multiply(*same_rows(world, self.engine.invert(self.motions[node.parent].world_tm)))
            position = np.ascontiguousarray(local[:, 3])
            rotation = _as_tm(constraints.unit_rows(local[:, :3].astype(np.float64)))
            euler = None
        elif node.parent is not None:
            world = self.engine.multiply(*same_rows(local, self.motions[node.parent].world_tm))
        self.motions[index] = NodeMotion(
            position=position,
            rotation=np.ascontiguousarray(rotation[:, :3]),
            euler=euler,
            scale=scale,
            scale_axis=scale_axis,
            local_tm=local,
            world_tm=world,
            solved_by=(self.solved[index].chain,) if index in self.solved else (),
        )

    # ---- position ----

    def position(self, index: int) -> Float32s:
        """Return a node's local position, (F, 3) or (1, 3)."""
        return self._local_position(index, self.scene.nodes[index].transform.position)

    def _local_position(self, index: int, source: Position) -> Float32s:
        if isinstance(source, PositionList):
            return self._listed_position(index, source)
        if isinstance(source, PathPosition):
            return self._below_parent(index, self._on_paths(source))
        if isinstance(source, PositionConstraint):
            points = [self.motions[target].world_tm[:, 3].astype(np.float64) for target in source.targets]
            return self._below_parent(index, (self._mean_point(points, source.weights) + source.offset).astype(np.float32))
        return source.at(self.ticks)

    def _listed_position(self, index: int, source: PositionList) -> Float32s:
        points = [self._local_position(index, entry).astype(np.float64) for entry in source.entries]
        if source.average:
            return self._mean_point(points, source.weights).astype(np.float32)
        weights = self._weights(source.weights)
        position = np.zeros((1, 3))
        for entry, point, weight in zip(source.entries, points, weights.T[:, :, None], strict=True):
            position = position + (point - position if is_constraint(entry) else point) * weight
        return position.astype(np.float32)

    def _mean_point(self, points: Sequence[Float64s], tracks: Sequence[Track]) -> Float64s:
        weights = self._weights(tracks)
        rows = max(len(weights), *map(len, points))
        stacked = np.stack([np.broadcast_to(point, (rows, 3)) for point in points], axis=1)
        return constraints.mean_point(stacked, np.broadcast_to(weights, (rows, len(points))))

    def _weights(self, tracks: Sequence[Track]) -> Float64s:
        """Return the weights side by side, (F, n)."""
        return np.concatenate(same_rows(*(track.at(self.ticks) for track in tracks)), axis=1).astype(np.float64)

    def _below_parent(self, index: int, point: Float32s) -> Float32s:
        """Return world points in the space of the node's parent."""
        parent = self.scene.nodes[index].parent
        if parent is None:
            return point
        return self.engine.transform_points(*same_rows(point, self.engine.invert(self.motions[parent].world_tm)))

    def _on_paths(self, source: PathPosition) -> Float32s:
        """Return the points of a Path Constraint in world space, (F, 3); of one path exactly as the engine gives them."""
        points = [self._on_path(source, path) for path in source.paths]
        if len(points) == 1:
            return points[0]
        return self._mean_point([point.astype(np.float64) for point in points], source.weights).astype(np.float32)

    def _on_path(self, source: PathPosition, path: int) -> Float32s:
        shape = self.scene.nodes[path].shape
        if shape is None:
            message = "a Path Constraint follows this node, which has no spline"
            raise SceneError(message, file=self.scene.file, node=self.scene.nodes[path].name)
        knots, object_tm = self.curve(path, shape)
        u = source.percent.at(self.ticks)
        if source.loop:
            u = np.where((u < 0.0) | (u > 1.0), u - np.floor(u), u).astype(np.float32)
        u = np.clip(u, np.float32(0.0), np.float32(1.0))
        if source.constant_velocity:
            u = spline_ik.by_length(shape, knots, u)
        on_curve = spline_ik.points_at(self.engine, shape, knots, u)
        return self.engine.transform_points(*same_rows(on_curve, object_tm))

    def curve(self, index: int, shape: Shape) -> tuple[Float32s | None, Float32s]:
        """Return the knots that helpers carry, (F, K, 3) in object space or None, and the object TM, (F, 4, 3)."""
        object_tm = self.motions[index].world_tm
        if shape.offset is not None:
            object_tm = self.engine.multiply(*same_rows(self._offset(shape.offset), object_tm))
        if not shape.helpers:
            return None, object_tm
        to_object = self.engine.invert(object_tm)
        in_world = (np.ascontiguousarray(self.motions[helper].world_tm[:, 3]) for helper in shape.helpers)
        knots = [self.engine.transform_points(*same_rows(point, to_object)) for point in in_world]
        return np.stack(same_rows(*knots), axis=1), object_tm

    def _offset(self, transform: Transform) -> Float32s:
        """Return the object offset, scale * rotation * translation with constant quaternion rotation, (1, 4, 3)."""
        assert isinstance(transform.rotation, QuatRotation)  # noqa: S101 - object offsets are stored so
        local = self.engine.quat_matrix(transform.rotation.quat.at(self.ticks))
        scaling = scale_matrix(self.engine, transform.scale.at(self.ticks), transform.scale_axis.at(self.ticks))
        if scaling is not None:
            local = self.engine.multiply(*same_rows(scaling, local))
        return with_translation(local, self._local_position(-1, transform.position))

    # ---- chains ----

    def preferred(self, joints: tuple[int, ...]) -> tuple[Float32s, ...]:
        """Return the preferred angles of every joint of a chain but the end, (F, 3) or (1, 3) radians; each is a joint."""
        preferred = []
        for index in joints[:-1]:
            joint = self.scene.nodes[index].joint
            assert joint is not None  # noqa: S101 - solvable.py has refused chains with such nodes
            preferred.append(joint.preferred.at(self.ticks))
        return tuple(preferred)

    def extends(self, joints: tuple[int, ...]) -> tuple[Float32s, ...]:
        """Return the position of every joint of a chain but the start in the frame of the one before it, (F, 3) or (1, 3).

        It is scaled by the scales of the chain's joints before it, unless the profile says otherwise (ik.rigid_extension).
        """
        return tuple(self._extend(joints, place) for place in range(1, len(joints)))

    def _extend(self, joints: tuple[int, ...], place: int) -> Float32s:
        extend = self.position(joints[place])
        if self.engine.profile["ik.rigid_extension"] == "translation":
            return extend
        for index in reversed(joints[:place]):
            transform = self.scene.nodes[index].transform
            scaling = scale_matrix(self.engine, transform.scale.at(self.ticks), transform.scale_axis.at(self.ticks))
            if scaling is not None:
                extend = self.engine.transform_points(*same_rows(extend, scaling))
        return extend

    # ---- rotation ----

    def _rotation_of(self, index: int, position: Float32s) -> tuple[Float32s | None, Float32s]:
        """Return the Euler XYZ angles (None where the rotation is no Euler XYZ) and the local rotation as (F, 4, 3)."""
        source = self.scene.nodes[index].transform.rotation
        if index not in self.solved:
            return self._fk_euler(source), self._rotation(index, source, position)
        found = self.solved[index]
        if found.solved.all():
            return found.euler, self.engine.euler_matrix(found.euler)
        fk = self._rotation(index, source, position)
        angles = self._fk_euler(source)
        if angles is None:
            angles = turns.euler_xyz(fk[:, :3].astype(np.float64)).astype(np.float32)
        euler = np.where(found.solved[:, None], found.euler, angles).astype(np.float32)
        matrix = np.where(found.solved[:, None, None], self.engine.euler_matrix(found.euler), fk).astype(np.float32)
        return euler, matrix

    def _fk_euler(self, source: Rotation) -> Float32s | None:
        """Return the angles of an Euler XYZ rotation, (F, 3) radians, (1, 3) when none of them moves."""
        if not isinstance(source, EulerRotation) or source.axis_order:
            return None
        angles = [track.at(self.ticks) for track in (source.x, source.y, source.z)]
        return np.concatenate(same_rows(*angles), axis=1)

    def _rotation(self, index: int, source: Rotation, position: Float32s) -> Float32s:
        if isinstance(source, QuatRotation):
            return self.engine.quat_matrix(source.quat.at(self.ticks))
        if isinstance(source, EulerRotation):
            euler = self._fk_euler(source)
            return self._turns(source) if euler is None else self.engine.euler_matrix(euler)
        if isinstance(source, RotationList):
            return self._listed(index, source, position)
        if isinstance(source, LookAt):
            return self._looking(index, source, position)
        return self._oriented(index, source)

    def _turns(self, source: EulerRotation) -> Float32s:
        """Return the product of an Euler rotation's turns in an order other than XYZ."""
        product: Float32s | None = None
        for letter, track in source.turns:
            angle = track.at(self.ticks)
            euler = np.zeros((len(angle), 3), np.float32)
            euler[:, "xyz".index(letter)] = angle[:, 0]
            turn = self.engine.euler_matrix(euler)
            product = turn if product is None else self.engine.multiply(*same_rows(product, turn))
        assert product is not None  # noqa: S101 - there are three turns
        return product

    def _listed(self, index: int, source: RotationList, position: Float32s) -> Float32s:
        turns = [self._rotation(index, entry, position) for entry in source.entries]
        weights = self._weights(source.weights)
        if source.average:
            return _as_tm(self._mean_rotation([turn[:, :3].astype(np.float64) for turn in turns], weights))
        product = _as_tm(np.eye(3)[None])
        for place, (entry, turn) in enumerate(zip(source.entries, turns, strict=True)):
            if is_constraint(entry):
                turn = self.engine.multiply(*same_rows(turn, self.engine.invert(product)))  # noqa: PLW2901 - what is left to turn
            product = self.engine.multiply(*same_rows(_weighted(turn, weights[:, place]), product))
        return product

    def _mean_rotation(self, rotations: Sequence[Float64s], weights: Float64s) -> Float64s:
        rows = max(len(weights), *map(len, rotations))
        stacked = np.stack([np.broadcast_to(rotation, (rows, 3, 3)) for rotation in rotations], axis=1)
        return constraints.mean_rotation(stacked, np.broadcast_to(weights, (rows, len(rotations))))

    def _looking(self, index: int, source: LookAt, local: Float32s) -> Float32s:
        parent = self.scene.nodes[index].parent
        here = local if parent is None else self.engine.transform_points(*same_rows(local, self.motions[parent].world_tm))
        there = np.ascontiguousarray(self.motions[source.target].world_tm[:, 3])
        rows = same_rows(here, there, source.roll.at(self.ticks))
        position, target, roll = (array.astype(np.float64) for array in rows)
        turned = constraints.look_at(position, target, roll[:, 0], source.axis, flip=source.flip)
        return self._turned_below_parent(index, turned)

    def _oriented(self, index: int, source: OrientationConstraint) -> Float32s:
        motions = [self.motions[target] for target in source.targets]
        rotations = [
            constraints.unit_rows((motion.rotation if source.local else motion.world_tm[:, :3]).astype(np.float64))
            for motion in motions
        ]
        mean = rotations[0] if len(rotations) == 1 else self._mean_rotation(rotations, self._weights(source.weights))
        return _as_tm(mean) if source.local else self._turned_below_parent(index, mean)

    def _turned_below_parent(self, index: int, rotation: Float64s) -> Float32s:
        """Return a world rotation (F, 3, 3) as the local one, (F, 4, 3): without the parent's scale."""
        parent = self.scene.nodes[index].parent
        if parent is None:
            return _as_tm(rotation)
        above = constraints.unit_rows(self.motions[parent].world_tm[:, :3].astype(np.float64))
        rows = max(len(rotation), len(above))
        rotation, above = np.broadcast_to(rotation, (rows, 3, 3)), np.broadcast_to(above, (rows, 3, 3))
        return _as_tm(rotation @ above.transpose(0, 2, 1))

    # ---- links ----

    def _frame(self, index: int, links: Links) -> Float32s:
        """Return the TM that stands in for the parent's under a Link Constraint, (F, 4, 3); see transform.Links.

        The ticks include every link's time (evaluate.py), where the frame changes hands without a jump.
        """
        parent = self.scene.nodes[index].parent
        frames = len(self.ticks)

        def world(node: int | None) -> Float32s:
            tm = np.eye(4, 3, dtype=np.float32)[None] if node is None else self.motions[node].world_tm
            return np.ascontiguousarray(np.broadcast_to(tm, (frames, 4, 3)))

        frame = world(parent).copy()
        for time, target in zip(links.times, links.targets, strict=True):
            tm = world(target)
            at = int(np.flatnonzero(self.ticks == time)[0])
            offset = self.engine.multiply(frame[at : at + 1], self.engine.invert(tm[at : at + 1]))
            later = self.ticks >= time
            frame[later] = self.engine.multiply(*same_rows(offset, np.ascontiguousarray(tm[later])))
        return frame


def scale_matrix(engine: Engine, scale: Float32s, scale_axis: Float32s) -> Float32s | None:
    """Return S = transpose(Q) * diag(s) * Q as (F, 4, 3), or None when it is the identity (max-format.md 4)."""
    if (scale == np.float32(1.0)).all():
        return None
    diagonal = np.zeros((len(scale), 4, 3), np.float32)
    for axis in range(3):
        diagonal[:, axis, axis] = scale[:, axis]
    uniform = (scale == scale[:, :1]).all()
    if uniform or (scale_axis == np.array(_IDENTITY_QUAT, np.float32)).all():
        return diagonal
    q = engine.quat_matrix(scale_axis)
    transposed = np.zeros_like(q)
    transposed[:, :3] = q[:, :3].transpose(0, 2, 1)
    return engine.multiply(*same_rows(engine.multiply(*same_rows(transposed, diagonal)), q))


def with_translation(matrix: Float32s, position: Float32s) -> Float32s:
    """Return the TMs (F, 4, 3) with their last row set to `position`."""
    matrix, position = same_rows(matrix, position)
    matrix = matrix.copy()
    matrix[:, 3] = position
    return matrix


def _weighted(turn: Float32s, weight: Float64s) -> Float32s:
    """Return turns (F, 4, 3) with their angles times the weight (F,)."""
    if (weight == 1.0).all():
        return turn
    rows = max(len(turn), len(weight))
    whole = np.broadcast_to(turn[:, :3].astype(np.float64), (rows, 3, 3))
    return _as_tm(constraints.weighted_turn(whole, np.broadcast_to(weight, (rows,))))


def _as_tm(rotation: Float64s) -> Float32s:
    """Return rotations (F, 3, 3) as float32 TMs without translation, (F, 4, 3)."""
    tm = np.zeros((len(rotation), 4, 3), np.float32)
    tm[:, :3] = rotation
    return tm
