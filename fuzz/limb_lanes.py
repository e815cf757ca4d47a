"""Limbs in lanes against the literal path on many random solves, in both environments; every bit compared.

    python fuzz/limb_lanes.py --seed 0 --count 100000000        (make fuzz-lanes)

Takes of one chain with goals all around, chains of every shape and pose, some of whose preferred poses move; one and three
links, the swivel angle in the start joint and in the goal, and VH targets. Every lane path of the machine solves each take.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from maxik.kernel.choices import LANE_BITS, LITERAL
from maxik.kernel.engine import KernelEngine
from maxik.kernel.settings import KernelSettings
from maxik.problems import GOAL, START_JOINT, Float32s, LimbTake
from maxik.profile import PROFILES

FRAMES = 50_000
_MOVING = 0.1
_VH_TARGET = 2


def random_take(seed: int, engine: KernelEngine) -> LimbTake:
    """Return the take of a seed: a chain of any shape, goals around it, some on axes, at its reach, or rounded."""
    draw = np.random.default_rng(seed)

    def normal(*shape: int, scale: float = 1.0) -> Float32s:
        return (scale * draw.normal(size=shape)).astype(np.float32)

    link_count, swivel, moving = int(draw.choice([0, 3, 3, 3])), int(draw.integers(3)), draw.random() < _MOVING
    rows = FRAMES if moving else 1
    upper, lower = np.exp(draw.uniform(-3.0, 5.0, 2))
    planar = draw.random() < 0.3  # noqa: PLR2004 - a share
    flat = np.array([1.0, not planar, not planar], np.float32)
    pose = [
        np.array([0.0, 0.0, 1.0] if planar else [1.0] * 3, np.float32) * normal(rows, 3),
        flat * normal(rows, 3, scale=0.1) + np.array([upper, 0.0, 0.0], np.float32),
        np.array([1.0, 0.0, 0.0] if planar else [1.0] * 3, np.float32) * normal(rows, 3),
        flat * normal(rows, 3, scale=0.1) + np.array([lower, 0.0, 0.0], np.float32),
    ]
    root_init_xyz, root_extend, links_init_zyx, links_extend = (np.ascontiguousarray(part) for part in pose)
    n0, a0 = engine.initial_plane(link_count, root_init_xyz, root_extend, links_init_zyx, links_extend)
    goal = normal(FRAMES, 12)
    goal[:, 9:] *= np.float32((upper + lower) / 2.0)
    kind = draw.random(FRAMES)
    goal[kind < 0.1, 11] = draw.choice(np.array([0.0, -0.0], np.float32), FRAMES)[kind < 0.1]  # noqa: PLR2004 - a share
    at_reach = (kind > 0.1) & (kind < 0.2)  # noqa: PLR2004 - a share
    lengths = np.linalg.norm(goal[at_reach, 9:], axis=1, keepdims=True)
    goal[at_reach, 9:] *= np.float32(upper + lower) / np.maximum(lengths, np.float32(1e-6))
    return LimbTake(
        frames=FRAMES,
        link_count=link_count,
        root_init_xyz=root_init_xyz,
        root_extend=root_extend,
        links_init_zyx=links_init_zyx,
        links_extend=links_extend,
        goal=goal,
        swivel_parent=GOAL if swivel == 1 else START_JOINT,
        swivel_angle=normal(FRAMES, scale=3.0),
        vh_target=normal(FRAMES, 3) if swivel == _VH_TARGET else None,
        n0=n0,
        a0=a0,
    )


def differing(seed: int) -> tuple[list[str], int]:
    """Return frames in which lanes have other bits than the literal path on one take, and how many they solved again."""
    found, redone = [], 0
    for profile in PROFILES.values():
        literal = KernelEngine(profile, KernelSettings(limb_path=LITERAL, threads=1))
        take = random_take(seed, literal)
        expected = literal.solve_limb_take(take)
        for path in (path for path in literal.limb_paths() if path in LANE_BITS):
            solution = KernelEngine(profile, KernelSettings(limb_path=path, threads=1)).solve_limb_take(take)
            redone += solution.redone
            wrong = solution.status != expected.status
            for name in ("rot_xyz", "dof_zyx"):
                mine, other = getattr(solution, name), getattr(expected, name)
                wrong |= ((mine.view(np.uint32) != other.view(np.uint32)) & ~(np.isnan(mine) & np.isnan(other))).any(axis=1)
            found += [f"seed {seed}, {profile.environment}, {path}: frame {frame}" for frame in np.flatnonzero(wrong)]
    return found, redone


def main(argv: Sequence[str] | None = None) -> int:
    """Compare; exit code 0 only when no bit differs."""
    parser = argparse.ArgumentParser(description="Limbs in lanes against the literal path.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100_000_000, help="solves by each path (default: 100000000)")
    parser.add_argument("--threads", type=int, help="takes at once (default: MAXIK_THREADS, else every core)")
    arguments = parser.parse_args(argv)
    takes = -(-arguments.count // (len(PROFILES) * FRAMES))
    wrong, again, seeds = 0, 0, range(arguments.seed, arguments.seed + takes)
    with ThreadPoolExecutor(KernelSettings(threads=arguments.threads).thread_count()) as pool:
        for found, redone in pool.map(differing, seeds):
            wrong += len(found)
            again += redone
            for line in found[:10]:
                print(line)
    solves = takes * len(PROFILES) * FRAMES
    paths = len([path for path in KernelEngine(PROFILES["candidate-1"]).limb_paths() if path in LANE_BITS])
    print(f"{solves:,} random solves by each of {paths} paths in lanes, {wrong} differ; {again:,} were solved again by scalars")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
