"""The model against every public vector: bits where bits are given, the stated tolerance for poses exported by 3ds Max."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from model_cases import bits, cases, euler_rotation, floats, limb_problem

from maxik.model import limb
from maxik.model.chain import root_dof_matrix
from maxik.model.core import core_of
from maxik.model.engine import ModelEngine
from maxik.numerics.float32 import f32, to_hex
from maxik.numerics.registers import Wide
from maxik.profile import CoreProfile, parse_profile

ITEM_FILES = (
    "ik.zero_map",
    "matrix3.invert",
    "matrix3.multiply",
    "matrix3.point_transform",
    "matrix3.pre_rotate",
    "matrix3.rot_angle_axis",
    "matrix3.to_euler",
    "matrix3.vector_transform",
    "point3.cross",
    "point3.length_unify",
    "point3.normalize",
    "quat.from_ang_axis",
    "quat.make_matrix",
    "quat.product",
)
RUNTIME_FILES = ("acos_safe", "sin", "cos", "cos_half", "neg_sin_half", "atan2")

pytestmark = pytest.mark.shared


def failures(engine: ModelEngine, path: Path) -> list[str]:
    """Return the ids of the cases of an item's file that do not come out bit for bit."""
    wrong = []
    for item, case in cases(path):
        out = engine.items[item](**{name: floats(value) for name, value in case["in"].items()})
        if {name: bits(value) for name, value in out.items()} != case["out"]:
            wrong.append(case["id"])
    return wrong


@pytest.mark.parametrize("item", ITEM_FILES)
def test_item_vectors(shared: Path, item: str) -> None:
    assert failures(ModelEngine(), shared / "vectors" / "kernel" / "items" / f"{item}.jsonl") == []


@pytest.mark.parametrize("environment", ["x87-53", "sse-32"])
@pytest.mark.parametrize("item", RUNTIME_FILES)
def test_runtime_vectors(shared: Path, item: str, environment: str) -> None:
    engine = ModelEngine(CoreProfile().with_candidate("environment", environment))
    assert failures(engine, shared / "vectors" / "crt" / f"msvcr90_{item}.jsonl") == []


def test_limb_vectors(shared: Path) -> None:
    engine = ModelEngine()
    wrong = []
    for _, case in cases(shared / "vectors" / "kernel" / "limb.solve.jsonl"):
        solution = engine.solve_limb(limb_problem(case))
        out = {"status": solution.status, "rot_xyz": bits(solution.rot_xyz), "dof_zyx": bits(solution.dof_zyx)}
        if out != case["out"]:
            wrong.append(case["id"])
    assert wrong == []


def test_plain_floats_are_wide_registers(shared: Path) -> None:
    """The x87 model computes with Python floats for speed; with `Wide` registers every bit is the same."""
    core = core_of(CoreProfile())
    problems = [limb_problem(case) for _, case in cases(shared / "vectors" / "kernel" / "limb.solve.jsonl")]
    for problem in problems:
        solutions = [limb.solve(machine, problem) for machine in (core, replace(core, register=Wide))]
        assert bits(solutions[0].rot_xyz) == bits(solutions[1].rot_xyz)
        assert bits(solutions[0].dof_zyx) == bits(solutions[1].dof_zyx)


def turn_between(xyz: Sequence[float], expected: Sequence[float]) -> float:
    """Return the angle between a joint's rotation and the exported one, radians."""
    turn = euler_rotation(xyz) @ np.array(expected).reshape(3, 3).T
    sine = math.hypot(turn[1, 2] - turn[2, 1], turn[2, 0] - turn[0, 2], turn[0, 1] - turn[1, 0])
    return math.atan2(sine, float(np.trace(turn)) - 1.0)


@pytest.mark.parametrize("profile", ["candidate-1", "max-2016-x64"])
def test_poses_exported_by_3ds_max(shared: Path, profile: str) -> None:
    engine = ModelEngine(parse_profile(profile))
    checked, wrong = 0, []
    for path in sorted((shared / "vectors" / "max-export").glob("*.jsonl")):
        for item, case in cases(path):
            if item != "limb.solve":
                break
            solution = engine.solve_limb(limb_problem(case))
            assert solution.rot_xyz is not None
            turns = [turn_between(solution.rot_xyz, case["expected"]["root"])]
            if "elbow" in case["expected"]:
                assert solution.dof_zyx is not None
                turns.append(turn_between(solution.dof_zyx[::-1], case["expected"]["elbow"]))
            checked += 1
            if max(turns) > case["tolerance"]:
                wrong.append(case["id"])
    assert wrong == []
    assert checked > 800


def test_sse_gives_the_bits_that_3ds_max_2016_exported(shared: Path) -> None:
    """bone.1: exact inputs, and float32 degrees that the exporter read off the node matrix in binary64 (LIMB.md)."""
    engine = ModelEngine(parse_profile("max-2016-x64"))
    checked = 0
    for path in sorted((shared / "vectors" / "max-export").glob("limb0-*.jsonl")):
        for _, case in cases(path):
            if not case.get("exact_inputs"):
                continue
            solution = engine.solve_limb(limb_problem(case))
            x, y, z = solution.rot_xyz or ()
            a, b, c = root_dof_matrix(engine.core, (x, y, z))[:3]
            angles = math.atan2(b[2], c[2]), math.atan2(-a[2], math.hypot(a[0], a[1])), math.atan2(a[1], a[0])
            assert [to_hex(f32(angle * 180.0 / math.pi)) for angle in angles] == case["export_deg"]["root"], case["id"]
            checked += 1
    assert checked >= 4
