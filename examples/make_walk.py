"""Writes walk.scene.json: a person walking, an arm and two legs on IK Limb chains.

Centimetres, Z up, facing -Y, left is +X. Two strides of one second at 30 frames a second. The right leg has a constant
swivel angle, the left leg a VH target before the knee, the right arm a keyed swivel angle. Every bone's x axis points
to its child; knees and elbows bend about the local z axis. Numbers are rounded to decimals, so that every computer
writes the same file. Run it from anywhere: python examples/make_walk.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from maxik.engines import make_engine
from maxik.formats.scene_json import write_scene_json
from maxik.numerics.float32 import f32
from maxik.profile import PROFILES
from maxik.scene.evaluate import evaluate
from maxik.scene.scene import LIMB, Chain, Joint, Node, Scene, Units
from maxik.scene.tracks import BezierTrack, ComponentsTrack, ConstantTrack, Track
from maxik.scene.transform import EulerRotation, Transform

Float64s = NDArray[np.float64]
Curve = Callable[[float], float]
"""A value as a function of the time in strides."""

FRAME_RATE, FRAMES = 30.0, 60
TICKS_PER_STRIDE = 4800
KEY_EVERY = 3
"""Frames between keys; half a stride is a whole number of them, so that strides and sides repeat."""

STRIDE = 78.0
HIP_HEIGHT, ANKLE_HEIGHT = 90.6, 8.0
HIP_SIDE, SHOULDER_SIDE = 9.0, 18.0
THIGH, SHIN, UPPER_ARM, FOREARM = 44.0, 42.0, 28.0, 25.0
GIMBAL = 1e-6
STANCE = 0.6
"""Share of a stride that a foot stands on the ground."""
LEFT, RIGHT = 1.0, -1.0
DOWN, UP, FORWARD = (0.0, 0.0, -1.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)


def decimal(value: float, places: int = 6) -> float:
    """Return a float32 near a short decimal: the last bits of sines differ between C libraries; -0 becomes 0."""
    return f32(round(float(value), places) + 0.0)


def constant(*values: float) -> ConstantTrack:
    """Return a track that never changes."""
    return ConstantTrack(tuple(decimal(value) for value in values))


KEY_TIMES = tuple(frame * 160 for frame in range(0, FRAMES + 1, KEY_EVERY))


def keyed(curve: Curve) -> BezierTrack:
    """Return Bezier keys along a curve, each with the curve's own slope."""
    strides = [time / TICKS_PER_STRIDE for time in KEY_TIMES]
    step = 1e-4
    slopes = [(curve(s + step) - curve(s - step)) / (2 * step * TICKS_PER_STRIDE) for s in strides]
    return bezier([curve(s) for s in strides], slopes)


def bezier(values: Sequence[float], slopes: Sequence[float]) -> BezierTrack:
    """Return Bezier keys at KEY_TIMES from values and their slopes a tick."""
    times = KEY_TIMES
    third = tuple((f32(1.0 / 3.0),) for _ in times)
    custom = (5,) * len(times)
    return BezierTrack(
        times=times,
        values=tuple((decimal(value),) for value in values),
        in_tangents=tuple((decimal(-slope, 9),) for slope in slopes),
        out_tangents=tuple((decimal(slope, 9),) for slope in slopes),
        in_lengths=third,
        out_lengths=third,
        in_types=custom,
        out_types=custom,
    )


def axes(direction: Sequence[float] | Float64s, hinge: Sequence[float]) -> Float64s:
    """Return a bone's axes as rows: x along the bone, z the hinge made square to it."""
    x = np.array(direction, np.float64)
    x /= np.linalg.norm(x)
    z = np.array(hinge, np.float64)
    z -= x * (x @ z)
    z /= np.linalg.norm(z)
    return np.array([x, np.cross(z, x), z])


def euler(rows: Float64s) -> tuple[float, float, float]:
    """Return the Euler XYZ angles of a row rotation, R = Rx * Ry * Rz; z is zero where the y turn is a right angle."""
    across = float(np.hypot(rows[0, 0], rows[0, 1]))
    y = float(np.arctan2(-rows[0, 2], across))
    if across < GIMBAL:
        return float(np.arctan2(-rows[2, 1], rows[1, 1])), y, 0.0
    return float(np.arctan2(rows[1, 2], rows[2, 2])), y, float(np.arctan2(rows[0, 1], rows[0, 0]))


