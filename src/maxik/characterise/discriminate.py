"""Discriminating inputs: the fewest on which all candidates of an item differ from each other, the nicest that there are.

Every candidate is evaluated by the model on a stream of inputs (inputs.py). An input parts the candidates into groups of
the same output bits. One input that separates all is looked for first, then two, then three, each time the earliest in
the stream; where that is not enough, the inputs that separate most are taken, one after the other. For pairs that are
left, hard cases follow: inputs that no scene has, so they are not asked to separate anything else. A pair that no input
separates is told, with the number tried.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from maxik.characterise.inputs import RARE_QUOTIENTS, hard_cases, inputs_for
from maxik.characterise.solve_inputs import Operands, evaluate, with_plane
from maxik.errors import UsageError
from maxik.model.engine import ModelEngine
from maxik.numerics.float32 import from_hex
from maxik.problems import STATUSES
from maxik.profile import ITEMS, CoreProfile, candidates_in
from maxik.vectors import LIMB_SOLVE, SPLINE_POSITION, SPLINE_SOLVE, Case, encode, write_vectors

TRIED = 3000
"""Inputs that are tried before a pair counts as not separated."""
_TRIED_SLOW: Mapping[str, int] = {LIMB_SOLVE: 120, SPLINE_POSITION: 60, SPLINE_SOLVE: 4}
"""The same for functions that take their time."""

ASKED: Mapping[str, str] = {
    "matrix3.validate_flags": "matrix3.multiply",
    "ik.link_matrix": LIMB_SOLVE,
    "ik.initial_plane": LIMB_SOLVE,
    "spline.zero_map": SPLINE_SOLVE,
    "spline.bezier": SPLINE_POSITION,
    "spline.parameter": SPLINE_POSITION,
}
"""Items without a function of their own -> the function by which they show."""
UNSEEN: Mapping[str, str] = {
    "ik.rigid_extension": "it shows in a scene alone, where node scale becomes a link's length: bones of 10 and 8 units, the "
    "start joint scaled by 2, the goal 25 away: scaled-translation bends the elbow, translation leaves it straight",
}
"""Items that show only in a scene, and in which."""
_FSINCOS = (
    "fsincos and a rounded binary64 function part only beside a float32 midpoint: the input for it is an angle no scene has"
)
_NOTES: Mapping[str, str] = {
    "matrix3.validate_flags": "it shows only where matrix3.multiply is skip-identity, which is taken here",
    "matrix3.multiply": "an exact identity changes nothing but the sign of a zero",
    "matrix3.rotate": "the two differ in nothing but the sign of a zero",
    "matrix3.rot_angle_axis": _FSINCOS,
    "matrix3.pre_rotate": f"rows and multiply differ in nothing but the sign of a zero; {_FSINCOS}",
    "quat.from_ang_axis": _FSINCOS,
    "quat.product": "the order of terms shows where the terms of a component cancel",
    "ik.link_matrix": "it shows in last bits of a limb solve whose elbow turns about more than one axis, its end joint off "
    "the bone's axis; the plane, n0 and a0, is each candidate's own",
    "ik.initial_plane": "the plane, n0 and a0, is each candidate's own; the case has the default's",
    "spline.zero_map": "the plane, n0 and a0, is that of the chain's preferred pose",
    **dict.fromkeys(
        ("point3.normalize", "point3.unify", "point3.length_unify"),
        "a quotient and a product with the reciprocal, both binary64, part only beside a float32 midpoint; in sse-32 Length "
        "and FLength are one function, since the sum is a float before either root",
    ),
}
"""What makes an item's candidates hard to tell apart, or what the outputs rest on."""


