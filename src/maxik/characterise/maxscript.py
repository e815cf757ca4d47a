"""A MAXScript that asks 3ds Max for the outputs of chosen inputs and writes them as a vector file.

Where MAXScript has an expression for the function, outputs are raw bits; ik.initial_plane is asked by a rig, as turns
(maxscript_rig.py). Which function of 3ds Max an expression reaches is an assumption, said in the script. What MAXScript
cannot ask is refused, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from maxik.characterise import maxscript_rig
from maxik.characterise.discriminate import ASKED, Asked, Discrimination, encoded
from maxik.characterise.maxscript_text import FUNCTIONS, degrees, matrix, number, point, quat, text
from maxik.errors import UsageError

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
    "spline.position": "interpCurve3D <shape> 1 <u> is the position of the curve at u, pathParam:true the other type; "
    "bezierCorner knots keep the handles they are given",
}
"""Functions that MAXScript can ask -> what is assumed of the expression."""

_RIGS = ("ik.initial_plane",)
"""Items that a rig shows."""

_WHY_NOT: Mapping[str, str] = {
    "point3.unify": "Unify is not exposed, and normalize may be another function",
    "point3.length_unify": "LengthUnify is not exposed; normalize and length may be other functions",
    "matrix3.rot_angle_axis": "RotAngleAxisMatrix is not exposed",
    "matrix3.to_euler": "its Euler angles are degrees, rounded once more and in a sense of their own, so that no bits come out",
    "ik.zero_map": "solvers alone call the zero map",
    "ik.link_matrix": "it shows in last bits inside a solve, which the transform of a node does not keep",
    "spline.zero_map": "a Spline IK chain needs knots moved by helpers, which no script here builds; export poses",
}

_HEAD = """\
-- Inputs that tell the candidates of {item} apart, for 3ds Max to answer; written by "maxik discriminate".
-- THIS SCRIPT HAS NOT BEEN RUN INSIDE 3ds Max. Read it before you run it.
-- Assumed: {assumed}.
-- Degrees, where there are any, come to the same float32 radians by pi / 180 in binary32 as in binary64.
-- It writes {output}, a vector file for "maxik characterise", and the helper file maxik_bits.bin, both in the temp folder.
{functions}(
    local path = (getDir #temp) + "\\\\{output}"
    local version = maxVersion()
    local width = if version[1] < 9000 then "32-bit" else if is64bitApplication() then "x64" else "32-bit"
    local release = ((version[1] / 1000.0) as string) + ", " + width
    local vectors = createFile path
    format "%" {header_start} to:vectors
    format "%" release to:vectors
    format "%\\n" {header_end} to:vectors
"""


def render_script(found: Discrimination) -> str:
    """Return the script for the inputs of a discrimination; UsageError when MAXScript cannot ask them."""
    if not can_ask(found.item):
        message = f"MAXScript does not reach {found.item}: {_WHY_NOT[found.item]}; it needs a plug-in"
        raise UsageError(message)
    rig = found.item in _RIGS
    output = f"maxik_{found.item.replace('.', '_')}.jsonl"
    start, end = _header(found)
    head = _HEAD.format(
        item=found.item,
        assumed=maxscript_rig.ASSUMED if rig else _ASSUMED[found.asked],
        output=output,
        functions=FUNCTIONS + (maxscript_rig.FUNCTIONS if rig else ""),
        header_start=text(start),
        header_end=text(end),
    )
    make = _rig_case if rig else _case
    cases = [["(", *(f"    {line}" for line in make(found, place, entry)), ")"] for place, entry in enumerate(found.inputs)]
    lines = [line for case in cases for line in case]
    tail = ["close vectors", 'format "written: %\\n" path']
    return head + "".join(f"    {line}\n" for line in [*lines, *tail]) + ")\n"


def can_ask(item: str) -> bool:
    """Tell whether a script can ask for an item."""
    return item in _RIGS or ASKED.get(item, item) in _ASSUMED


def reach(item: str) -> str:
    """Return in a sentence how MAXScript reaches an item, or why it does not."""
    if item in _RIGS:
        return "MAXScript asks by a rig whose solved pose is compared as turns"
    if can_ask(item):
        return "MAXScript has an expression for it"
    return f"MAXScript does not reach it, a plug-in has to ask: {_WHY_NOT[item]}"


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
    setting, output, value = _EXPRESSIONS[found.asked](entry.operands)
    start = text(f'{_given(found, place, entry)}, "out": {{"{output}": ')
    return [*setting, f'format "%%}}}}\\n" {start} ({value}) to:vectors']


def _rig_case(found: Discrimination, place: int, entry: Asked) -> list[str]:
    maxscript_rig.check_apart(found.item, entry.outputs)
    start = text(f'{_given(found, place, entry)}, "out": {{"status": "success"}}, "expected": {{"root": ')
    end = text(f', "tolerance": {maxscript_rig.TOLERANCE}}}')
    return [
        *maxscript_rig.limb_lines(entry.operands),
        f'format "%%, \\"elbow\\": %}}%\\n" {start} (maxik_turn upper) (maxik_turn lower) {end} to:vectors',
    ]


def _given(found: Discrimination, place: int, entry: Asked) -> str:
    """Return the beginning of a case's line: its id and operands."""
    given = {name: encoded(value) for name, value in entry.operands.items()}
    return json.dumps({"id": f"{found.item}.{place}", "in": given})[:-1]


def _turned(function: str, o: Mapping[str, Any]) -> tuple[list[str], str, str]:
    return (
        [f"local m = {matrix(o['m'])}", f"{function}{o['axis'].upper()} m {degrees(o['angle'])}"],
        "m",
        "maxik_matrix m",
    )


def _curve(o: Mapping[str, Any]) -> tuple[list[str], str, str]:
    """Return a shape with Bezier knots whose handles are the segments' inner points."""
    segments = o["spline"]["segments"]
    lines = ["local curve = splineShape()", "addNewSpline curve"]
    for place in range(len(segments) + 1):
        knot = segments[place][0] if place < len(segments) else segments[-1][3]
        inward = segments[place - 1][2] if place else knot
        outward = segments[place][1] if place < len(segments) else knot
        lines.append(f"addKnot curve 1 #bezierCorner #curve {point(knot)} {point(inward)} {point(outward)}")
    kind = "true" if o["type"] else "false"
    lines += [
        "updateShape curve",
        f"local found = interpCurve3D curve 1 {number(o['u'])} pathParam:{kind}",
        "delete curve",
    ]
    return lines, "point", "maxik_vector found"


_EXPRESSIONS: Mapping[str, Callable[[Mapping[str, Any]], tuple[list[str], str, str]]] = {
    "point3.normalize": lambda o: ([], "v", f"maxik_vector (normalize {point(o['v'])})"),
    "point3.zero_length": lambda o: ([], "v", f"maxik_vector (normalize {point(o['v'])})"),
    "matrix3.multiply": lambda o: ([], "m", f"maxik_matrix ({matrix(o['a'])} * {matrix(o['b'])})"),
    "matrix3.invert": lambda o: ([], "m", f"maxik_matrix (inverse {matrix(o['m'])})"),
    "matrix3.pre_rotate": lambda o: _turned("preRotate", o),
    "matrix3.rotate": lambda o: _turned("rotate", o),
    "quat.product": lambda o: ([], "q", f"maxik_quat ({quat(o['a'])} * {quat(o['b'])})"),
    "quat.make_matrix": lambda o: ([], "m", f"maxik_matrix ({quat(o['q'])} as matrix3)"),
    "quat.from_ang_axis": lambda o: ([], "q", f"maxik_quat ((angleaxis {degrees(o['angle'])} {point(o['axis'])}) as quat)"),
    "rotation.pre_apply": lambda o: (
        [f"local m = {matrix(o['m'])}", f"preRotate m {quat(o['q'])}"],
        "m",
        "maxik_matrix m",
    ),
    "spline.position": _curve,
}
"""Function -> (lines before, name of the output, expression of its text) of its operands."""
