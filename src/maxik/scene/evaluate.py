"""A scene at many ticks: nodes placed (placing.py), chains solved parents first, angles written back.

Everything is evaluated for all frames at once: an array has F rows, or 1 where nothing changes over the take. The
order of evaluation follows from what depends on what; a cycle (a goal below the chain that it drives) is a SceneError
that names its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from maxik.problems import Engine, Float32s
from maxik.scene import ik, spline_ik
from maxik.scene.dependencies import CHAIN, order
from maxik.scene.motion import BakedScene, ChainMotion, first_frames, same_rows
from maxik.scene.placing import Placing, SolvedAngles, with_translation
from maxik.scene.scene import Chain, Scene, SplineGoal
from maxik.scene.solvable import sort_chains
from maxik.scene.tracks import Ticks


def evaluate(
    scene: Scene, ticks: Ticks, engine: Engine, frame_rate: float, progress: Callable[[int, int], None] | None = None
) -> BakedScene:
    """Evaluate every node and every chain of `scene` at `ticks` (F,) int64, for frames of `frame_rate` a second.

    `progress` is called with (steps done, steps in all). Raises SceneError for a chain that does not hang together
    and for cyclic dependencies.
    """
    joints = [ik.chain_joints(scene, chain) for chain in scene.chains]
    solved, unsolved = sort_chains(scene, ticks, engine)
    steps = order(scene, solved, joints)
    all_ticks = _with_link_ticks(scene, ticks)
    placing = Placing(scene, all_ticks, engine)
    state = _State(scene, all_ticks, engine, placing)
    with np.errstate(all="ignore"):  # what is not finite is named by the certificate
        for done, (kind, index) in enumerate(steps):
            if kind == CHAIN:
                state.solve(index, joints[index])
            else:
                placing.place(index)
            if progress is not None:
                progress(done + 1, len(steps))
        chains = [state.finished(index) for index in solved]
    frames = len(ticks)
    return BakedScene(
        scene=scene,
        ticks=ticks,
        frame_rate=frame_rate,
        nodes=tuple(first_frames(placing.motions[index], frames) for index in range(len(scene.nodes))),
        chains=tuple(first_frames(chain, frames) for chain in chains),
        unsolved=tuple(unsolved),
    )


def _with_link_ticks(scene: Scene, ticks: Ticks) -> Ticks:
    """Return the ticks and, after them, the times of Link Constraints, at which a node changes hands."""
    times = {time for node in scene.nodes if node.links for time in node.links.times} - set(ticks.tolist())
    return np.concatenate([ticks, np.array(sorted(times), np.int64)])


@dataclass
class _State:
    """What has been evaluated so far."""

    scene: Scene
    ticks: Ticks
    engine: Engine
    placing: Placing
    chain_motions: dict[int, ChainMotion] = field(default_factory=dict)

    def solve(self, index: int, joints: tuple[int, ...]) -> None:
        """Solve one chain over all frames and keep the joints' angles; disabled frames keep the FK angles."""
        chain = self.scene.chains[index]
        if chain.spline is not None:
            self._solve_spline(index, chain, chain.spline, joints)
            return
        frames = len(self.ticks)
        parent_tm = self._parent_matrix(chain)
        take = ik.limb_take(self.engine, frames, chain, self._chain_frames(chain, joints, parent_tm))
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
            parent_tm=parent_tm,
            n0=take.n0,
            points=np.zeros((0, 0, 3), np.float32),
            object_tm=np.zeros((0, 4, 3), np.float32),
            knots=None,
        )

    def _write_back(self, chain: Chain, joints: tuple[int, ...], angles: Sequence[Float32s], solved: ik.Mask) -> None:
        """Keep each joint's solved Euler angles (F, 3) and the frames in which they count."""
        for joint, found in zip(joints, angles, strict=False):
            self.placing.solved[joint] = SolvedAngles(chain.name, found, solved)

    def _solve_spline(self, index: int, chain: Chain, goal: SplineGoal, joints: tuple[int, ...]) -> None:
        """Solve a Spline IK chain over all frames (spec 4, max-format-spline-ik.md S.6)."""
        shape = self.scene.nodes[goal.shape].shape
        assert shape is not None  # noqa: S101 - solvable.py has refused chains without one
        knots, object_tm = self.placing.curve(goal.shape, shape)
        twists = [track.at(self.ticks) for track in (goal.start_twist, goal.end_twist)]
        parts = spline_ik.SplineFrames(
            shape=shape,
            preferred=self.placing.preferred(joints),
            extends=self.placing.extends(joints),
            knots=knots,
            object_tm=object_tm,
            parent_matrix=self._parent_matrix(chain),
            twist_parent=None if goal.up_node is None else self.placing.motions[goal.up_node].world_tm,
            twists=np.concatenate(same_rows(*twists), axis=1),
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
            parent_tm=parts.parent_matrix,
            n0=np.zeros((0, 3), np.float32),
            points=take.points,
            object_tm=object_tm,
            knots=knots,
        )

    def finished(self, index: int) -> ChainMotion:
        """Return a chain's motion with the distance from its end joint to its goal, now that both are placed."""
        chain = self.scene.chains[index]
        if chain.spline is not None:
            return self.chain_motions[index]
        end = self.placing.motions[chain.end].world_tm[:, 3].astype(np.float64)
        goal = self.placing.motions[chain.goal].world_tm[:, 3].astype(np.float64)
        miss = np.broadcast_to(np.linalg.norm(end - goal, axis=1), len(self.ticks))
        return replace(self.chain_motions[index], goal_miss=miss.astype(np.float32))

    def _chain_frames(self, chain: Chain, joints: tuple[int, ...], parent_tm: Float32s) -> ik.ChainFrames:
        """Gather what the chain needs; spaces as in ik.py."""
        to_chain = self.engine.invert(parent_tm)
        target = None
        if chain.vh_target is not None:
            target_in_world = np.ascontiguousarray(self.placing.motions[chain.vh_target].world_tm[:, 3])
            target = self.engine.transform_points(*same_rows(target_in_world, to_chain))
        return ik.ChainFrames(
            preferred=self.placing.preferred(joints),
            extends=self.placing.extends(joints),
            goal_in_chain=self.engine.multiply(*same_rows(self.placing.motions[chain.goal].world_tm, to_chain)),
            vh_target_in_chain=target,
            swivel=chain.swivel.at(self.ticks),
        )

    def _parent_matrix(self, chain: Chain) -> Float32s:
        """Return Translation(start position) * ParentTM(start), (F, 4, 3)."""
        start = self.scene.nodes[chain.start]
        origin = with_translation(np.eye(4, 3, dtype=np.float32)[None], self.placing.position(chain.start))
        if start.parent is None:
            return origin
        return self.engine.multiply(*same_rows(origin, self.placing.motions[start.parent].world_tm))