@dataclass(frozen=True)
class Asked:
    """One input: operands by name, and each candidate's outputs as encoded in vector files."""

    operands: Operands
    outputs: Mapping[str, Mapping[str, Any]]

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Candidates with the same output bits."""
        found: dict[str, list[str]] = {}
        for candidate, output in self.outputs.items():
            found.setdefault(repr(output), []).append(candidate)
        return tuple(map(tuple, found.values()))


@dataclass(frozen=True)
class Widest:
    """The input on which a candidate is farthest from the default: `difference` of an output, inf where one is NaN."""

    candidate: str
    asked: Asked
    difference: float


@dataclass(frozen=True)
class Discrimination:
    """The inputs chosen for an item. `asked`: the function evaluated; `alike`: pairs that no input tried separates.

    `widest`: for each other candidate the input that shows it best, which even rounded data may tell apart.
    """

    item: str
    environment: str
    asked: str
    candidates: tuple[str, ...]
    inputs: tuple[Asked, ...]
    widest: tuple[Widest, ...]
    alike: tuple[tuple[str, str], ...]
    tried: int
    note: str


def discriminate(item: str, environment: str, tried: int | None = None) -> Discrimination:
    """Return the fewest inputs that separate the candidates of `item` in `environment`.

    Raises UsageError for an unknown item, one with a single candidate, and one that shows only in a whole solve.
    """
    if item not in ITEMS:
        message = f"unknown item {item!r}; known: {', '.join(ITEMS)}"
        raise UsageError(message)
    candidates = candidates_in(item, environment)
    if len(candidates) == 1:
        message = f"{item} has one candidate in {environment}, {candidates[0]}: there is nothing to discriminate"
        raise UsageError(message)
    if item in UNSEEN:
        message = f"{item} cannot be asked by itself: {UNSEEN[item]}"
        raise UsageError(message)
    asked = ASKED.get(item, item)
    engines = {candidate: ModelEngine(_profile(item, candidate, environment)) for candidate in candidates}
    default = ModelEngine(CoreProfile("candidate-1", environment))
    pairs = set(itertools.combinations(candidates, 2))
    chosen: list[Asked] = []
    widest: dict[str, Widest] = {}
    number = 0
    for stream in (_stream(item, asked, tried or _TRIED_SLOW.get(asked, TRIED)), hard_cases(item)):
        kinds: dict[tuple[tuple[str, ...], ...], Asked] = {}
        for operands in stream if pairs else ():
            number += 1
            entry = _ask(engines, asked, with_plane(default, asked, operands))
            if len(entry.groups) > 1:
                kinds.setdefault(entry.groups, entry)
                _widen(widest, entry)
        reached = pairs & set().union(*map(_separated, kinds.values()))
        chosen += fewest(list(kinds.values()), reached)
        pairs -= reached
    alike = tuple(sorted(pairs, key=lambda pair: tuple(map(candidates.index, pair))))
    note = _NOTES.get(item, "")
    return Discrimination(item, environment, asked, candidates, tuple(chosen), tuple(widest.values()), alike, number, note)


def _widen(widest: dict[str, Widest], entry: Asked) -> None:
    """Keep the input on which a candidate is farthest from the default, the first of the candidates."""
    default, *others = entry.outputs
    for candidate in others:
        difference = _difference(entry.outputs[default], entry.outputs[candidate])
        if difference > (widest[candidate].difference if candidate in widest else 0.0):
            widest[candidate] = Widest(candidate, entry, difference)


def write_discrimination(path: str | Path, found: Discrimination) -> None:
    """Write the inputs as a vector file: `out` is the default candidate's, `candidates` has every candidate's output."""
    profile = CoreProfile("candidate-1", found.environment)
    header = {
        "format": "maxik-vectors/1",
        "item": found.asked,
        "profile": str(profile),
        "provenance": {"kind": "analytic", "source": f"maxik discriminate {found.item}"},
    }
    engine = ModelEngine(profile)
    cases = []
    for place, entry in enumerate(found.inputs):
        out = _ask({"": engine}, found.asked, entry.operands).outputs[""]
        given = {name: encoded(value) for name, value in entry.operands.items()}
        cases.append(Case(f"{found.item}.{place}", given, out, 0, {"candidates": entry.outputs}))
    write_vectors(path, header, cases)


def _profile(item: str, candidate: str, environment: str) -> CoreProfile:
    profile = CoreProfile("candidate-1", environment).with_candidate(item, candidate)
    return profile.with_candidate("matrix3.multiply", "skip-identity") if item == "matrix3.validate_flags" else profile


def _ask(engines: Mapping[str, ModelEngine], asked: str, operands: Operands) -> Asked:
    outputs = {}
    with np.errstate(all="ignore"):
        for candidate, engine in engines.items():
            got = evaluate(engine, asked, {name: value for name, value in operands.items() if name != "zero_map"})
            outputs[candidate] = {name: encoded(value) for name, value in got.items() if name != "flags"}
    return Asked(operands, outputs)


def encoded(value: Any) -> Any:  # noqa: ANN401 - operands and outputs of any kind
    """Return operands or outputs as vector files write them: floats as bit patterns, tuples as lists."""
    if isinstance(value, dict):
        return {name: encoded(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [encoded(entry) for entry in value]
    return encode(float(value)) if isinstance(value, np.floating) else encode(value)


def _difference(a: Mapping[str, Any], b: Mapping[str, Any]) -> float:
    """Return the largest difference between the numbers of two outputs; inf where only one is NaN or missing."""
    largest = 0.0
    for name, words in a.items():
        for one, other in itertools.zip_longest(_flat(words), _flat(b[name])):
            if one != other:
                difference = math.nan if one is None or other is None else abs(from_hex(one) - from_hex(other))
                largest = max(largest, math.inf if math.isnan(difference) else difference)
    return largest


def _flat(words: Any) -> Iterator[str]:  # noqa: ANN401 - a word or nested lists of them
    if isinstance(words, list):
        for entry in words:
            yield from _flat(entry)
    elif words is not None and words not in STATUSES:
        yield words


def _stream(item: str, asked: str, tried: int) -> Iterator[Operands]:
    yield from itertools.islice(inputs_for(item if item not in ASKED else asked), tried)
    if "binary64-reciprocal" in ITEMS[item]:
        yield from ({"v": v} for v in RARE_QUOTIENTS)


def _separated(entry: Asked) -> set[tuple[str, str]]:
    """Return the pairs of candidates, in their order, that an input separates."""
    group = {candidate: place for place, names in enumerate(entry.groups) for candidate in names}
    return {(a, b) for a, b in itertools.combinations(entry.outputs, 2) if group[a] != group[b]}


def fewest(entries: Sequence[Asked], pairs: set[tuple[str, str]]) -> list[Asked]:
    """Return the fewest of `entries` that separate all `pairs`; exact up to three, then by the most separated.

    Of sets of the same size the one whose last entry is earliest.
    """
    separated = [_separated(entry) & pairs for entry in entries]
    for size in range(4):
        for places in _by_last(len(entries), size):
            if set().union(*(separated[place] for place in places)) >= pairs:
                return [entries[place] for place in places]
    chosen: list[Asked] = []
    left = set(pairs)
    while left:
        place = max(range(len(entries)), key=lambda i: len(separated[i] & left))
        chosen.append(entries[place])
        left -= separated[place]
    return chosen


def _by_last(count: int, size: int) -> Iterator[tuple[int, ...]]:
    """Yield the sets of `size` places below `count` in order of their last place."""
    if size == 0:
        yield ()
        return
    for last in range(count):
        for places in itertools.combinations(range(last), size - 1):
            yield (*places, last)
