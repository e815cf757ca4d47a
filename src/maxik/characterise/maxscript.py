"""A MAXScript that asks 3ds Max for the outputs of chosen inputs and writes them as a vector file with raw bits.

Floats go in and out through a binary stream, so that no decimal rounds them. Which function of 3ds Max an expression
of MAXScript reaches is an assumption, said in the script. What MAXScript cannot ask is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from maxik.characterise.discriminate import Asked, Discrimination, encoded
from maxik.characterise.inputs import angles
from maxik.errors import UsageError
from maxik.numerics.float32 import to_bits
from maxik.problems import Vector

_SIGN, _WORDS = 1 << 31, 1 << 32

_ASSUMED: Mapping[str, str] = {
    "point3.normalize": "normalize <point3> is Normalize(const Point3&)",
    "point3.zero_length": "normalize <point3> is Normalize(const Point3&); the length is not to be had",
    "matrix3.multiply": "<matrix3> * <matrix3> is Matrix3::operator*",
    "matrix3.invert": "inverse <matrix3> is Inverse(const Matrix3&)",
    "matrix3.pre_rotate": "preRotateX <matrix3> <degrees> is Matrix3::PreRotateX, degrees times pi / 180",
    "matrix3.rotate": "rotateX <matrix3> <degrees> is Matrix3::RotateX, degrees times pi / 180",
    "quat.product": "<quat> * <quat> is Quat::operator*, factors in the order written",
    "quat.make_matrix": "<quat> as matrix3 is Quat::MakeMatrix with the default flag",
    "quat.from_ang_axis": "(angleaxis <degrees> <point3>) as quat is Quat(AngAxis); the sign of the angle is MAXScript's own",
    "rotation.pre_apply": "preRotate <matrix3> <quat> is what RotationValue::PreApplyTo does",
    "spline.position": "interpCurve3D <shape> 1 <u> is the position of the curve at u; pathParam:true is the other type",
}
"""Functions that MAXScript can ask -> what is assumed of the expression."""

_HEAD = """\
-- Inputs that tell the candidates of {item} apart, for 3ds Max to answer; written by "maxik discriminate".
-- THIS SCRIPT HAS NOT BEEN RUN INSIDE 3ds Max. Read it before you run it.
-- Assumed: {assumed}.
-- It writes {output}, a vector file for "maxik characterise", and the helper file maxik_bits.bin, both in the temp folder.
(
    local helper = (getDir #temp) + "\\\\maxik_bits.bin"
    local path = (getDir #temp) + "\\\\{output}"

    fn floatOf bits = (
        local s = fopen helper "wb"
        WriteLong s bits
        fclose s
        s = fopen helper "rb"
        local x = ReadFloat s
        fclose s
        x
    )
    fn bitsOf x = (
        local s = fopen helper "wb"
        WriteFloat s x
        fclose s
        s = fopen helper "rb"
        local bits = ReadLong s
        fclose s
        bits
    )
    fn word x = (
        local bits = bitsOf x
        local digits = "0123456789abcdef"
        local out = ""
        for i = 7 to 0 by -1 do out += digits[1 + bit.and (bit.shift bits (-4 * i)) 15]
        if (bit.and bits 2139095040) == 2139095040 and (bit.and bits 8388607) != 0 do out = "nan"
        "\\"" + out + "\\""
    )
    fn p3 a b c = [floatOf a, floatOf b, floatOf c]
    fn vectorOut v = "[" + word v.x + ", " + word v.y + ", " + word v.z + "]"
    fn rowOut v = word v.x + ", " + word v.y + ", " + word v.z
    fn matrixOut m = "[" + rowOut m.row1 + ", " + rowOut m.row2 + ", " + rowOut m.row3 + ", " + rowOut m.row4 + "]"
    fn quatOut q = "[" + word q.x + ", " + word q.y + ", " + word q.z + ", " + word q.w + "]"

    local version = maxVersion()
    local release = (version[1] / 1000.0) as string
    local out = createFile path
    format "%" {header_start} to:out
    format "%" release to:out
    format "%\\n" {header_end} to:out
"""


def render_script(found: Discrimination) -> str:
    """Return the script for the inputs of a discrimination; UsageError when MAXScript cannot ask them."""
    if found.asked not in _ASSUMED:
        message = f"MAXScript has no expression for {found.item}: it needs a plug-in, or poses of a rig exported by 3ds Max"
        raise UsageError(message)
    output = f"maxik_{found.item.replace('.', '_')}.jsonl"
    start, end = _header(found)
    head = _HEAD.format(
        item=found.item, assumed=_ASSUMED[found.asked], output=output, header_start=_text(start), header_end=_text(end)
    )
    lines = [line for place, entry in enumerate(found.inputs) for line in _case(found, place, entry)]
    tail = ["close out", 'format "written: %\\n" path']
    return head + "".join(f"    {line}\n" for line in [*lines, *tail]) + ")\n"


def can_ask(asked: str) -> bool:
    """Tell whether MAXScript has an expression for a function."""
    return asked in _ASSUMED


def _header(found: Discrimination) -> tuple[str, str]:
    """Return the header line before and after the release of 3ds Max."""
    marker = "@@"
    provenance = {
        "kind": "max-export",
        "source": f"MAXScript of maxik discriminate {found.item}",
        "max_version": f"release {marker}",
    }
    line = json.dumps({"format": "maxik-vectors/1", "item": found.asked, "profile": None, "provenance": provenance})
    start, end = line.split(marker)
    return start, end


def _case(found: Discrimination, place: int, entry: Asked) -> list[str]:
    given = {name: encoded(value) for name, value in entry.operands.items()}
    start = json.dumps({"id": f"{found.item}.{place}", "in": given})[:-1]
    setting, output, value = _EXPRESSIONS[found.asked](entry.operands)
    text = _text(f'{start}, "out": {{"{output}": ')
    return [*setting, f'format "%%}}}}\\n" {text} ({value}) to:out']


def _text(text: str) -> str:
    """Return a MAXScript string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _float(x: float) -> str:
    bits = to_bits(x)
    return str(bits - _WORDS if bits >= _SIGN else bits)


def _point(v: Sequence[float]) -> str:
    return f"(p3 {' '.join(f'({_float(x)})' for x in v)})"


def _matrix(m: Vector) -> str:
    return f"(matrix3 {' '.join(_point(m[row : row + 3]) for row in range(0, 12, 3))})"


def _quat(q: Vector) -> str:
    return f"(quat {' '.join(f'(floatOf ({_float(x)}))' for x in q)})"


def _degrees(radians: float) -> str:
    for degrees, known in angles():
        if known == radians:
            return f"{degrees:g}"
    message = f"the angle {radians!r} is no whole number of degrees that MAXScript could hand over"
    raise UsageError(message)


def _turned(function: str, o: Mapping[str, Any]) -> tuple[list[str], str, str]:
    return (
        [f"local m = {_matrix(o['m'])}", f"{function}{o['axis'].upper()} m {_degrees(o['angle'])}"],
        "m",
        "matrixOut m",
    )


def _curve(o: Mapping[str, Any]) -> tuple[list[str], str, str]:
    """Return a shape with Bezier knots whose handles are the segments' inner points."""
    segments = o["spline"]["segments"]
    lines = ["local shape = splineShape()", "addNewSpline shape"]
    for place in range(len(segments) + 1):
        knot = segments[place][0] if place < len(segments) else segments[-1][3]
        inward = segments[place - 1][2] if place else knot
        outward = segments[place][1] if place < len(segments) else knot
        lines.append(f"addKnot shape 1 #bezier #curve {_point(knot)} {_point(inward)} {_point(outward)}")
    kind = "true" if o["type"] else "false"
    lines += [
        "updateShape shape",
        f"local at = interpCurve3D shape 1 (floatOf ({_float(o['u'])})) pathParam:{kind}",
        "delete shape",
    ]
    return lines, "point", "vectorOut at"


_EXPRESSIONS: Mapping[str, Callable[[Mapping[str, Any]], tuple[list[str], str, str]]] = {
    "point3.normalize": lambda o: ([], "v", f"vectorOut (normalize {_point(o['v'])})"),
    "point3.zero_length": lambda o: ([], "v", f"vectorOut (normalize {_point(o['v'])})"),
    "matrix3.multiply": lambda o: ([], "m", f"matrixOut ({_matrix(o['a'])} * {_matrix(o['b'])})"),
    "matrix3.invert": lambda o: ([], "m", f"matrixOut (inverse {_matrix(o['m'])})"),
    "matrix3.pre_rotate": lambda o: _turned("preRotate", o),
    "matrix3.rotate": lambda o: _turned("rotate", o),
    "quat.product": lambda o: ([], "q", f"quatOut ({_quat(o['a'])} * {_quat(o['b'])})"),
    "quat.make_matrix": lambda o: ([], "m", f"matrixOut ({_quat(o['q'])} as matrix3)"),
    "quat.from_ang_axis": lambda o: ([], "q", f"quatOut ((angleaxis {_degrees(o['angle'])} {_point(o['axis'])}) as quat)"),
    "rotation.pre_apply": lambda o: (
        [f"local m = {_matrix(o['m'])}", f"preRotate m {_quat(o['q'])}"],
        "m",
        "matrixOut m",
    ),
    "spline.position": _curve,
}
"""Function -> (lines before, name of the output, expression of its text) of its operands."""
