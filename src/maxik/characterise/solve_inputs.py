"""Inputs that show an item in a whole solve: limbs and spline chains, the nicest first, and their evaluation by an engine.

Operands have the shape of `limb.solve` and `spline.solve` in vector-format.md, lengths in scene units, angles in radians,
chain space. The plane (n0, a0) is not among them: it follows from the preferred pose, by the engine that is asked, so
that an item shows that acts nowhere else. What a vector file gives is the default's plane (`with_plane`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from maxik.characterise.trials import derived_plane
from maxik.model.engine import ModelEngine
from maxik.numerics.float32 import f32
from maxik.problems import LimbProblem, SplineJoint, SplineProblem, Vector
from maxik.scene.spline_ik import chain_plane
from maxik.vectors import LIMB_SOLVE, SPLINE_SOLVE

Operands = dict[str, Any]

_ROTATION = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_IDENTITY = (*_ROTATION, 0.0, 0.0, 0.0)
_POSES = ((0, 0, 0), (20, 30, 45), (30, 10, 60), (0, 0, 30), (10, -20, 37))
_BENDS = ((-20, 0, 0), (60, 0, 0), (-37, 10, 20), (45, 15, 30))
_ENDS = ((8.0, 0.0, 0.0), (8.0, 1.0, 0.5))
_GOALS = ((8.0, 8.0, 0.0), (10.0, 5.0, 3.0), (5.0, -7.0, 9.0))


def limbs() -> Iterator[Operands]:
    """Yield limbs of a bone of 10 units and one of about 8, whole degrees, goals within reach, then random ones."""
    for root, bend, end, goal in itertools.product(_POSES, _BENDS, _ENDS, _GOALS):
        yield _limb(_radians(root), (10.0, 0.0, 0.0), _radians(bend), end, goal)
    random = np.random.default_rng(7)
    while True:
        turns = [_floats(random.normal(size=3)) for _ in range(2)]
        places = [_floats(random.normal(size=3) * 6.0) for _ in range(3)]
        yield _limb(turns[0], places[0], turns[1], places[1], places[2])


def splines() -> Iterator[Operands]:
    """Yield three bones of 10 units along a curve of two segments, whole degrees, then random angles."""
    first = ((0.0, 0.0, 0.0), (10.0, 0.0, 0.0), (15.0, 5.0, 0.0), (20.0, 10.0, 5.0))
    second = ((20.0, 10.0, 5.0), (25.0, 15.0, 10.0), (30.0, 30.0, 10.0), (40.0, 30.0, 20.0))
    for pose in itertools.product(_POSES, ((0, 0, 10), (10, 20, 30), (0, 0, 0)), ((0, 0, 20), (5, -20, 15))):
        yield _spline((first, second), [_radians(angles) for angles in pose])
    random = np.random.default_rng(8)
    while True:
        yield _spline((first, second), [_floats(random.normal(size=3) * 0.5) for _ in range(3)])


def with_plane(engine: ModelEngine, asked: str, operands: Operands) -> Operands:
    """Return the operands of a solve with `zero_map`, the plane that `engine` derives; those of an item as they are."""
    if asked == LIMB_SOLVE:
        n0, a0 = derived_plane(engine, _limb_problem(operands))
    elif asked == SPLINE_SOLVE:
        n0, a0 = chain_plane(engine, _spline_problem(operands).joints)
    else:
        return operands
    return {**operands, "zero_map": {"n0": n0, "a0": a0}}


def evaluate(engine: ModelEngine, asked: str, operands: Operands) -> Mapping[str, object]:
    """Return the outputs by name of an item, or of a solve with the engine's own plane."""
    if asked == LIMB_SOLVE:
        limb = _limb_problem(operands)
        n0, a0 = derived_plane(engine, limb)
        found = engine.solve_limb(replace(limb, n0=n0, a0=a0))
        return {"status": found.status, "rot_xyz": found.rot_xyz, "dof_zyx": found.dof_zyx}
    if asked == SPLINE_SOLVE:
        chain = _spline_problem(operands)
        n0, a0 = chain_plane(engine, chain.joints)
        solved = engine.solve_spline(replace(chain, n0=n0, a0=a0))
        return {name: getattr(solved, name) for name in ("status", "bone_lengths", "u", "points", "euler")}
    return engine.items[asked](**operands)


def _limb(root: Vector, extend: Vector, bend: Vector, end: Vector, goal: Vector) -> Operands:
    return {
        "link_count": 3,
        "root": {"init_xyz": root, "rigid_extend": extend},
        "links": {"init_zyx": bend, "rigid_extend": end},
        "goal": (*_ROTATION, *goal),
        "swivel": {"parent": "start-joint", "angle": 0.0},
    }


def _spline(segments: tuple[tuple[Vector, ...], ...], pose: list[Vector]) -> Operands:
    return {
        "joints": [{"t": (10.0, 0.0, 0.0), "axes": "xyz", "init": init} for init in pose],
        "spline": {"closed": False, "segments": segments},
        "object_tm": _IDENTITY,
        "parent_matrix": _IDENTITY,
        "twist_parent": _IDENTITY,
        "start_twist": 0.0,
        "end_twist": 0.0,
    }


def _limb_problem(o: Operands) -> LimbProblem:
    return LimbProblem(
        link_count=o["link_count"],
        root_init_xyz=o["root"]["init_xyz"],
        root_extend=o["root"]["rigid_extend"],
        links_init_zyx=o["links"]["init_zyx"],
        links_extend=o["links"]["rigid_extend"],
        goal=o["goal"],
        swivel_parent=o["swivel"]["parent"],
        swivel_angle=o["swivel"]["angle"],
        vh_target=None,
        n0=(0.0, 0.0, 0.0),
        a0=(0.0, 0.0, 0.0),
    )


def _spline_problem(o: Operands) -> SplineProblem:
    return SplineProblem(
        joints=tuple(SplineJoint(joint["t"], joint["axes"], joint["init"]) for joint in o["joints"]),
        closed=o["spline"]["closed"],
        segments=o["spline"]["segments"],
        object_tm=o["object_tm"],
        parent_matrix=o["parent_matrix"],
        twist_parent=o["twist_parent"],
        start_twist=o["start_twist"],
        end_twist=o["end_twist"],
        n0=(0.0, 0.0, 0.0),
        a0=(0.0, 0.0, 0.0),
    )


def _radians(degrees: tuple[int, ...]) -> Vector:
    return tuple(f32(float(np.radians(angle))) for angle in degrees)


def _floats(values: Any) -> Vector:  # noqa: ANN401 - an array of any kind
    return tuple(f32(float(value)) for value in values)
