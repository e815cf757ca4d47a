"""The ledger says nothing that the suite does not show: what it calls pinned is matched here, bit for bit."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from maxik.characterise.ledger import CRT, STATUSES, ledger
from maxik.model.engine import ModelEngine
from maxik.numerics.float32 import f32, from_hex, to_hex
from maxik.problems import LimbProblem, Vector
from maxik.profile import ITEMS, PROFILES, CoreProfile

PINNED_BY_BONE_1 = {
    "point3.normalize",
    "point3.zero_length",
    "matrix3.pre_rotate",
    "matrix3.rot_angle_axis",
    "matrix3.to_euler",
}
"""Items of 64-bit releases whose alternatives miss angles that 3ds Max 2016 exported (max-export/LIMB.md)."""


def exported_angles(shared: Path) -> dict[str, tuple[LimbProblem, list[str]]]:
    """Return the cases with exact inputs: the problem, and the exported Euler XYZ in degrees as bits."""

    def floats(words: list[str]) -> Vector:
        return tuple(from_hex(word) for word in words)

    cases = {}
    for path in sorted((shared / "vectors" / "max-export").glob("limb0-*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            case = json.loads(line)
            if not case.get("exact_inputs"):
                continue
            given = case["in"]
            problem = LimbProblem(
                link_count=given["link_count"],
                root_init_xyz=floats(given["root"]["init_xyz"]),
                root_extend=floats(given["root"]["rigid_extend"]),
                links_init_zyx=(0.0, 0.0, 0.0),
                links_extend=(0.0, 0.0, 0.0),
                goal=floats(given["goal"]),
                swivel_parent=given["swivel"]["parent"],
                swivel_angle=from_hex(given["swivel"]["angle"]),
                vh_target=None,
                n0=floats(given["zero_map"]["n0"]),
                a0=floats(given["zero_map"]["a0"]),
            )
            cases[case["id"]] = (problem, case["export_deg"]["root"])
    return cases


def exporter_degrees(node_tm: np.ndarray) -> list[str]:
    """Return what the exporter writes for a node matrix: its Euler XYZ, kept in binary64, in degrees, rounded once."""
    m = node_tm.astype(np.float64)
    cy = math.hypot(m[0, 0], m[0, 1])
    angles = (math.atan2(m[1, 2], m[2, 2]), math.atan2(-m[0, 2], cy), math.atan2(m[0, 1], m[0, 0]))
    return [to_hex(f32(math.degrees(angle))) for angle in angles]


def matched(profile: CoreProfile, cases: dict[str, tuple[LimbProblem, list[str]]]) -> int:
    """Return how many exported angles the profile gives bit for bit."""
    engine = ModelEngine(profile)
    count = 0
    for problem, expected in cases.values():
        solution = engine.solve_limb(problem)
        node_tm = engine.euler_matrix(np.array([solution.rot_xyz], np.float32))[0]
        count += sum(a == b for a, b in zip(exporter_degrees(node_tm), expected, strict=True))
    return count


@pytest.mark.shared
def test_the_profile_max_2016_x64_gives_every_exported_angle(shared: Path) -> None:
    cases = exported_angles(shared)
    assert len(cases) >= 4
    assert matched(PROFILES["max-2016-x64"], cases) == 3 * len(cases)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("item", "candidate"),
    [
        ("environment", "x87-53"),
        ("point3.normalize", "length-divide"),
        ("point3.normalize", "length-reciprocal"),
        ("matrix3.rot_angle_axis", "half-angle"),
        ("matrix3.rot_angle_axis", "quaternion"),
        ("matrix3.to_euler", "asin"),
        ("matrix3.to_euler", "via-quat"),
    ],
)
def test_an_alternative_misses_exported_angles(item: str, candidate: str, shared: Path) -> None:
    cases = exported_angles(shared)
    assert matched(PROFILES["max-2016-x64"].with_candidate(item, candidate), cases) < 3 * len(cases)


def test_every_item_has_a_status_and_evidence() -> None:
    for profile in PROFILES.values():
        entries = ledger(profile)
        assert [entry.item for entry in entries] == [CRT, *ITEMS]
        assert all(entry.status in STATUSES and entry.evidence for entry in entries)


def test_nothing_is_pinned_but_what_this_suite_matches() -> None:
    pinned = {name: {entry.item for entry in ledger(profile) if entry.status == "pinned"} for name, profile in PROFILES.items()}
    assert pinned["candidate-1"] == {CRT}
    assert pinned["max-2016-x64"] <= {CRT, *PINNED_BY_BONE_1}


def test_a_candidate_that_is_not_the_default_is_open() -> None:
    profile = PROFILES["max-2016-x64"].with_candidate("point3.normalize", "length-divide")
    entry = next(entry for entry in ledger(profile) if entry.item == "point3.normalize")
    assert (entry.candidate, entry.status) == ("length-divide", "candidate")
