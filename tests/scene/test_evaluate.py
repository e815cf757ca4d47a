"""Scenes over time: node TMs, and solved chains that meet their goals under any parent."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from maxik.engines import make_engine
from maxik.errors import SceneError
from maxik.problems import Engine
from maxik.profile import PROFILES
from maxik.scene import ik
from maxik.scene.evaluate import evaluate
from maxik.scene.motion import BakedScene
from maxik.scene.scene import HI, SPLINE, Node, Scene
from maxik.scene.tracks import Float32s, Ticks
from maxik.scene.transform import EulerRotation
from rigs import constant, limb_scene, local_matrix, node, with_chain

TICKS = np.arange(0, 800, 160, dtype=np.int64)
LIMB_LENGTH = 9.0


@pytest.fixture(scope="module", params=["kernel", "model"])
def engine(request: pytest.FixtureRequest) -> Engine:
    name = request.param
    if name == "kernel" and make_engine(None, PROFILES["candidate-1"])[0].name != "kernel":
        pytest.skip("the compiled kernel is not there")
    return make_engine(name, PROFILES["candidate-1"])[0]


@dataclass(frozen=True)
class Ramp:
    """A track of one component that goes from `first` to `last` over TICKS."""

    first: float
    last: float
    size: int = 1
    key_range: tuple[int, int] = (0, 640)

    def at(self, ticks: Ticks) -> Float32s:
        return (self.first + (self.last - self.first) * ticks[:, None] / 640.0).astype(np.float32)


def bake(scene: Scene, engine: Engine) -> BakedScene:
    return evaluate(scene, TICKS, engine, 30.0)


def world_in_binary64(baked: BakedScene, index: int, frame: int) -> np.ndarray:
    """Return a node's world TM from its baked position, Euler angles and scale, composed in binary64."""
    world = np.eye(4)
    at: int | None = index
    while at is not None:
        motion = baked.nodes[at]

        def row(array: Float32s) -> np.ndarray:
            return np.array(array[frame if len(array) > 1 else 0], np.float64)

        assert motion.euler is not None
        world = world @ local_matrix(row(motion.position), row(motion.euler), row(motion.scale), row(motion.scale_axis))
        at = baked.scene.nodes[at].parent
    return np.array(world)


def miss(baked: BakedScene, end: int, goal: int, frame: int) -> float:
    return float(np.linalg.norm(world_in_binary64(baked, end, frame)[3] - world_in_binary64(baked, goal, frame)[3]))


ROOTS: dict[str, Node] = {
    "plain": node("root", None),
    "turned and moved": node("root", None, (3.0, -2.0, 1.0), (0.4, -0.7, 1.1)),
    "mirrored": node("root", None, (1.0, 0.0, 0.0), (0.4, 0.2, 0.1), scale=(-1.0, 1.0, 1.0)),
    "scaled": node("root", None, (1.0, 0.0, 0.0), (0.4, 0.2, 0.1), scale=(1.5, 1.5, 1.5)),
    "scaled about a turned axis": node(
        "root", None, euler=(0.1, 0.2, 0.3), scale=(1.0, 1.2, 0.9), scale_axis=(0.6, 0.0, 0.0, 0.8)
    ),
}


@pytest.mark.parametrize("root", ROOTS)
def test_the_end_joint_meets_the_goal_under_a_parent_that_is(root: str, engine: Engine) -> None:
    baked = bake(limb_scene(root=ROOTS[root]), engine)
    assert baked.chains[0].solved.all()
    assert miss(baked, 3, 4, 0) < 1e-5 * LIMB_LENGTH


@pytest.mark.parametrize("scale", [(-1.0, -1.0, -1.0), (1.3, 1.3, 1.3), (0.5, 0.5, 0.5)])
def test_the_end_joint_meets_the_goal_when_the_start_joint_is_scaled(scale: tuple[float, ...], engine: Engine) -> None:
    baked = bake(limb_scene(start_scale=scale, goal=(3.0, 1.0, 3.0)), engine)
    assert miss(baked, 3, 4, 0) < 1e-5 * LIMB_LENGTH


