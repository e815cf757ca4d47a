"""The item table: each [CORE] item and runtime function by the names of vector-format.md, for verify and characterise.

Operands and outputs are float32 values: vectors as 3-tuples, quaternions as 4-tuples (x, y, z, w), matrices as 12-tuples
(row by row, translation last), angles in radians; `axis` of matrix3.pre_rotate and matrix3.rotate is "x", "y" or "z".
A matrix operand is built by the four-row constructor, so its flags are validated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from maxik.model import chain, euler, matrix3, point3, quat, rotation, spline_curve, trig
from maxik.model.core import Core, Point3, Quat
from maxik.model.matrix3 import Matrix3, from_values, values_of
from maxik.numerics import crt
from maxik.numerics.float32 import f32
from maxik.problems import ItemFunction, Vector


class Spline(TypedDict):
    """The operand `spline` of vector-format.md: segments of four points P0..P3."""

    closed: bool
    segments: Sequence[spline_curve.Segment]


def item_functions(core: Core) -> Mapping[str, ItemFunction]:
    """Return item-id -> function of the item's operands, returning its outputs by name."""
    return {**_runtime(), **_point3(core), **_matrix3(core), **_rotations(core), **_quat(core), **_spline(core)}


def _runtime() -> Mapping[str, ItemFunction]:
    """Return the C runtime's functions as the solvers call them (vectors/crt/README.md)."""
    return {
        "acos_safe": lambda x: {"y": f32(trig.acos_safe(x))},
        "cos_half": lambda x: {"y": f32(crt.cos(0.5 * x))},
        "neg_sin_half": lambda x: {"y": f32(-crt.sin(0.5 * x))},
        "sin": lambda x: {"y": f32(crt.sin(x))},
        "cos": lambda x: {"y": f32(crt.cos(x))},
        "sqrt": lambda x: {"y": f32(crt.sqrt(x))},
        "atan2": lambda y, x: {"angle": f32(crt.atan2(y, x))},
    }


def _point3(core: Core) -> Mapping[str, ItemFunction]:
    def length_unify(v: Point3) -> Mapping[str, object]:
        unit, length = point3.length_unify(core, v)
        return {"v": unit, "length": length}

    return {
        "point3.normalize": lambda v: {"v": point3.normalize(core, v)},
        "point3.unify": lambda v: {"v": point3.unify(core, v)},
        "point3.length_unify": length_unify,
        "point3.zero_length": length_unify,
        "point3.cross": lambda a, b: {"v": point3.cross(core, a, b)},
    }


def _matrix3(core: Core) -> Mapping[str, ItemFunction]:
    def matrix(values: Vector) -> Matrix3:
        return from_values(core, values)

    return {
        "matrix3.multiply": lambda a, b: {"m": values_of(matrix3.multiply(core, matrix(a), matrix(b)))},
        "matrix3.invert": lambda m: {"m": values_of(matrix3.invert(core, matrix(m)))},
        "matrix3.vector_transform": lambda m, v: {"v": matrix3.vector_transform(core, v, matrix(m))},
        "matrix3.point_transform": lambda m, v: {"v": matrix3.point_transform(core, v, matrix(m))},
        "matrix3.validate_flags": lambda m: {"flags": matrix(m).flags},
        "matrix3.to_euler": lambda m: {"euler": euler.to_euler(core, matrix(m))},
    }


def _rotations(core: Core) -> Mapping[str, ItemFunction]:
    def pre_rotate(m: Vector, axis: str, angle: float) -> Mapping[str, object]:
        return {"m": values_of(rotation.pre_rotate(core, from_values(core, m), axis, angle))}

    def rotate(m: Vector, axis: str, angle: float) -> Mapping[str, object]:
        return {"m": values_of(rotation.rotate(core, from_values(core, m), axis, angle))}

    def pre_apply(q: Quat, m: Vector) -> Mapping[str, object]:
        return {"m": values_of(rotation.pre_apply(core, q, from_values(core, m)))}

    return {
        "matrix3.pre_rotate": pre_rotate,
        "matrix3.rotate": rotate,
        "matrix3.rot_angle_axis": lambda axis, angle: {"m": values_of(rotation.rot_angle_axis(core, axis, angle))},
        "rotation.pre_apply": pre_apply,
        "ik.zero_map": lambda v, n0, a0: {"v": chain.zero_map(core, n0, a0, v)},
    }


def _quat(core: Core) -> Mapping[str, ItemFunction]:
    return {
        "quat.conjugate": lambda q: {"q": quat.conjugate(q)},
        "quat.product": lambda a, b: {"q": quat.product(core, a, b)},
        "quat.from_ang_axis": lambda axis, angle: {"q": quat.from_ang_axis(core, axis, angle)},
        "quat.make_matrix": lambda q: {"m": values_of(quat.make_matrix(core, q))},
    }


def _spline(core: Core) -> Mapping[str, ItemFunction]:
    def position(spline: Spline, u: float, type: int) -> Mapping[str, object]:  # noqa: A002, ARG001 - vector-format.md names it
        return {"point": spline_curve.position(core, spline["segments"])(u)}

    return {"spline.position": position}
