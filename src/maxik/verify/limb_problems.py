"""Limb problems to compare engines on: random, and one kind for each hazard of the solver.

A problem is drawn from a kind and a seed, so that a failing example is two short values. Every number is a float32.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from maxik.numerics.float32 import f32, from_bits, step
from maxik.problems import GOAL, START_JOINT, LimbProblem, Vector

ROTATION = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
ODD_BITS = (
    0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000,
    0x7FC00000, 0x3F800000, 0xBF800000, 0x40490FDB, 0x3FC90FDB, 0xBFC90FDB, 0x34000000, 0x7149F2CA, 0x0DA24260,
)  # fmt: skip


def vector(draw: random.Random, size: float) -> Vector:
    """Return three float32 values between -size and size."""
    return tuple(f32(draw.uniform(-size, size)) for _ in range(3))


def plain(draw: random.Random) -> LimbProblem:
    """Return a limb with a goal about as far as it reaches."""
    first, second = f32(draw.uniform(0.5, 9.0)), f32(draw.uniform(0.5, 9.0))
    goal = vector(draw, (first + second) * 0.8)
    return LimbProblem(
        link_count=3,
        root_init_xyz=vector(draw, 3.0),
        root_extend=(first, f32(draw.uniform(-0.1, 0.1)), f32(draw.uniform(-0.1, 0.1))),
        links_init_zyx=vector(draw, 2.0),
        links_extend=(second, 0.0, 0.0),
        goal=tuple(f32(draw.uniform(-1.0, 1.0)) for _ in range(9)) + goal,
        swivel_parent=draw.choice((START_JOINT, GOAL)),
        swivel_angle=f32(draw.uniform(-7.0, 7.0)),
        vh_target=vector(draw, 20.0) if draw.random() < 0.3 else None,
        n0=_unit(vector(draw, 1.0)),
        a0=_unit(vector(draw, 1.0)),
    )


def planar(draw: random.Random) -> LimbProblem:
    """Return a limb that bends about one axis in a coordinate plane: signed zeros everywhere."""
    problem = plain(draw)
    x, y = f32(draw.uniform(-9.0, 9.0)), f32(draw.uniform(-9.0, 9.0))
    return replace(
        problem,
        root_init_xyz=(0.0, 0.0, f32(draw.uniform(-3.0, 3.0))),
        root_extend=(problem.root_extend[0], 0.0, draw.choice((0.0, -0.0))),
        links_init_zyx=(f32(draw.uniform(-2.0, 2.0)), 0.0, draw.choice((0.0, -0.0))),
        goal=(*ROTATION, x, y, draw.choice((0.0, -0.0))),
        swivel_angle=draw.choice((0.0, -0.0, f32(math.pi), f32(2.0 * math.pi))),
        n0=(0.0, 0.0, draw.choice((1.0, -1.0))),
        a0=(1.0, 0.0, 0.0),
    )


def goal_at_pole(draw: random.Random) -> LimbProblem:
    """Return a limb whose goal lies on the plane normal n0, where the zero map is singular."""
    problem = plain(draw)
    axis = draw.choice((problem.n0, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))
    length = f32(draw.uniform(-9.0, 9.0))
    return replace(problem, n0=axis, goal=(*ROTATION, *(f32(length * c) for c in axis)))


def straight_pose(draw: random.Random) -> LimbProblem:
    """Return a limb whose preferred pose is straight: its plane normal is Normalize(0)."""
    problem = plain(draw)
    return replace(problem, root_extend=(problem.root_extend[0], 0.0, 0.0), links_init_zyx=(0.0, 0.0, 0.0), n0=(1.0, 0.0, 0.0))


def goal_at_reach(draw: random.Random) -> LimbProblem:
    """Return a limb whose goal is L1+L2 or |L1-L2| away, at most two float32 steps off."""
    first, second = f32(draw.uniform(0.5, 9.0)), f32(draw.uniform(0.5, 9.0))
    distance = step(f32(draw.choice((first + second, abs(first - second)))), draw.randint(-2, 2))
    direction = draw.choice(((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)))
    return replace(
        plain(draw),
        root_extend=(first, 0.0, 0.0),
        links_extend=(second, 0.0, 0.0),
        goal=(*ROTATION, *(f32(distance * c) for c in direction)),
    )


def odd_numbers(draw: random.Random) -> LimbProblem:
    """Return a limb in which some numbers are NaN, infinite, denormal, huge or zero."""

    def spoil(values: Vector) -> Vector:
        return tuple(from_bits(draw.choice(ODD_BITS)) if draw.random() < 0.25 else value for value in values)

    problem = plain(draw)
    assert problem.goal is not None  # noqa: S101 - plain problems have one
    return replace(
        problem,
        root_init_xyz=spoil(problem.root_init_xyz),
        root_extend=spoil(problem.root_extend),
        links_init_zyx=spoil(problem.links_init_zyx),
        links_extend=spoil(problem.links_extend),
        goal=spoil(problem.goal),
        swivel_angle=spoil((problem.swivel_angle,))[0],
        vh_target=None if problem.vh_target is None else spoil(problem.vh_target),
        n0=spoil(problem.n0),
        a0=spoil(problem.a0),
    )


def random_bits(draw: random.Random) -> LimbProblem:
    """Return a limb of 32 random bits for every number."""

    def bits(size: int) -> Vector:
        return tuple(from_bits(draw.getrandbits(32)) for _ in range(size))

    return replace(
        plain(draw),
        root_init_xyz=bits(3),
        root_extend=bits(3),
        links_init_zyx=bits(3),
        links_extend=bits(3),
        goal=bits(12),
        swivel_angle=bits(1)[0],
        n0=bits(3),
        a0=bits(3),
    )


def one_joint(draw: random.Random) -> LimbProblem:
    """Return a one-joint chain, sometimes with its goal straight behind it."""
    problem = replace(plain(draw), link_count=0)
    if draw.random() < 0.3:
        return replace(problem, root_init_xyz=(0.0, 0.0, 0.0), root_extend=(2.0, 0.0, 0.0), goal=(*ROTATION, -3.0, 0.0, 0.0))
    return problem


def refused(draw: random.Random) -> LimbProblem:
    """Return a problem that the solver refuses: a wrong link count, no goal, or both."""
    return replace(plain(draw), link_count=draw.choice((0, 1, 2, 3, 4)), goal=None)


KINDS: Mapping[str, Callable[[random.Random], LimbProblem]] = {
    make.__name__: make
    for make in (
        plain, planar, goal_at_pole, straight_pose, goal_at_reach, odd_numbers, random_bits, one_joint, refused,
    )
}  # fmt: skip


def make_problem(kind: str, seed: int) -> LimbProblem:
    """Return the problem of a kind and a seed."""
    return KINDS[kind](random.Random(seed))


def _unit(v: Vector) -> Vector:
    length = math.sqrt(sum(c * c for c in v)) or 1.0
    return tuple(f32(c / length) for c in v)