def test_the_goal_may_hang_under_a_moving_parent(engine: Engine) -> None:
    scene = limb_scene(root=node("root", None, (0.0, 1.0, 0.0), (0.0, 0.3, 0.0)), goal=(1.0, 1.0, 1.0), goal_parent=5)
    carrier = node("carrier", None, (4.0, 1.0, 2.0))
    turning = EulerRotation(constant(0.0), constant(0.0), Ramp(0.0, 1.0))
    moving = replace(carrier, transform=replace(carrier.transform, rotation=turning))
    baked = bake(replace(scene, nodes=(*scene.nodes, moving)), engine)
    assert all(miss(baked, 3, 4, frame) < 1e-5 * LIMB_LENGTH for frame in range(len(TICKS)))
    goals = [world_in_binary64(baked, 4, frame)[3] for frame in (0, -1)]
    assert np.linalg.norm(goals[0] - goals[1]) > 0.5


def test_node_tms_agree_with_binary64(engine: Engine) -> None:
    baked = bake(limb_scene(root=ROOTS["scaled about a turned axis"]), engine)
    for index in range(5):
        expected = world_in_binary64(baked, index, 0)[:, :3]
        np.testing.assert_allclose(baked.nodes[index].world_tm[0], expected, atol=2e-6)


def test_a_disabled_chain_keeps_the_fk_pose_in_those_frames_only(engine: Engine) -> None:
    baked = bake(limb_scene(enabled=Ramp(0.0, 1.0)), engine)
    assert baked.chains[0].solved.tolist() == [False, False, False, True, True]
    euler = baked.nodes[1].euler
    assert euler is not None
    assert (euler[:3] == np.array([0.1, 0.2, 0.3], np.float32)).all()
    assert miss(baked, 3, 4, 2) > 1.0
    assert miss(baked, 3, 4, 3) < 1e-5 * LIMB_LENGTH


def test_a_swivel_angle_turns_the_elbow_about_the_end_effector_axis(engine: Engine) -> None:
    turned, plain = bake(limb_scene(swivel=constant(0.7)), engine), bake(limb_scene(), engine)
    shoulder, goal = (world_in_binary64(plain, index, 0)[3, :3] for index in (1, 4))
    axis = (goal - shoulder) / np.linalg.norm(goal - shoulder)
    across = []
    for baked in (plain, turned):
        elbow = world_in_binary64(baked, 2, 0)[3, :3] - shoulder
        across.append(elbow - axis * (elbow @ axis))
    angle = np.arctan2(np.cross(*across) @ axis, across[0] @ across[1])
    assert angle == pytest.approx(0.7, abs=1e-5)
    assert miss(turned, 3, 4, 0) < 1e-5 * LIMB_LENGTH


def test_a_vh_target_lies_in_the_plane_of_the_limb(engine: Engine) -> None:
    scene = limb_scene(root=node("root", None, (0.0, 1.0, 0.0), (0.2, 0.3, -0.1)))
    target = node("knee target", None, (2.0, 9.0, 4.0))
    scene = with_chain(replace(scene, nodes=(*scene.nodes, target)), vh_target=5)
    baked = bake(scene, engine)
    shoulder, elbow, goal, vh = (world_in_binary64(baked, index, 0)[3, :3] for index in (1, 2, 4, 5))
    normal = np.cross(goal - shoulder, vh - shoulder)
    assert abs((elbow - shoulder) @ normal) < 1e-5 * np.linalg.norm(normal) * LIMB_LENGTH
    assert (np.cross(goal - shoulder, elbow - shoulder) @ normal) > 0.0
    assert miss(baked, 3, 4, 0) < 1e-5 * LIMB_LENGTH


def test_a_goal_too_far_stretches_the_limb_towards_it(engine: Engine) -> None:
    baked = bake(limb_scene(goal=(60.0, 2.0, 3.0)), engine)
    assert ik.TOO_FAR in baked.chains[0].causes
    shoulder, hand, goal = (world_in_binary64(baked, index, 0)[3, :3] for index in (1, 3, 4))
    direction = (goal - shoulder) / np.linalg.norm(goal - shoulder)
    np.testing.assert_allclose(hand, shoulder + LIMB_LENGTH * direction, atol=1e-2)