class Rig:
    """Nodes under construction, with each node's axes at rest in world space."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.rest: list[Float64s] = []

    def add(  # noqa: PLR0913 - a node has that many parts
        self,
        name: str,
        parent: int | None,
        position: Track,
        *,
        rest: Float64s | None = None,
        turned: EulerRotation | None = None,
        kind: str = "Bone",
        is_joint: bool = False,
    ) -> int:
        """Add a node whose axes at rest are `rest` in world space, unless `turned` replaces its rotation."""
        above = np.eye(3) if parent is None else self.rest[parent]
        rows = above if rest is None else rest
        angles = euler(rows @ above.T)
        x, y, z = (constant(angle) for angle in angles)
        joint = Joint(constant(*angles)) if is_joint else None
        rotation = turned or EulerRotation(x, y, z)
        transform = Transform(position, rotation, constant(1.0, 1.0, 1.0), constant(0.0, 0.0, 0.0, 1.0))
        controller = "IKControl" if is_joint else "Position/Rotation/Scale"
        self.nodes.append(Node(name, parent, transform, kind, controller, joint))
        self.rest.append(rows)
        return len(self.nodes) - 1

    def turn(self, index: int, rotation: EulerRotation) -> None:
        """Replace a node's rotation."""
        node = self.nodes[index]
        self.nodes[index] = replace(node, transform=replace(node.transform, rotation=rotation))


def tilted(direction: Sequence[float], towards: Sequence[float], degrees: float) -> Float64s:
    """Return `direction` tilted by some degrees towards another direction square to it."""
    angle = np.radians(degrees)
    turned: Float64s = np.cos(angle) * np.array(direction) + np.sin(angle) * np.array(towards)
    return turned


def foot_forward(stride: float) -> float:
    """Return how far forward an ankle is, cm: it stands while the body passes, then swings to its next place."""
    whole, phase = np.floor(stride), stride % 1.0
    swing = max(0.0, (phase - STANCE) / (1.0 - STANCE))
    eased = swing * swing * (3.0 - 2.0 * swing)
    return float(STRIDE * (whole + eased + STANCE / 2))


def foot_height(stride: float) -> float:
    """Return an ankle's height, cm: the heel lifts late in the stance, the foot swings through above the ground."""
    phase = stride % 1.0
    heel = 5.0 * max(0.0, (phase - 0.45) / 0.15) ** 2 if phase < STANCE else 5.0
    swing = max(0.0, (phase - STANCE) / (1.0 - STANCE))
    lift = 9.0 * np.sin(np.pi * min(1.0, 1.15 * swing)) if swing > 0.0 else 0.0
    return float(ANKLE_HEIGHT + heel * (1.0 - swing) ** 2 + max(0.0, lift))


def foot_pitch(stride: float) -> float:
    """Return how far an ankle is turned toes down, radians: the heel rises late in the stance, the toes before landing."""
    phase = stride % 1.0
    if phase < STANCE:
        return float(np.radians(26.0) * max(0.0, (phase - 0.4) / 0.2) ** 2)
    through = (phase - STANCE) / (1.0 - STANCE)
    return float(np.radians(26.0 * np.cos(0.5 * np.pi * min(1.0, 1.6 * through)) - 10.0 * np.sin(np.pi * through) ** 2))


def toe_lift(stride: float) -> float:
    """Return how far the toes are turned up against the foot, radians: they stay flat while the heel rises."""
    through = max(0.0, (stride % 1.0 - STANCE) / (1.0 - STANCE))
    return max(0.0, foot_pitch(stride)) * (1.0 - through) ** 2


def body_forward(stride: float) -> float:
    """Return how far forward the pelvis is, cm."""
    return STRIDE * stride


def swing(amplitude: float, phase: float = 0.0, beat: float = 1.0) -> Curve:
    """Return a sine of the stride."""
    return lambda stride: float(amplitude * np.sin(2.0 * np.pi * (beat * stride + phase)))


