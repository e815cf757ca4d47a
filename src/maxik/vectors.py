"""Vector files: JSON Lines of cases with their inputs and outputs as float32 bit patterns (vector-format.md).

A float32 is 8 lower-case hex digits, or "nan". Readers keep what they do not know; a malformed line is an error that
names file and line.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maxik.errors import FileFormatError
from maxik.formats.whole_file import write_whole
from maxik.numerics.float32 import f32, from_hex, to_hex
from maxik.problems import GOAL, START_JOINT, LimbProblem, SplineJoint, SplineProblem, Vector

FORMAT = "maxik-vectors/1"
LIMB_SOLVE, SPLINE_SOLVE, SPLINE_POSITION = "limb.solve", "spline.solve", "spline.position"
_SIZES = {"v": 3, "n0": 3, "a0": 3, "m": 12, "q": 4}
_ZERO = (0.0, 0.0, 0.0)
_AXES = re.compile("[xyz_]{3}")


@dataclass(frozen=True)
class Case:
    """One line: `id`, the JSON of `in` and `out` as they stand in the file, and every other key in `extra`."""

    id: str
    given: Mapping[str, Any]
    expected: Mapping[str, Any]
    line: int
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class VectorFile:
    """A vector file: the header line as it stands, its item, its cases."""

    path: str
    item: str
    header: Mapping[str, Any]
    cases: tuple[Case, ...]


def read_vectors(path: str | Path) -> VectorFile:
    """Read a vector file. Raises FileFormatError, with the line, for a file or a line that is not as it should be."""
    file = str(path)
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise FileFormatError(message, file=file) from error
    except UnicodeDecodeError as error:
        message = "is not UTF-8 text"
        raise FileFormatError(message, file=file, offset=error.start) from error
    rows = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not rows:
        message = "is empty: a vector file begins with a header line"
        raise FileFormatError(message, file=file)
    header = _object(file, *rows[0])
    if header.get("format") != FORMAT or not isinstance(header.get("item"), str):
        message = f"the header is not that of a vector file: format {header.get('format')!r}, item {header.get('item')!r}"
        raise FileFormatError(message, file=file, line=rows[0][0])
    if len(rows) == 1:
        message = "has no cases"
        raise FileFormatError(message, file=file)
    return VectorFile(file, header["item"], header, tuple(_case(file, number, line) for number, line in rows[1:]))


def write_vectors(path: str | Path, header: Mapping[str, Any], cases: Sequence[Case]) -> None:
    """Write a vector file, whole or not at all."""
    lines: list[Mapping[str, Any]] = [header]
    lines += [{"id": case.id, "in": case.given, "out": case.expected, **case.extra} for case in cases]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_whole(path, text.encode())


def operands(file: VectorFile, case: Case) -> dict[str, Any]:
    """Return an item's operands: numbers as floats, vectors as tuples; `axis` may be a letter. Errors name the line."""
    decoded: dict[str, Any] = {}
    for name, value in case.given.items():
        if (name == "axis" and value in ("x", "y", "z")) or (name == "type" and isinstance(value, int)):
            decoded[name] = value
        elif name == "spline":
            decoded[name] = {"closed": bool(value.get("closed")), "segments": _segments(file, case)}
        else:
            decoded[name] = decode(file, case, name, value, _SIZES.get(name))
    return decoded


def decode(file: VectorFile, case: Case, name: str, value: object, size: int | None = None) -> float | Vector:
    """Return a bit pattern as a float, a list of them as a tuple of `size` (any size when None)."""
    try:
        return _decoded(value, size)
    except ValueError as error:
        message = f"case {case.id!r}, {name}: {error}"
        raise FileFormatError(message, file=file.path, line=case.line) from error


def _decoded(value: object, size: int | None) -> float | Vector:
    if isinstance(value, str) and size is None:
        return from_hex(value)
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        message = "not a bit pattern" if size is None else f"not a list of {size} bit patterns"
        raise ValueError(message)
    if size is not None and len(value) != size:
        message = f"{len(value)} numbers where {size} belong"
        raise ValueError(message)
    return tuple(from_hex(entry) for entry in value)


def encode(value: object) -> object:
    """Return floats as bit patterns, tuples of them as lists; text, integers and None as they are."""
    if isinstance(value, float):
        return to_hex(value)
    if isinstance(value, tuple):
        return [encode(entry) for entry in value]
    return value


def limb_problem(file: VectorFile, case: Case) -> LimbProblem:
    """Return a `limb.solve` case as a problem; FileFormatError names what is missing or malformed, and the line."""

    def vector(path: str, size: int = 3) -> Vector:
        return _vector(file, case, path, _follow(file, case, path), size)

    def number(path: str) -> float:
        value = decode(file, case, path, _follow(file, case, path))
        if isinstance(value, tuple):
            message = f"case {case.id!r}, {path}: a list where one number belongs"
            raise FileFormatError(message, file=file.path, line=case.line)
        return value

    given = case.given
    link_count = _follow(file, case, "link_count")
    if not isinstance(link_count, int):
        message = f"case {case.id!r}, link_count: not an integer"
        raise FileFormatError(message, file=file.path, line=case.line)
    with_links = given.get("links") is not None
    swivel = _follow(file, case, "swivel")
    with_target = isinstance(swivel, dict) and swivel.get("vh_target") is not None
    parent = START_JOINT if with_target else _follow(file, case, "swivel.parent")
    if parent not in (START_JOINT, GOAL):
        message = f"case {case.id!r}, swivel.parent: {parent!r} is not {START_JOINT!r} or {GOAL!r}"
        raise FileFormatError(message, file=file.path, line=case.line)
    return LimbProblem(
        link_count=link_count,
        root_init_xyz=vector("root.init_xyz"),
        root_extend=vector("root.rigid_extend"),
        links_init_zyx=vector("links.init_zyx") if with_links else _ZERO,
        links_extend=vector("links.rigid_extend") if with_links else _ZERO,
        goal=None if _follow(file, case, "goal") is None else vector("goal", 12),
        swivel_parent=parent,
        swivel_angle=0.0 if with_target else number("swivel.angle"),
        vh_target=vector("swivel.vh_target") if with_target else None,
        n0=vector("zero_map.n0"),
        a0=vector("zero_map.a0"),
    )


