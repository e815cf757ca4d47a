"""What the model's tests share: vector files (vector-format.md) as floats and bits, and forward kinematics in binary64."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxik.numerics.float32 import f32, from_hex, to_hex
from maxik.problems import GOAL, START_JOINT, LimbProblem, LimbSolution, Vector

WORDS = {"x", "y", "z"}


def floats(value: Any) -> Any:  # noqa: ANN401 - a JSON value in, the same with floats for bit patterns out
    """Return a JSON operand with every bit pattern turned into its float32; axis letters and numbers stay."""
    if isinstance(value, list):
        return tuple(floats(part) for part in value)
    return value if not isinstance(value, str) or value in WORDS else from_hex(value)


def bits(value: Any) -> Any:  # noqa: ANN401 - the inverse of `floats`
    """Return floats as bit patterns, as vector files write them."""
    if isinstance(value, tuple):
        return [bits(part) for part in value]
    return to_hex(value) if isinstance(value, float) else value


def cases(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (item, case) for every case of a vector file."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for case in lines[1:]:
        yield lines[0]["item"], case


def limb_problem(case: Mapping[str, Any]) -> LimbProblem:
    """Return the problem of a limb.solve case."""
    given = case["in"]
    zero = (0.0, 0.0, 0.0)
    links = given.get("links")
    swivel = given["swivel"]
    return LimbProblem(
        link_count=given["link_count"],
        root_init_xyz=floats(given["root"]["init_xyz"]),
        root_extend=floats(given["root"]["rigid_extend"]),
        links_init_zyx=floats(links["init_zyx"]) if links else zero,
        links_extend=floats(links["rigid_extend"]) if links else zero,
        goal=floats(given["goal"]),
        swivel_parent=swivel.get("parent", GOAL),
        swivel_angle=floats(swivel.get("angle", "00000000")),
        vh_target=floats(swivel.get("vh_target")),
        n0=floats(given["zero_map"]["n0"]),
        a0=floats(given["zero_map"]["a0"]),
    )


Doubles = NDArray[np.float64]


def rotation(axis: str, angle: float) -> Doubles:
    """Return the right-handed turn about "x", "y" or "z" for row vectors, binary64 (core-contracts.md 1)."""
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    m = np.eye(3)
    m[i, i] = m[j, j] = math.cos(angle)
    m[i, j], m[j, i] = math.sin(angle), -math.sin(angle)
    return m


def euler_rotation(xyz: Sequence[float]) -> Doubles:
    """Return Rx * Ry * Rz in binary64, the rotation of a joint with these angles (core-contracts.md 5)."""
    return rotation("x", xyz[0]) @ rotation("y", xyz[1]) @ rotation("z", xyz[2])


def basis(m: Sequence[float]) -> Doubles:
    """Return the 3x3 part of a 12-number matrix."""
    return np.array(m[:9]).reshape(3, 3)


def wrist_in_chain(problem: LimbProblem, solution: LimbSolution) -> Doubles:
    """Return where the solved angles bring the end joint: forward kinematics in binary64, chain space."""
    assert solution.rot_xyz is not None
    wrist = np.array(problem.root_extend)
    if problem.link_count:
        assert solution.dof_zyx is not None
        wrist = wrist + np.array(problem.links_extend) @ euler_rotation(solution.dof_zyx[::-1])
    return wrist @ euler_rotation(solution.rot_xyz)


def plane_at(problem: LimbProblem) -> tuple[Vector, Vector]:
    """Return n0 and a0 of a problem's preferred pose, in binary64, rounded (core-profile.md, ik.initial_plane)."""
    root = euler_rotation(problem.root_init_xyz)
    elbow = np.array(problem.root_extend) @ root
    wrist = elbow + np.array(problem.links_extend) @ euler_rotation(problem.links_init_zyx[::-1]) @ root
    a0 = wrist / np.linalg.norm(wrist)
    n0 = np.cross(a0, elbow)
    return rounded(n0 / np.linalg.norm(n0)), rounded(a0)


def rounded(values: Doubles) -> Vector:
    """Return binary64 numbers as a tuple of float32 values."""
    return tuple(f32(x) for x in values.ravel().tolist())


def made_problem(seed: int, *, swivel_parent: str = START_JOINT) -> LimbProblem:
    """Return a well-conditioned limb problem: bent preferred pose, goal in reach, away from the zero map's poles."""
    chance = random.Random(seed)  # noqa: S311 - test data

    def angles(largest: float) -> Vector:
        return tuple(f32(chance.uniform(-largest, largest)) for _ in range(3))

    upper, lower = chance.uniform(0.5, 2.0), chance.uniform(0.5, 2.0)
    pose = LimbProblem(
        link_count=3,
        root_init_xyz=angles(1.2),
        root_extend=(f32(upper), 0.0, 0.0),
        links_init_zyx=(f32(chance.uniform(0.6, 2.0)), *angles(0.5)[:2]),
        links_extend=(f32(lower), 0.0, 0.0),
        goal=None,
        swivel_parent=swivel_parent,
        swivel_angle=f32(chance.uniform(-3.0, 3.0)),
        vh_target=None,
        n0=(1.0, 0.0, 0.0),
        a0=(0.0, 1.0, 0.0),
    )
    n0, a0 = plane_at(pose)
    turn, latitude = chance.uniform(-3.0, 3.0), chance.uniform(-1.0, 1.0)
    equator = math.cos(turn) * np.array(a0) + math.sin(turn) * np.cross(n0, a0)
    direction = math.cos(latitude) * equator + math.sin(latitude) * np.array(n0)
    reach = abs(upper - lower) + (upper + lower - abs(upper - lower)) * chance.uniform(0.3, 0.8)
    goal = (*rounded(euler_rotation(angles(3.0))), *rounded(direction * reach))
    return replace(pose, goal=goal, n0=n0, a0=a0)
