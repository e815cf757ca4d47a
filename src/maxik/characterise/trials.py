"""Trials: the distinct cases of vector files, each able to judge an engine.

A case is judged by what its file gives (vector-format.md; vectors/max-export/LIMB.md, README.md):

- bits: outputs as bit patterns, and for cases with `exact_inputs` the exported angles of `export_deg`;
- tolerance: the turn between expected and computed rotation, in parts of the case's tolerance;
- residuals: angles in radians to rank by, for spline poses alone. A limb's turns are left out: near turn 0 they are
  acos noise of both sides, and a candidate with less noise would win, right or wrong (noise.py uses that noise).

The plane at the preferred pose (n0, a0) of a pose that 3ds Max computed follows from the pose, so it is derived by the
engine that is judged: ik.initial_plane and point3.zero_length show themselves nowhere else. Files without a scene
carry a fitted pose, which proves nothing about the plane: theirs is taken as given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from maxik.characterise.exporter import exported_degrees
from maxik.errors import FileFormatError
from maxik.problems import Engine, LimbProblem, SplineProblem, Vector
from maxik.scene.spline_ik import chain_plane
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

REFERENCE = ("max-export", "msvcr90")
"""Kinds of provenance that may pin a candidate (vector-format.md)."""
_FITTED = "no scene file"
NO_ROTATION = 1e9
"""Parts of the tolerance that stand for "no rotation at all"."""


@dataclass(frozen=True)
class Judgement:
    """How one engine does on one trial.

    `words`: every output as text, to tell whether two engines give the same bits. `wrong` of `compared` bit patterns
    differ. `excess`: the largest turn in parts of its tolerance (0: no tolerance given). `residuals`: radians.
    """

    words: tuple[object, ...]
    wrong: int = 0
    compared: int = 0
    excess: float = 0.0
    residuals: tuple[float, ...] = ()


@dataclass(frozen=True)
class LimbTrial:
    """A limb.solve case. `bits`: expected outputs as bit patterns; `rotations`, `degrees`: what an export has of the joints."""

    name: str
    problem: LimbProblem
    derive_plane: bool
    bits: tuple[tuple[str, object], ...] = ()
    rotations: tuple[tuple[str, tuple[float, ...]], ...] = ()
    tolerance: float = 0.0
    degrees: tuple[tuple[str, tuple[str, ...]], ...] = ()
    weight: int = 1

    def judge(self, engine: Engine) -> Judgement:
        """Solve, compare bits, then exported angles, then turns."""
        solution = engine.solve_limb(self._problem(engine))
        joints = {"root": solution.rot_xyz, "elbow": None if solution.dof_zyx is None else solution.dof_zyx[::-1]}
        got = {"status": solution.status, "rot_xyz": encode(solution.rot_xyz), "dof_zyx": encode(solution.dof_zyx)}
        wrong, compared = _compare(self.bits, got)
        for joint, wanted in self.degrees:
            exported = _exported(engine, joints.get(joint), len(wanted))
            wrong += sum(a != b for a, b in zip(wanted, exported, strict=True))
            compared += len(wanted)
        excess = 0.0
        for joint, rows in self.rotations:
            angles = joints.get(joint)
            turn = np.nan if angles is None else turn_between(np.array(rows).reshape(3, 3), euler_xyz_matrix(angles))
            excess = max(excess, turn / self.tolerance if np.isfinite(turn) else NO_ROTATION)
        return Judgement((solution.status, *_words(solution.rot_xyz), *_words(solution.dof_zyx)), wrong, compared, excess)

    def _problem(self, engine: Engine) -> LimbProblem:
        if not self.derive_plane:
            return self.problem
        n0, a0 = derived_plane(engine, self.problem)
        return replace(self.problem, n0=n0, a0=a0)


@dataclass(frozen=True)
class SplineTrial:
    """A spline.solve case. `frames`, `directions`: per bone what 3ds Max kept of the pose, chain space."""

    name: str
    problem: SplineProblem
    derive_plane: bool
    bits: tuple[tuple[str, object], ...] = ()
    frames: tuple[tuple[float, ...], ...] = ()
    directions: tuple[tuple[float, ...], ...] = ()
    weight: int = 400

    def judge(self, engine: Engine) -> Judgement:
        """Solve, compare bits, and give the turn of every frame as a residual; of every direction where no frame is given."""
        solution = engine.solve_spline(self._problem(engine))
        got = {name: encode(getattr(solution, name)) for name in ("status", "bone_lengths", "u", "points", "euler")}
        wrong, compared = _compare(self.bits, got)
        words = [solution.status, *(word for vector in (solution.u, *(solution.euler or ())) for word in _words(vector))]
        if self.frames:
            residuals = [_turn(rows, frame[:9]) for rows, frame in zip(self.frames, solution.frames, strict=False)]
        else:
            residuals = [_angle(a, b) for a, b in zip(self.directions, solution.directions, strict=False)]
        residuals += [np.pi] * (len(self.frames or self.directions) - len(residuals))
        return Judgement(tuple(words), wrong, compared, 0.0, tuple(residuals))

    def _problem(self, engine: Engine) -> SplineProblem:
        if not self.derive_plane:
            return self.problem
        n0, a0 = chain_plane(engine, self.problem.joints)
        return replace(self.problem, n0=n0, a0=a0, zero_map_vector=None)


@dataclass(frozen=True)
class ItemTrial:
    """A case of one item: operands and expected outputs."""

    name: str
    item: str
    operands: tuple[tuple[str, Any], ...]
    bits: tuple[tuple[str, object], ...]
    weight: int = 1

    def judge(self, engine: Engine) -> Judgement:
        """Evaluate the item and compare its outputs."""
        got = {name: _plain(value) for name, value in engine.items[self.item](**dict(self.operands)).items()}
        wrong, compared = _compare(self.bits, got)
        return Judgement(tuple(sorted(map(repr, got.items()))), wrong, compared)


Trial = LimbTrial | SplineTrial | ItemTrial
"""A distinct case: `name` of its first occurrence, `weight` in limb solves, and `judge`."""


@dataclass(frozen=True)
class TrialSet:
    """The trials of some files, without repetitions; `left_out`: item -> number of cases that no engine evaluates.

    `reference`: every file was computed by the reference software, so that the trials may pin. `sources`: a line a file.
    `environment`: the one that the files' provenance names, or "" where it does not or they differ.
    """

    trials: tuple[Trial, ...]
    cases: int
    reference: bool
    sources: tuple[str, ...]
    left_out: dict[str, int]
    environment: str = ""


def load_trials(paths: Sequence[str | Path], engine: Engine) -> TrialSet:
    """Read vector files as trials; `engine` tells which items can be evaluated and whether a given plane is the pose's own.

    Raises FileFormatError for a file or a case that is not as it should be.
    """
    distinct: dict[str, Trial] = {}
    cases, reference = 0, True
    sources: list[str] = []
    left_out: dict[str, int] = {}
    environments: set[str] = set()
    for file in map(read_vectors, paths):
        provenance = file.header.get("provenance")
        told: dict[str, Any] = provenance if isinstance(provenance, dict) else {}
        reference = reference and told.get("kind") in REFERENCE
        sources.append(f"{Path(file.path).name}: {len(file.cases)} cases of {file.item}, {told.get('kind')}")
        if file.item not in (LIMB_SOLVE, SPLINE_SOLVE) and file.item not in engine.items:
            left_out[file.item] = left_out.get(file.item, 0) + len(file.cases)
            continue
        environments.add(_environment(told))
        computed = told.get("kind") == "max-export" and _FITTED not in str(told.get("source"))
        for case in file.cases:
            trial = _trial(file, case, engine, computed=computed)
            distinct.setdefault(repr(replace(trial, name="")), trial)
            cases += 1
    known = environments.pop() if len(environments) == 1 else ""
    return TrialSet(tuple(distinct.values()), cases, reference and cases > 0, tuple(sources), left_out, known)


def derived_plane(engine: Engine, problem: LimbProblem) -> tuple[Vector, Vector]:
    """Return (n0, a0) of a limb problem's own preferred pose, chain space (ik.initial_plane)."""
    pose = (problem.root_init_xyz, problem.root_extend, problem.links_init_zyx, problem.links_extend)
    n0, a0 = engine.initial_plane(problem.link_count, *(np.array([part], np.float32) for part in pose))
    return tuple(n0[0].tolist()), tuple(a0[0].tolist())