def spline_problem(file: VectorFile, case: Case) -> SplineProblem:
    """Return a `spline.solve` case as a problem; FileFormatError names what is missing or malformed, and the line."""

    def vector(path: str, size: int = 3) -> Vector:
        return _vector(file, case, path, _follow(file, case, path), size)

    def number(path: str) -> float:
        value = decode(file, case, path, _follow(file, case, path))
        return value if isinstance(value, float) else math.nan

    joints = []
    for place, joint in enumerate(_list(file, case, "joints")):
        if not isinstance(joint, dict) or not _AXES.fullmatch(str(joint.get("axes"))):
            raise _malformed(file, case, f"joints[{place}]", "a joint needs t, axes (3 letters of x y z _) and init")
        t, init = (_vector(file, case, f"joints[{place}].{key}", joint.get(key)) for key in ("t", "init"))
        joints.append(SplineJoint(t, joint["axes"], init))
    zero_map = _follow(file, case, "zero_map")
    given = zero_map.get("vector") if isinstance(zero_map, dict) else None
    return SplineProblem(
        joints=tuple(joints),
        closed=bool(_follow(file, case, "spline.closed")),
        segments=_segments(file, case),
        object_tm=vector("object_tm", 12),
        parent_matrix=vector("parent_matrix", 12),
        twist_parent=vector("twist_parent", 12),
        start_twist=number("start_twist"),
        end_twist=number("end_twist"),
        n0=_ZERO if given else vector("zero_map.n0"),
        a0=_ZERO if given else vector("zero_map.a0"),
        zero_map_vector=tuple(f32(float(value)) for value in given) if given else None,
    )


def _segments(file: VectorFile, case: Case) -> tuple[tuple[Vector, Vector, Vector, Vector], ...]:
    segments = []
    for place, segment in enumerate(_list(file, case, "spline.segments")):
        if not isinstance(segment, list) or len(segment) != 4:  # noqa: PLR2004 - a cubic's points
            raise _malformed(file, case, f"spline.segments[{place}]", "a segment has 4 points")
        a, b, c, d = (_vector(file, case, f"spline.segments[{place}]", point) for point in segment)
        segments.append((a, b, c, d))
    return tuple(segments)


def _vector(file: VectorFile, case: Case, path: str, value: object, size: int = 3) -> Vector:
    decoded = decode(file, case, path, value, size)
    assert isinstance(decoded, tuple)  # noqa: S101 - decode with a size gives a tuple
    return decoded


def _list(file: VectorFile, case: Case, path: str) -> list[Any]:
    value = _follow(file, case, path)
    if not isinstance(value, list):
        raise _malformed(file, case, path, "a list is expected")
    return value


def _malformed(file: VectorFile, case: Case, path: str, what: str) -> FileFormatError:
    return FileFormatError(f"case {case.id!r}, {path}: {what}", file=file.path, line=case.line)


def _follow(file: VectorFile, case: Case, path: str) -> Any:  # noqa: ANN401 - JSON
    """Return the value at a dotted path below `in`."""
    value: Any = case.given
    for key in path.split("."):
        if not isinstance(value, dict) or key not in value:
            message = f"case {case.id!r} has no {path!r} in its input"
            raise FileFormatError(message, file=file.path, line=case.line)
        value = value[key]
    return value


def _case(file: str, number: int, line: str) -> Case:
    entry = _object(file, number, line)
    wanted: dict[str, type] = {"id": str, "in": dict, "out": dict}
    for key, kind in wanted.items():
        if not isinstance(entry.get(key), kind):
            message = f"a case needs {key!r} ({'text' if kind is str else 'an object'})"
            raise FileFormatError(message, file=file, line=number)
    extra = {key: value for key, value in entry.items() if key not in wanted}
    return Case(entry["id"], entry["in"], entry["out"], number, extra)


def _object(file: str, number: int, line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        message = f"is not JSON: {error}"
        raise FileFormatError(message, file=file, line=number) from error
    if not isinstance(entry, dict):
        message = "is not a JSON object"
        raise FileFormatError(message, file=file, line=number)
    return entry


def solve_problems(file: VectorFile) -> list[LimbProblem | SplineProblem]:
    """Return the problems of a file of limb or spline solves, in order; none for a file of other items."""
    if file.item == LIMB_SOLVE:
        return [limb_problem(file, case) for case in file.cases]
    if file.item == SPLINE_SOLVE:
        return [spline_problem(file, case) for case in file.cases]
    return []
