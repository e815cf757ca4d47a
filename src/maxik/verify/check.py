"""Cases against an engine: raw bits, and for poses measured on 3ds Max the turn between rotations.

One case counts once. Any NaN equals any NaN, -0 differs from +0. A `limb.solve` case that carries `expected` and
`tolerance` compares rotations instead of bits (both where it has both); `noise_free` is for the workbench and gates
nothing. An item that no engine here evaluates is counted as skipped, by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from maxik.errors import FileFormatError
from maxik.numerics.float32 import from_hex, ulp_distance
from maxik.problems import Engine, Vector
from maxik.vectors import (
    LIMB_SOLVE,
    SPLINE_SOLVE,
    Case,
    VectorFile,
    encode,
    limb_problem,
    operands,
    read_vectors,
    spline_problem,
)
from maxik.verify.rotations import euler_xyz_matrix, turn_between

BITS, TOLERANCE = "bits", "tolerance"


@dataclass(frozen=True)
class CaseFailure:
    """One mismatch: case id, what of it (output and component), both values as text, and how far apart they are."""

    case: str
    output: str
    expected: str
    got: str
    distance: str = ""


@dataclass(frozen=True)
class FileResult:
    """One vector file: counts of cases, the first mismatch of every failed case, and a summary over all cases in `note`."""

    path: str
    item: str
    comparison: str
    passed: int
    failed: int
    skipped: int
    failures: tuple[CaseFailure, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class VerifyReport:
    """All files of one run, with the engine's description."""

    engine: dict[str, str] = field(default_factory=dict)
    files: tuple[FileResult, ...] = ()

    @property
    def passed(self) -> int:
        """Cases that hold."""
        return sum(entry.passed for entry in self.files)

    @property
    def failed(self) -> int:
        """Cases that do not."""
        return sum(entry.failed for entry in self.files)

    @property
    def skipped(self) -> int:
        """Cases of items that no engine evaluates."""
        return sum(entry.skipped for entry in self.files)


def verify_files(paths: Sequence[str | Path], engine: Engine) -> VerifyReport:
    """Check every case of every file. Raises FileFormatError for a file that cannot be read or is malformed."""
    files = [read_vectors(path) for path in paths]
    return VerifyReport(dict(engine.describe()), tuple(_verify_file(file, engine) for file in files))


def _verify_file(file: VectorFile, engine: Engine) -> FileResult:
    if file.item not in (LIMB_SOLVE, SPLINE_SOLVE) and file.item not in engine.items:
        return FileResult(file.path, file.item, "-", 0, 0, len(file.cases))
    comparisons = set()
    failures = []
    turns: dict[str, list[float]] = {}
    for case in file.cases:
        if file.item == LIMB_SOLVE:
            comparison, failure = _verify_limb(file, case, engine)
        elif file.item == SPLINE_SOLVE:
            comparison, failure = _verify_spline(file, case, engine, turns)
        else:
            comparison, failure = BITS, _verify_item(file, case, engine)
        comparisons.add(comparison)
        failures += [failure] if failure else []
    passed = len(file.cases) - len(failures)
    note = "; ".join(
        f"{len(angles)} {name}: rms {_rms(angles):.2g} rad, worst {max(angles):.2g} rad" for name, angles in turns.items()
    )
    compared = " and ".join(sorted(comparisons))
    return FileResult(file.path, file.item, compared, passed, len(failures), 0, tuple(failures), note)


def _verify_item(file: VectorFile, case: Case, engine: Engine) -> CaseFailure | None:
    try:
        got = engine.items[file.item](**operands(file, case))
    except (TypeError, IndexError) as error:
        message = f"case {case.id!r} does not have the operands of {file.item}: {error}"
        raise FileFormatError(message, file=file.path, line=case.line) from error
    return _compare(file, case, case.expected, {name: encode(_plain(value)) for name, value in got.items()})


def _verify_limb(file: VectorFile, case: Case, engine: Engine) -> tuple[str, CaseFailure | None]:
    solution = engine.solve_limb(limb_problem(file, case))
    got = {"status": solution.status, "rot_xyz": encode(solution.rot_xyz), "dof_zyx": encode(solution.dof_zyx)}
    failure = _compare(file, case, case.expected, got)
    if "expected" not in case.extra:
        return BITS, failure
    comparison = f"{BITS} and {TOLERANCE}" if "rot_xyz" in case.expected else TOLERANCE
    return comparison, failure or _compare_rotations(file, case, solution.rot_xyz, solution.dof_zyx)