def _environment(provenance: dict[str, Any]) -> str:
    """Return the environment that a 3ds Max version names: 64-bit releases have no x87 code, 32-bit ones no other."""
    version = f"{provenance.get('max_version')} {provenance.get('source')}"
    return "sse-32" if "x64" in version else "x87-53" if "32-bit" in version else ""


def _trial(file: VectorFile, case: Case, engine: Engine, *, computed: bool) -> Trial:
    name = f"{Path(file.path).name}: {case.id}"
    if file.item == LIMB_SOLVE:
        return _limb_trial(file, case, engine, name, computed=computed)
    if file.item == SPLINE_SOLVE:
        measured = ("frames", "directions")
        frames, directions = (tuple(map(tuple, case.expected.get(key, ()))) for key in measured)
        bits = _bits({key: value for key, value in case.expected.items() if key not in measured})
        return SplineTrial(name, spline_problem(file, case), computed, bits, frames, directions)
    given = operands(file, case)
    trial = ItemTrial(name, file.item, tuple(given.items()), _bits(case.expected))
    try:
        trial.judge(engine)
    except (TypeError, IndexError) as error:
        message = f"case {case.id!r} does not have the operands of {file.item}: {error}"
        raise FileFormatError(message, file=file.path, line=case.line) from error
    return trial