def add_body(rig: Rig) -> tuple[int, int]:
    """Add pelvis, spine, neck and head; return pelvis and chest."""
    bob = swing(1.6, -0.35, 2.0)
    position = ComponentsTrack(
        (keyed(swing(1.8)), keyed(lambda s: -body_forward(s)), keyed(lambda s: HIP_HEIGHT + 4.0 + bob(s)))
    )
    turn = EulerRotation(keyed(swing(0.02, 0.0, 2.0)), keyed(swing(0.03)), keyed(swing(0.08, 0.25)))
    pelvis = rig.add("Bip Pelvis", None, position, turned=turn)
    upright = axes(UP, (1.0, 0.0, 0.0))
    spine = rig.add("Bone Spine", pelvis, constant(0.0, 0.0, 4.0), rest=upright)
    counter = EulerRotation(constant(0.0), constant(0.0), keyed(swing(0.03, 0.1, 2.0)))
    chest = rig.add("Bone Chest", spine, constant(18.0, 0.0, 0.0), rest=upright, turned=counter)
    neck = rig.add("Bone Neck", chest, constant(30.0, 0.0, 0.0), rest=axes(tilted(UP, FORWARD, 12.0), (1.0, 0.0, 0.0)))
    head = rig.add("Bone Head", neck, constant(9.0, 0.0, 0.0), rest=upright)
    rig.add("Bone HeadNub", head, constant(20.0, 0.0, 0.0), rest=upright)
    return pelvis, chest


def add_leg(rig: Rig, pelvis: int, side: float, phase: float) -> Chain:
    """Add one leg with its foot control and goal; return its chain."""
    letter = "L" if side == LEFT else "R"
    hinge = (1.0, 0.0, 0.0)
    thigh_rest, shin_rest = axes(tilted(DOWN, FORWARD, 14.0), hinge), axes(tilted(DOWN, FORWARD, -14.0), hinge)
    foot_rest = axes(tilted(FORWARD, DOWN, 24.0), hinge)
    thigh = rig.add(f"Bone {letter} Thigh", pelvis, constant(side * HIP_SIDE, 0.0, -4.0), rest=thigh_rest, is_joint=True)
    shin = rig.add(f"Bone {letter} Shin", thigh, constant(THIGH, 0.0, 0.0), rest=shin_rest, is_joint=True)
    foot = rig.add(f"Bone {letter} Foot", shin, constant(SHIN, 0.0, 0.0), rest=foot_rest, is_joint=True)
    toe_rest = axes(FORWARD, hinge)
    x, y, z = euler(toe_rest @ foot_rest.T)
    lifted = EulerRotation(constant(x), constant(y), keyed(lambda s: z - toe_lift(s + phase)))
    toe = rig.add(f"Bone {letter} Toe", foot, constant(15.0, 0.0, 0.0), rest=toe_rest, turned=lifted)
    rig.add(f"Bone {letter} ToeNub", toe, constant(7.0, 0.0, 0.0), rest=toe_rest)
    control = rig.add(
        f"Foot {letter} Control",
        None,
        ComponentsTrack((
            constant(side * HIP_SIDE),
            keyed(lambda s: -foot_forward(s + phase) + STRIDE * phase),
            keyed(lambda s: foot_height(s + phase) - ANKLE_HEIGHT),
        )),
        kind="Dummy",
    )  # fmt: skip
    goal = rig.add(f"IK Chain {letter} Leg", control, constant(0.0, 0.0, ANKLE_HEIGHT), kind="IK Chain Object")
    target = None
    if side == LEFT:
        target = rig.add("Knee L Target", pelvis, constant(HIP_SIDE + 2.0, -70.0, -30.0), kind="Point")
    return Chain(
        name=f"IK Chain {letter} Leg",
        solver=LIMB,
        start=thigh,
        end=foot,
        goal=goal,
        swivel=constant(0.0 if side == LEFT else 0.05),
        swivel_parent="start-joint",
        vh_target=target,
        enabled=constant(1.0),
    )