def _verify_spline(
    file: VectorFile, case: Case, engine: Engine, turns: dict[str, list[float]]
) -> tuple[str, CaseFailure | None]:
    """Compare a spline solve: bits, or frames and directions of a pose that 3ds Max computed, whose turns go to `turns`."""
    solution = engine.solve_spline(spline_problem(file, case))
    got = {name: encode(getattr(solution, name)) for name in ("status", "bone_lengths", "u", "points", "euler")}
    measured = ("frames", "directions")
    bits = {name: value for name, value in case.expected.items() if name not in measured}
    failure = _compare(file, case, bits, got)
    if not any(name in case.expected for name in measured):
        return BITS, failure
    try:
        tolerance = {
            name: float(case.extra["tolerance"][key]) for name, key in zip(measured, ("angle", "direction"), strict=True)
        }
        wanted = {name: [np.array(row, np.float64) for row in case.expected[name]] for name in measured}
        frames = [
            turn_between(rows.reshape(3, 3), np.array(frame).reshape(4, 3)[:3])
            for rows, frame in zip(wanted["frames"], solution.frames, strict=True)
        ]
        directions = [
            float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))
            for a, b in zip(wanted["directions"], map(np.array, solution.directions), strict=True)
        ]
    except (KeyError, TypeError, ValueError) as error:
        message = f"case {case.id!r}: frames, directions and tolerance do not fit the chain ({error})"
        raise FileFormatError(message, file=file.path, line=case.line) from error
    for name, angles in (("frames", frames), ("directions", directions)):
        turns.setdefault(name, []).extend(angles)
        for bone, angle in enumerate(angles):
            if not angle <= tolerance[name] and failure is None:
                failure = CaseFailure(case.id, f"{name}[{bone}]", f"within {tolerance[name]:.3g} rad", f"{angle:.3g} rad off")
    return TOLERANCE, failure


def _rms(numbers: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(numbers))))


def _compare(file: VectorFile, case: Case, expected: Any, got: dict[str, object]) -> CaseFailure | None:  # noqa: ANN401 - JSON
    """Return the first output that differs, raw bits."""
    for name, wanted in expected.items():
        if name not in got:
            return CaseFailure(case.id, name, str(wanted), "no such output")
        if wanted == got[name]:
            continue
        if not isinstance(wanted, list) or not isinstance(got[name], list):
            return _mismatch(file, case, name, wanted, got[name])
        actual: list[Any] = list(got[name])  # type: ignore[call-overload]
        if len(wanted) != len(actual):
            return CaseFailure(case.id, name, f"{len(wanted)} numbers", f"{len(actual)} numbers")
        place = next(i for i, (a, b) in enumerate(zip(wanted, actual, strict=True)) if a != b)
        return _mismatch(file, case, f"{name}[{place}]", wanted[place], actual[place])
    return None


def _mismatch(file: VectorFile, case: Case, output: str, wanted: object, got: object) -> CaseFailure:
    try:
        a, b = from_hex(str(wanted)), from_hex(str(got))
    except ValueError:
        if isinstance(wanted, str) and isinstance(got, str) and output.startswith(("rot_", "dof_")):
            message = f"case {case.id!r}, {output}: {wanted!r} is not a bit pattern"
            raise FileFormatError(message, file=file.path, line=case.line) from None
        return CaseFailure(case.id, output, str(wanted), str(got))
    ulps = ulp_distance(a, b)
    distance = "not comparable" if ulps is None else "the sign of zero" if ulps == 0 else f"{ulps} ulp"
    return CaseFailure(case.id, output, f"{wanted} ({a:.9g})", f"{got} ({b:.9g})", distance)


def _compare_rotations(file: VectorFile, case: Case, rot_xyz: Vector | None, dof_zyx: Vector | None) -> CaseFailure | None:
    """Return the first joint whose rotation is off by more than the case's tolerance, radians."""
    joints = {"root": rot_xyz, "elbow": None if dof_zyx is None else dof_zyx[::-1]}
    try:
        tolerance = float(case.extra["tolerance"])
        wanted = {name: np.array(rows, np.float64).reshape(3, 3) for name, rows in case.extra["expected"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"case {case.id!r}: expected and tolerance are not 3x3 rotations and a number ({error})"
        raise FileFormatError(message, file=file.path, line=case.line) from error
    for name, rotation in wanted.items():
        angles = joints.get(name)
        if angles is None:
            return CaseFailure(case.id, name, "a rotation", "none")
        angle = turn_between(rotation, euler_xyz_matrix(angles))
        if not angle <= tolerance:
            return CaseFailure(
                case.id, name, f"within {tolerance:.3g} rad", f"{angle:.3g} rad off", f"{angle / tolerance:.2f} x"
            )
    return None


def _plain(value: object) -> object:
    """Return numpy rows and lists as tuples of floats."""
    return tuple(float(entry) for entry in value) if isinstance(value, (list, tuple)) else value
