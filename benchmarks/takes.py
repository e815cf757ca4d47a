"""The takes that are timed: one limb, its goals all around it at random or circling before it as in a walk."""

from __future__ import annotations

import numpy as np

from maxik.kernel.engine import KernelEngine
from maxik.problems import GOAL, START_JOINT, Float32s, LimbTake
from maxik.profile import PROFILES

VH_TARGET = "VH target"
UPPER, LOWER = 5.0, 4.5
"""The bones' lengths."""


def _row(*values: float) -> Float32s:
    return np.array([values], np.float32)


def limb_take(frames: int, swivel: str = START_JOINT, *, smooth: bool = False) -> LimbTake:
    """Return a limb over some frames; `swivel`: "start-joint", "goal" or VH_TARGET."""
    draw = np.random.default_rng(frames)
    pose = (_row(0.1, 0.2, 0.3), _row(UPPER, 0.0, 0.0), _row(0.9, 0.0, 0.0), _row(LOWER, 0.0, 0.0))
    n0, a0 = KernelEngine(PROFILES["candidate-1"]).initial_plane(3, *pose)
    goal = np.zeros((frames, 12), np.float32)
    goal[:, :9] = np.linalg.qr(draw.normal(size=(min(frames, 1000), 3, 3)))[0].reshape(-1, 9)[np.arange(frames) % 1000 % frames]
    turn = np.linspace(0.0, 40.0, frames)
    circling = np.stack([6.0 + np.cos(turn), 2.0 * np.sin(turn), np.sin(0.7 * turn)], axis=1)
    goal[:, 9:] = circling if smooth else draw.uniform(-8.0, 8.0, (frames, 3))
    return LimbTake(
        frames=frames,
        link_count=3,
        root_init_xyz=pose[0],
        root_extend=pose[1],
        links_init_zyx=pose[2],
        links_extend=pose[3],
        goal=goal,
        swivel_parent=GOAL if swivel == GOAL else START_JOINT,
        swivel_angle=(0.3 + 0.1 * np.sin(turn)).astype(np.float32)
        if smooth
        else draw.uniform(-3.0, 3.0, frames).astype(np.float32),
        vh_target=draw.normal(size=(frames, 3)).astype(np.float32) if swivel == VH_TARGET else None,
        n0=n0,
        a0=a0,
    )