def test_a_two_joint_chain_points_at_its_goal(engine: Engine) -> None:
    scene = with_chain(limb_scene(), end=2)
    baked = bake(scene, engine)
    shoulder, elbow, goal = (world_in_binary64(baked, index, 0)[3, :3] for index in (1, 2, 4))
    cosine = (elbow - shoulder) @ (goal - shoulder) / np.linalg.norm(elbow - shoulder) / np.linalg.norm(goal - shoulder)
    assert cosine == pytest.approx(1.0, abs=1e-10)
    assert baked.chains[0].joints == (1,)


def test_a_straight_preferred_pose_is_named(engine: Engine) -> None:
    baked = bake(limb_scene(preferred_elbow=(0.0, 0.0, 0.0)), engine)
    assert baked.chains[0].causes[ik.STRAIGHT].all()


def test_nodes_are_told_by_index_not_by_name(engine: Engine) -> None:
    scene = limb_scene()
    same = replace(scene, nodes=tuple(replace(entry, name="Bone01") for entry in scene.nodes))
    baked = bake(same, engine)
    assert miss(baked, 3, 4, 0) < 1e-5 * LIMB_LENGTH


def test_parents_may_come_after_their_children(engine: Engine) -> None:
    scene = limb_scene()
    order = [4, 3, 2, 1, 0]
    nodes = tuple(
        replace(scene.nodes[old], parent=None if scene.nodes[old].parent is None else order.index(scene.nodes[old].parent or 0))
        for old in order
    )
    baked = bake(with_chain(replace(scene, nodes=nodes), start=3, end=1, goal=0), engine)
    assert miss(baked, 1, 0, 0) < 1e-5 * LIMB_LENGTH


def test_a_goal_below_its_own_chain_is_a_cycle(engine: Engine) -> None:
    with pytest.raises(SceneError, match=r"cyclic.*chain 'arm'.*"):
        bake(limb_scene(goal_parent=2), engine)


def test_an_end_joint_that_is_not_below_the_start_joint(engine: Engine) -> None:
    with pytest.raises(SceneError, match="end joint 'goal' is not below its start joint 'upper arm'"):
        bake(with_chain(limb_scene(), end=4), engine)


def test_a_chain_of_one_joint_only(engine: Engine) -> None:
    with pytest.raises(SceneError, match="same joint 'upper arm'"):
        bake(with_chain(limb_scene(), end=1), engine)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"solver": HI, "start": 0}, "IKHISolver"),
        ({"solver": "HomeMade"}, "'HomeMade' is not one that maxik evaluates"),
        ({"solver": SPLINE}, "no spline to follow"),
        ({"start": 0}, "accepts 2 or 3 joints, this chain has 4"),
    ],
)
def test_a_chain_that_is_not_solved_is_named_with_its_reason(changes: dict[str, object], reason: str, engine: Engine) -> None:
    baked = bake(with_chain(limb_scene(), **changes), engine)
    assert reason in baked.unsolved[0].reason
    euler = baked.nodes[1].euler
    assert euler is not None
    assert (euler == np.array([[0.1, 0.2, 0.3]], np.float32)).all()


def test_a_second_chain_over_the_same_joint_is_refused_by_name(engine: Engine) -> None:
    scene = limb_scene()
    scene = replace(scene, chains=(*scene.chains, replace(scene.chains[0], name="again")))
    baked = bake(scene, engine)
    assert [entry.chain for entry in baked.unsolved] == [1]
    assert "already solved by the chain 'arm'" in baked.unsolved[0].reason


def test_kernel_and_model_bake_the_same_bits() -> None:
    kernel, model = make_engine(None, PROFILES["candidate-1"])[0], make_engine("model", PROFILES["candidate-1"])[0]
    for root in ROOTS.values():
        scene = limb_scene(root=root, swivel=Ramp(0.0, 1.0))
        for a, b in zip(bake(scene, kernel).nodes, bake(scene, model).nodes, strict=True):
            assert a.world_tm.tobytes() == b.world_tm.tobytes()
