"""A scene at many ticks: node TMs, chains solved parents first, angles written back.

Everything is evaluated for all frames at once: an array has F rows, or 1 where nothing changes over the take. Node
arithmetic is the engine's, in float32: local = scale * rotation * translation, world = local * parent's world (row
vectors; core-contracts.md 9, max-format.md 4). The order of evaluation follows from what depends on what; a cycle (a
goal below the chain that it drives) is a SceneError that names its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter

import numpy as np

from maxik.errors import SceneError
from maxik.problems import Engine, Float32s
from maxik.scene import ik, spline_ik
from maxik.scene.motion import BakedScene, ChainMotion, NodeMotion, UnsolvedChain
from maxik.scene.scene import (
    Chain,
    EulerRotation,
    Node,
    PathPosition,
    QuatRotation,
    Scene,
    Shape,
    SplineGoal,
    Transform,
)
from maxik.scene.tracks import Ticks

_Step = tuple[str, int]
_NODE, _CHAIN = "node", "chain"
_IDENTITY_QUAT = (0.0, 0.0, 0.0, 1.0)


def evaluate(
    scene: Scene, ticks: Ticks, engine: Engine, frame_rate: float, progress: Callable[[int, int], None] | None = None
) -> BakedScene:
    """Evaluate every node and every chain of `scene` at `ticks` (F,) int64, for frames of `frame_rate` a second.

    `progress` is called with (steps done, steps in all). Raises SceneError for a chain that does not hang together
    and for cyclic dependencies.
    """
    joints = [ik.chain_joints(scene, chain) for chain in scene.chains]
    solved, unsolved = _sort_chains(scene, joints)
    steps = _order(scene, solved, joints)
    state = _State(scene, ticks, engine)
    for done, (kind, index) in enumerate(steps):
        if kind == _CHAIN:
            state.solve(index, joints[index])
        else:
            state.place(index)
        if progress is not None:
            progress(done + 1, len(steps))
    return BakedScene(
        scene=scene,
        ticks=ticks,
        frame_rate=frame_rate,
        nodes=tuple(state.motions[index] for index in range(len(scene.nodes))),
        chains=tuple(state.finished(index) for index in solved),
        unsolved=tuple(unsolved),
    )


def _sort_chains(scene: Scene, joints: list[tuple[int, ...]]) -> tuple[list[int], list[UnsolvedChain]]:
    """Return the chains to solve, in file order, and the others with their reasons."""
    solved: list[int] = []
    unsolved: list[UnsolvedChain] = []
    driven: dict[int, str] = {}
    for index, chain in enumerate(scene.chains):
        reason = ik.why_not_solved(scene, chain, joints[index], driven)
        if reason is not None:
            unsolved.append(UnsolvedChain(index, reason))
            continue
        solved.append(index)
        driven.update(dict.fromkeys(joints[index][:-1], chain.name))
    return solved, unsolved


def _order(scene: Scene, solved: list[int], joints: list[tuple[int, ...]]) -> list[_Step]:
    """Return nodes and chains so that everything stands after what it depends on."""
    graph: dict[_Step, set[_Step]] = {}
    for index, node in enumerate(scene.nodes):
        above = [] if node.parent is None else [node.parent]
        graph[_NODE, index] = {(_NODE, needed) for needed in above + _curve_nodes(scene, node.on_path)}
    for index in solved:
        chain = scene.chains[index]
        start = scene.nodes[chain.start]
        nodes = [start.parent, *_curve_nodes(scene, chain.spline), *_curve_nodes(scene, start.on_path)]
        if chain.spline is None:
            nodes += [chain.goal, chain.vh_target]
        else:
            nodes.append(chain.spline.up_node)
        needs = {(_NODE, needed) for needed in nodes if needed is not None}
        graph[_CHAIN, index] = needs
        for joint in joints[index][:-1]:
            graph[_NODE, joint].add((_CHAIN, index))
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        names = [
            f"chain {scene.chains[index].name!r}" if kind == _CHAIN else f"node {scene.nodes[index].name!r}"
            for kind, index in error.args[1]
        ]
        message = f"cyclic dependency, each needs the next: {' -> '.join(reversed(names))}"
        raise SceneError(message, file=scene.file) from error


def _curve_nodes(scene: Scene, user: PathPosition | SplineGoal | None) -> list[int]:
    """Return the nodes that make a curve: the shape's own and the helpers that carry its knots."""
    if user is None:
        return []
    shape = scene.nodes[user.shape].shape
    return [user.shape, *(shape.helpers if shape else ())]