def add_arms(rig: Rig, pelvis: int, chest: int) -> Chain:
    """Add the left arm, swung by keys, and the right arm on an IK chain; return the chain."""
    hinge = (-1.0, 0.0, 0.0)
    upper_rest, fore_rest = axes(tilted(DOWN, FORWARD, -8.0), hinge), axes(tilted(DOWN, FORWARD, 25.0), hinge)
    chains = []
    for letter, side in (("L", LEFT), ("R", RIGHT)):
        is_ik = side == RIGHT
        shoulder = constant(26.0, 0.0, side * SHOULDER_SIDE)
        upper = rig.add(f"Bone {letter} UpperArm", chest, shoulder, rest=upper_rest, is_joint=is_ik)
        fore = rig.add(f"Bone {letter} Forearm", upper, constant(UPPER_ARM, 0.0, 0.0), rest=fore_rest, is_joint=is_ik)
        hand = rig.add(f"Bone {letter} Hand", fore, constant(FOREARM, 0.0, 0.0), rest=fore_rest, is_joint=is_ik)
        rig.add(f"Bone {letter} HandNub", hand, constant(9.0, 0.0, 0.0), rest=fore_rest)
        if not is_ik:
            x, y, z = euler(upper_rest @ rig.rest[chest].T)
            swung = EulerRotation(constant(x), constant(y), keyed(lambda s, z=z: z + swing(0.38, 0.25)(s)))  # type: ignore[misc]
            rig.turn(upper, swung)
            continue
        path = ComponentsTrack((
            constant(side * (SHOULDER_SIDE + 4.0)),
            keyed(lambda s: -6.0 - swing(17.0, 0.25)(s)),
            keyed(lambda s: 2.0 - swing(2.0, 0.0, 2.0)(s)),
        ))  # fmt: skip
        control = rig.add("Hand R Control", pelvis, path, kind="Dummy")
        goal = rig.add("IK Chain R Arm", control, constant(0.0, 0.0, 0.0), kind="IK Chain Object")
        chains.append(
            Chain(
                name="IK Chain R Arm",
                solver=LIMB,
                start=upper,
                end=hand,
                goal=goal,
                swivel=keyed(lambda s: -0.25 - swing(0.2)(s)),
                swivel_parent="start-joint",
                vh_target=None,
                enabled=constant(1.0),
            )
        )
    return chains[0]


def level_feet(rig: Rig, scene: Scene) -> None:
    """Key the feet, which hang below the solved shins, so that they lie flat on the ground while they stand."""
    baked = evaluate(scene, np.array(KEY_TIMES, np.int64), make_engine(None, PROFILES["candidate-1"])[0], FRAME_RATE)
    for chain, phase in zip(scene.chains[:2], (0.0, 0.5), strict=True):
        shin = scene.nodes[chain.end].parent
        assert shin is not None  # noqa: S101 - a foot hangs below a shin
        angles = []
        for row, time in enumerate(KEY_TIMES):
            pitch = foot_pitch(time / TICKS_PER_STRIDE + phase)
            c, s = np.cos(pitch), np.sin(pitch)
            about_x = np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])
            wanted = rig.rest[chain.end] @ about_x
            angles.append(euler(wanted @ baked.nodes[shin].world_tm[row, :3].astype(np.float64).T))
        columns = np.unwrap(np.array(angles), axis=0).T
        slopes = np.gradient(columns, np.array(KEY_TIMES, np.float64), axis=1)
        x, y, z = (bezier(values.tolist(), slope.tolist()) for values, slope in zip(columns, slopes, strict=True))
        rig.turn(chain.end, EulerRotation(x, y, z))


def walk() -> Scene:
    """Return the whole scene."""
    rig = Rig()
    pelvis, chest = add_body(rig)
    chains = (add_leg(rig, pelvis, LEFT, 0.0), add_leg(rig, pelvis, RIGHT, 0.5), add_arms(rig, pelvis, chest))
    level_feet(rig, scene_of(rig, chains))
    return scene_of(rig, chains)


def scene_of(rig: Rig, chains: tuple[Chain, ...]) -> Scene:
    """Return the scene of a rig and its chains."""
    return Scene(
        file="walk.scene.json",
        nodes=tuple(rig.nodes),
        chains=chains,
        frame_rate=FRAME_RATE,
        first_tick=0,
        last_tick=int(FRAMES * TICKS_PER_STRIDE / FRAME_RATE),
        units=Units("centimetre", 0.01),
        source={"format": "maxik-scene/1", "title": "A walk: two legs and an arm on IK Limb chains"},
    )


if __name__ == "__main__":
    write_scene_json(walk(), Path(__file__).with_name("walk.scene.json"))
