"""Which last bits of a rotation a NeL file can show, hence which vectors tell which candidates apart (nel-facts.md 3.4, 3.5).

`code_steps` is arithmetic: how many ULPs of a component one code of a packed track hides. `observe` measures: the solves
of a vector file under a profile, and under every other candidate of its items, one at a time, are compared as Euler
angles, as float32 quaternions (raw) and as codes (packed).

A packed track comes from a built file, whose tracks are resampled and thinned within 2.8 mrad besides. None of that is
modelled: codes that differ are evidence where the sample itself was kept, equal codes are evidence of nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maxik.characterise import quantise
from maxik.characterise.consulted import Problem, Solution, solve, solve_recorded
from maxik.errors import UsageError
from maxik.formats.nel import packing
from maxik.model.core import core_of
from maxik.problems import Float32s, LimbSolution, SplineProblem
from maxik.profile import ENVIRONMENT, ENVIRONMENT_IDS, ITEMS, CoreProfile, candidates_in
from maxik.vectors import LIMB_SOLVE, SPLINE_SOLVE, VectorFile, solve_problems

SAME, NOT_SEEN, RAW_ONLY, RAW_AND_PACKED = "same bits everywhere", "not seen", "seen in raw only", "seen in raw and packed"
_ULPS = 2.0**24
_RANGES = 16


@dataclass(frozen=True)
class CodeStep:
    """One row of nel-facts.md 3.4: components of magnitude `low` <= |q| < `high`, for `k` of 0 to 15.

    `ulp`: the float32 spacing. `ulps_per_step`: ULPs in a code step. `hidden`: ULPs either way that a component at a
    code's centre can move, None where no such centre lies in the range. `chance`: that 1 ULP changes the code.
    `effective_low`, `effective_high`: ULPs per step when the quaternion is normalised after the one component moved,
    at |q| = low and as |q| nears high; None where nothing shows.
    """

    k: int
    low: float
    high: float
    ulp: float
    ulps_per_step: float
    hidden: int | None
    chance: float
    effective_low: float
    effective_high: float | None


@dataclass(frozen=True)
class Differences:
    """How N rotations differ from N others, each array (N,): bits of the Euler angles, of the raw quaternion, and codes.

    `ulps`: the largest difference of a raw component in units of 2^-24, the ULP of a component from 0.5 to 1, which every
    unit quaternion has. `turn`: the rotation between them in radians, before any rounding. Both are 0 where there is no
    rotation; one against none differs in everything.
    """

    euler: NDArray[np.bool_]
    raw: NDArray[np.bool_]
    packed: NDArray[np.bool_]
    ulps: NDArray[np.float64]
    turn: NDArray[np.float64]


@dataclass(frozen=True)
class CandidateSeen:
    """What one changed candidate does to a file: ids of the cases that differ in Euler bits, raw and packed, and how far.

    `ulps` and `turn` are the largest over all rotations, as in Differences.
    """

    item: str
    candidate: str
    euler: tuple[str, ...]
    raw: tuple[str, ...]
    packed: tuple[str, ...]
    ulps: float
    turn: float

    @property
    def verdict(self) -> str:
        """Which kind of track tells the candidate from the profile's own."""
        if self.packed:
            return RAW_AND_PACKED
        if self.raw:
            return RAW_ONLY
        return NOT_SEEN if self.euler else SAME


@dataclass(frozen=True)
class FileSeen:
    """One vector file: its item, number of cases and of rotations in them, items that they consult, candidates tried."""

    path: str
    item: str
    cases: int
    rotations: int
    consulted: tuple[str, ...]
    candidates: tuple[CandidateSeen, ...]


def code_steps() -> tuple[CodeStep, ...]:
    """Return the rows k = 0 to 15; a component below 2^-16, less than half a step, always has code 0."""
    return tuple(map(_code_step, range(_RANGES)))


def _code_step(k: int) -> CodeStep:
    low, high, ulp = 2.0 ** -(k + 1), 2.0**-k, 2.0 ** -(k + 24)
    ulps = 1.0 / (packing.STEPS * ulp)
    return CodeStep(
        k=k,
        low=low,
        high=high,
        ulp=ulp,
        ulps_per_step=ulps,
        hidden=int(ulps / 2.0) if packing.STEPS * high > 1.0 else None,
        chance=1.0 / ulps,
        effective_low=ulps / (1.0 - low * low),
        effective_high=ulps / (1.0 - high * high) if high < 1.0 else None,
    )


def compare(base: Float32s, other: Float32s) -> Differences:
    """Return how rotations differ; Euler XYZ angles in radians, float32 (N, 3), rows of NaN where there is no rotation."""
    exact = quantise.quaternions(base)
    exact_other = quantise.closest(quantise.quaternions(other), exact)
    raw, raw_other = quantise.raw(exact), quantise.raw(exact_other)
    known, known_other = np.isfinite(raw).all(axis=1), np.isfinite(raw_other).all(axis=1)
    both = known & known_other
    packed = known != known_other
    packed[both] = (packing.pack(raw[both]) != packing.pack(raw_other[both])).any(axis=1)
    ulps, turn = np.zeros(len(base)), np.zeros(len(base))
    ulps[both] = np.abs(raw[both].astype(np.float64) - raw_other[both]).max(axis=1) * _ULPS
    chord, across = (np.linalg.norm(value[both], axis=1) for value in (exact - exact_other, exact + exact_other))
    turn[both] = 4.0 * np.arctan2(chord, across)
    return Differences(
        euler=(_bits(base) != _bits(other)).any(axis=1),
        raw=(known != known_other) | (both & (raw != raw_other).any(axis=1)),
        packed=packed,
        ulps=ulps,
        turn=turn,
    )