@dataclass
class _State:
    """What has been evaluated so far."""

    scene: Scene
    ticks: Ticks
    engine: Engine
    motions: dict[int, NodeMotion] = field(default_factory=dict)
    solved_euler: dict[int, tuple[str, Float32s]] = field(default_factory=dict)
    chain_motions: dict[int, ChainMotion] = field(default_factory=dict)

    def place(self, index: int) -> None:
        """Evaluate one node: its parent and the chain that drives it have been evaluated."""
        node = self.scene.nodes[index]
        position = self._position(index)
        scale = node.transform.scale.at(self.ticks)
        scale_axis = node.transform.scale_axis.at(self.ticks)
        euler, rotation = self._rotation(index, node)
        local = rotation
        scaling = _scale_matrix(self.engine, scale, scale_axis)
        if scaling is not None:
            local = self.engine.multiply(*_rows(scaling, local))
        local = _with_translation(local, position)
        world = local
        if node.parent is not None:
            world = self.engine.multiply(*_rows(local, self.motions[node.parent].world_tm))
        self.motions[index] = NodeMotion(
            position=position,
            rotation=np.ascontiguousarray(rotation[:, :3]),
            euler=euler,
            scale=scale,
            scale_axis=scale_axis,
            local_tm=local,
            world_tm=world,
            solved_by=(self.solved_euler[index][0],) if index in self.solved_euler else (),
        )

    def _position(self, index: int) -> Float32s:
        """Return a node's local position, (F, 3): its controller's, or the point of the path that it is bound to."""
        node = self.scene.nodes[index]
        shape = None if node.on_path is None else self.scene.nodes[node.on_path.shape].shape
        if node.on_path is None or shape is None:
            return node.transform.position.at(self.ticks)
        knots, object_tm = self._curve(node.on_path.shape, shape)
        percent = node.on_path.percent.at(self.ticks)
        on_curve = spline_ik.points_at(self.engine, shape, knots, percent)
        point = self.engine.transform_points(*_rows(on_curve, object_tm))
        if node.parent is None:
            return point
        return self.engine.transform_points(*_rows(point, self.engine.invert(self.motions[node.parent].world_tm)))

    def _curve(self, index: int, shape: Shape) -> tuple[Float32s | None, Float32s]:
        """Return the knots that helpers carry, (F, K, 3) in object space or None, and the object TM, (F, 4, 3)."""
        object_tm = self.motions[index].world_tm
        if shape.offset is not None:
            object_tm = self.engine.multiply(*_rows(self._local(shape.offset), object_tm))
        if not shape.helpers:
            return None, object_tm
        to_object = self.engine.invert(object_tm)
        in_world = (np.ascontiguousarray(self.motions[helper].world_tm[:, 3]) for helper in shape.helpers)
        knots = [self.engine.transform_points(*_rows(point, to_object)) for point in in_world]
        return np.stack(_rows(*knots), axis=1), object_tm

    def _local(self, transform: Transform) -> Float32s:
        """Return scale * rotation * translation of a transform with a quaternion rotation, (F, 4, 3)."""
        assert isinstance(transform.rotation, QuatRotation)  # noqa: S101 - object offsets are stored so
        local = self.engine.quat_matrix(transform.rotation.quat.at(self.ticks))
        scaling = _scale_matrix(self.engine, transform.scale.at(self.ticks), transform.scale_axis.at(self.ticks))
        if scaling is not None:
            local = self.engine.multiply(*_rows(scaling, local))
        return _with_translation(local, transform.position.at(self.ticks))

    def _rotation(self, index: int, node: Node) -> tuple[Float32s | None, Float32s]:
        """Return the Euler XYZ angles (None for quaternion controllers) and the rotation as (F, 4, 3)."""
        if index in self.solved_euler:
            euler = self.solved_euler[index][1]
            return euler, self.engine.euler_matrix(euler)
        rotation = node.transform.rotation
        if isinstance(rotation, EulerRotation):
            euler = _euler(rotation, self.ticks)
            return euler, self.engine.euler_matrix(euler)
        return None, self.engine.quat_matrix(rotation.quat.at(self.ticks))

    def solve(self, index: int, joints: tuple[int, ...]) -> None:
        """Solve one chain over all frames and keep the joints' angles; disabled frames keep the FK angles."""
        chain = self.scene.chains[index]
        if chain.spline is not None:
            self._solve_spline(index, chain, chain.spline, joints)
            return
        frames = len(self.ticks)
        take = ik.limb_take(self.engine, frames, chain, self._chain_frames(chain, joints))
        solution = self.engine.solve_limb_take(take)
        solved = ik.solved_frames(chain, self.ticks, solution)
        self._write_back(chain, joints, ik.joint_angles(take, solution), solved)
        self.chain_motions[index] = ChainMotion(
            chain=index,
            solved=solved,
            goal_in_chain=take.goal.reshape(-1, 4, 3),
            goal_distance=np.linalg.norm(take.goal[:, 9:].astype(np.float64), axis=1).astype(np.float32),
            reach=ik.reach(take)[0].astype(np.float32),
            goal_miss=np.zeros(0, np.float32),
            joints=joints[:-1],
            causes={cause: mask & solved for cause, mask in ik.degenerate_frames(take, solution).items()},
        )

    def _write_back(self, chain: Chain, joints: tuple[int, ...], angles: Sequence[Float32s], solved: ik.Mask) -> None:
        """Keep each joint's solved Euler angles (F, 3); frames that were not solved keep the FK angles."""
        for joint, found in zip(joints, angles, strict=False):
            rotation = self.scene.nodes[joint].transform.rotation
            if solved.all():
                euler = found
            elif isinstance(rotation, EulerRotation):
                euler = np.where(solved[:, None], found, _euler(rotation, self.ticks)).astype(np.float32)
            else:
                message = "an IK joint that is not solved in every frame needs an Euler XYZ controller"
                raise SceneError(message, file=self.scene.file, node=self.scene.nodes[joint].name)
            self.solved_euler[joint] = (chain.name, euler)

    def _solve_spline(self, index: int, chain: Chain, goal: SplineGoal, joints: tuple[int, ...]) -> None:
        """Solve a Spline IK chain over all frames (spec 4, max-format-spline-ik.md S.6)."""
        shape = self.scene.nodes[goal.shape].shape
        assert shape is not None  # noqa: S101 - ik.why_not_solved has refused chains without one
        knots, object_tm = self._curve(goal.shape, shape)
        twists = [track.at(self.ticks) for track in (goal.start_twist, goal.end_twist)]
        parts = spline_ik.SplineFrames(
            shape=shape,
            preferred=self._preferred(joints),
            extends=tuple(self._extend(joints, place) for place in range(1, len(joints))),
            knots=knots,
            object_tm=object_tm,
            parent_matrix=self._parent_matrix(chain),
            twist_parent=None if goal.up_node is None else self.motions[goal.up_node].world_tm,
            twists=np.concatenate(_rows(*twists), axis=1),
        )
        take = spline_ik.solve_take(self.engine, len(self.ticks), parts)
        solved = ik.enabled_frames(chain, self.ticks) & take.solved
        self._write_back(
            chain, joints, [np.ascontiguousarray(take.euler[:, bone]) for bone in range(take.euler.shape[1])], solved
        )
        nothing = np.zeros(0, np.float32)
        self.chain_motions[index] = ChainMotion(
            chain=index,
            solved=solved,
            goal_in_chain=np.zeros((0, 4, 3), np.float32),
            goal_distance=nothing,
            reach=nothing,
            goal_miss=nothing,
            joints=joints[:-1],
            causes=take.causes,
        )

    def finished(self, index: int) -> ChainMotion:
        """Return a chain's motion with the distance from its end joint to its goal, now that both are placed."""
        chain = self.scene.chains[index]
        if chain.spline is not None:
            return self.chain_motions[index]
        end = self.motions[chain.end].world_tm[:, 3].astype(np.float64)
        goal = self.motions[chain.goal].world_tm[:, 3].astype(np.float64)
        miss = np.broadcast_to(np.linalg.norm(end - goal, axis=1), len(self.ticks))
        return replace(self.chain_motions[index], goal_miss=miss.astype(np.float32))

    def _chain_frames(self, chain: Chain, joints: tuple[int, ...]) -> ik.ChainFrames:
        """Gather what the chain needs; spaces as in ik.py."""
        to_chain = self.engine.invert(self._parent_matrix(chain))
        target = None
        if chain.vh_target is not None:
            target_in_world = np.ascontiguousarray(self.motions[chain.vh_target].world_tm[:, 3])
            target = self.engine.transform_points(*_rows(target_in_world, to_chain))
        return ik.ChainFrames(
            preferred=self._preferred(joints),
            extends=tuple(self._extend(joints, place) for place in range(1, len(joints))),
            goal_in_chain=self.engine.multiply(*_rows(self.motions[chain.goal].world_tm, to_chain)),
            vh_target_in_chain=target,
            swivel=chain.swivel.at(self.ticks),
        )

    def _preferred(self, joints: tuple[int, ...]) -> tuple[Float32s, ...]:
        """Return the preferred angles of every joint but the end, (F, 3)."""
        preferred = []
        for index in joints[:-1]:
            joint = self.scene.nodes[index].joint
            assert joint is not None  # noqa: S101 - ik.why_not_solved has refused chains with such joints
            preferred.append(joint.preferred.at(self.ticks))
        return tuple(preferred)

    def _parent_matrix(self, chain: Chain) -> Float32s:
        """Return Translation(start position) * ParentTM(start), (F, 4, 3)."""
        start = self.scene.nodes[chain.start]
        origin = _with_translation(np.eye(4, 3, dtype=np.float32)[None], self._position(chain.start))
        if start.parent is None:
            return origin
        return self.engine.multiply(*_rows(origin, self.motions[start.parent].world_tm))

    def _extend(self, joints: tuple[int, ...], place: int) -> Float32s:
        """Return the position of joints[place] in the frame of the joint before it, scaled (ik.rigid_extension)."""
        extend = self.scene.nodes[joints[place]].transform.position.at(self.ticks)
        if self.engine.profile["ik.rigid_extension"] == "translation":
            return extend
        for index in reversed(joints[:place]):
            transform = self.scene.nodes[index].transform
            scaling = _scale_matrix(self.engine, transform.scale.at(self.ticks), transform.scale_axis.at(self.ticks))
            if scaling is not None:
                extend = self.engine.transform_points(*_rows(extend, scaling))
        return extend


def _euler(rotation: EulerRotation, ticks: Ticks) -> Float32s:
    """Return the angles x, y, z as (F, 3) radians, (1, 3) when none of them moves."""
    angles = [track.at(ticks) for track in (rotation.x, rotation.y, rotation.z)]
    return np.concatenate(_rows(*angles), axis=1)


def _scale_matrix(engine: Engine, scale: Float32s, scale_axis: Float32s) -> Float32s | None:
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
    return engine.multiply(*_rows(engine.multiply(*_rows(transposed, diagonal)), q))


def _with_translation(matrix: Float32s, position: Float32s) -> Float32s:
    matrix, position = _rows(matrix, position)
    matrix = matrix.copy()
    matrix[:, 3] = position
    return matrix


def _rows(*arrays: Float32s) -> list[Float32s]:
    """Return the arrays with the same number of rows, C-contiguous; one row stands for all frames."""
    rows = max(len(array) for array in arrays)
    return [np.ascontiguousarray(np.broadcast_to(array, (rows, *array.shape[1:]))) for array in arrays]