def _limb_trial(file: VectorFile, case: Case, engine: Engine, name: str, *, computed: bool) -> LimbTrial:
    problem = limb_problem(file, case)
    extra = case.extra
    try:
        rotations = tuple((joint, tuple(map(float, rows))) for joint, rows in extra.get("expected", {}).items())
        tolerance = float(extra["tolerance"]) if rotations else 0.0
        exported = extra.get("export_deg", {}) if extra.get("exact_inputs") else {}
        degrees = tuple((joint, tuple(map(str, words))) for joint, words in exported.items())
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unfit(file, case) from error
    if any(len(rows) != 9 for _, rows in rotations) or (rotations and not tolerance > 0):  # noqa: PLR2004 - 3x3
        raise _unfit(file, case)
    derive = computed and problem.link_count in (0, 3) and _is_own_plane(engine, problem)
    return LimbTrial(name, problem, derive, _bits(case.expected), rotations, tolerance, degrees)


def _unfit(file: VectorFile, case: Case) -> FileFormatError:
    message = f"case {case.id!r}: expected, tolerance and export_deg are not 3x3 rotations, a number and angles"
    return FileFormatError(message, file=file.path, line=case.line)


def _is_own_plane(engine: Engine, problem: LimbProblem) -> bool:
    """Tell whether the given plane is the preferred pose's, to the accuracy of float32 inputs."""
    n0, a0 = derived_plane(engine, problem)
    return bool(np.allclose(n0, problem.n0, atol=1e-5) and np.allclose(a0, problem.a0, atol=1e-5))


def _bits(expected: Any) -> tuple[tuple[str, object], ...]:  # noqa: ANN401 - JSON
    return tuple((name, _frozen(value)) for name, value in expected.items())


def _frozen(value: Any) -> object:  # noqa: ANN401 - JSON
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


def _compare(expected: Iterable[tuple[str, object]], got: dict[str, Any]) -> tuple[int, int]:
    """Return (words that differ, words compared); a missing or shorter output differs in all its words.

    The status is no number: it counts only where it differs.
    """
    wrong = compared = 0
    for name, wanted in expected:
        if name == "status" and got.get(name) == wanted:
            continue
        words, found = list(_flat(wanted)), list(_flat(got.get(name)))
        compared += len(words)
        wrong += len(words) if len(words) != len(found) else sum(a != b for a, b in zip(words, found, strict=True))
    return wrong, compared


def _flat(value: object) -> Iterable[object]:
    if isinstance(value, (list, tuple)):
        for entry in value:
            yield from _flat(entry)
    else:
        yield value


def _plain(value: object) -> object:
    """Return rows and numbers as bit patterns."""
    return encode(tuple(float(entry) for entry in value)) if isinstance(value, (list, tuple)) else encode(value)


def _words(vector: Vector | None) -> tuple[object, ...]:
    encoded: Any = encode(vector)
    return (None,) if encoded is None else tuple(encoded)


def _exported(engine: Engine, angles: Vector | None, size: int) -> tuple[str, ...]:
    if angles is None:
        return ("none",) * size
    return exported_degrees(engine.profile, engine.euler_matrix(np.array([angles], np.float32))[0])


def _turn(rows: Sequence[float], frame: Sequence[float]) -> float:
    turn = turn_between(np.array(rows, np.float64).reshape(3, 3), np.array(frame, np.float64).reshape(3, 3))
    return turn if np.isfinite(turn) else float(np.pi)


def _angle(a: Sequence[float], b: Sequence[float]) -> float:
    angle = float(np.arctan2(np.linalg.norm(np.cross(a, b)), np.dot(a, b)))
    return angle if np.isfinite(angle) else float(np.pi)