def observe(profile: CoreProfile, file: VectorFile, items: Sequence[str] | None = None) -> FileSeen:
    """Return what the candidates of `items` change in a file's solves, each against `profile`, by the model.

    `items` None: every item with several candidates that the cases consult. Problems of the same bits are solved once,
    and only where they consult the item. UsageError for an unknown item, one with a single candidate, and a file
    that holds no solves; FileFormatError for a malformed case.
    """
    for item in items or ():
        _others(profile, item)
    keys, problems = _problems(file)
    recorded = {key: solve_recorded(profile, problem) for key, problem in problems.items()}
    base = {key: _euler(problems[key], solution) for key, (solution, _) in recorded.items()}
    looked_up = frozenset[str]().union(*(seen for _, seen in recorded.values()))
    consulted = tuple(item for item in ITEMS if item in looked_up)
    if items is None:
        items = [item for item in consulted if len(ITEMS[item]) > 1]
    ids = [case.id for case in file.cases]
    case_of = np.repeat(np.arange(len(keys)), [len(base[key]) for key in keys])
    base_rows = _stacked(base, keys)
    candidates = []
    for item in items:
        affected = {key: problem for key, problem in problems.items() if item == ENVIRONMENT or item in recorded[key][1]}
        for candidate in _others(profile, item):
            core = core_of(profile.with_candidate(item, candidate))
            changed = {key: _euler(problem, solve(core, problem)) for key, problem in affected.items()}
            found = compare(base_rows, _stacked({**base, **changed}, keys))
            euler, raw, packed = (
                tuple(ids[case] for case in np.unique(case_of[differs])) for differs in (found.euler, found.raw, found.packed)
            )
            ulps, turn = (float(values.max(initial=0.0)) for values in (found.ulps, found.turn))
            candidates.append(CandidateSeen(item, candidate, euler, raw, packed, ulps, turn))
    rotations = int(np.isfinite(base_rows).all(axis=1).sum())
    return FileSeen(file.path, file.item, len(keys), rotations, consulted, tuple(candidates))


def _problems(file: VectorFile) -> tuple[list[str], Mapping[str, Problem]]:
    """Return a key for every case, and the different problems by key; repr tells -0 from 0, equality does not."""
    if file.item not in (LIMB_SOLVE, SPLINE_SOLVE):
        message = f"holds cases of {file.item}; rotations come from {LIMB_SOLVE} and {SPLINE_SOLVE}"
        raise UsageError(message, file=file.path)
    listed = solve_problems(file)
    keys = [repr(problem) for problem in listed]
    return keys, dict(zip(keys, listed, strict=True))


def _others(profile: CoreProfile, item: str) -> list[str]:
    """Return the candidates of an item that `profile` does not use; UsageError where there is nothing to tell apart.

    `environment` stands for an item whose candidates are the environments.
    """
    if item == ENVIRONMENT:
        return [name for name in ENVIRONMENT_IDS if name != profile.environment]
    if item not in ITEMS:
        message = f"unknown item {item!r}; known: {', '.join((*ITEMS, ENVIRONMENT))}"
        raise UsageError(message)
    if len(ITEMS[item]) == 1:
        message = f"{item} has a single candidate: there is nothing to tell apart"
        raise UsageError(message)
    return [candidate for candidate in candidates_in(item, profile.environment) if candidate != profile[item]]


def _euler(problem: Problem, solution: Solution) -> Float32s:
    """Return the Euler XYZ of every rotation that a problem asks for, (J, 3), NaN where the solve gives none."""
    rows: Iterable[tuple[float, ...] | None]
    if isinstance(problem, SplineProblem):
        assert not isinstance(solution, LimbSolution)  # noqa: S101 - a spline's problem has a spline's solution
        rows = solution.euler or [None] * len(problem.joints)
    else:
        assert isinstance(solution, LimbSolution)  # noqa: S101 - the same
        elbow = [solution.dof_zyx[::-1] if solution.dof_zyx else None] if problem.link_count else []
        rows = [solution.rot_xyz, *elbow]
    nothing = (np.nan,) * 3
    return np.array([row or nothing for row in rows], np.float32).reshape(-1, 3)


def _stacked(rotations: Mapping[str, Float32s], keys: Sequence[str]) -> Float32s:
    return np.concatenate([rotations[key] for key in keys])


def _bits(values: Float32s) -> NDArray[np.uint32]:
    """Return bit patterns, any NaN the same one."""
    return np.where(np.isnan(values), np.float32(np.nan), values).view(np.uint32)
