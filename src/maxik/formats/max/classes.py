"""Class ids of a .max file: superclass, A, B, as max-format.md 4, 5 and 7 list them."""

from __future__ import annotations

from typing import NamedTuple


class ClassId(NamedTuple):
    """What identifies a class: A alone is ambiguous across superclasses."""

    super: int
    a: int
    b: int


class ClassEntry(NamedTuple):
    """One line of the class table: its id and its (English, internal) name."""

    id: ClassId
    name: str


FLOAT, POINT3, TRANSFORM, POSITION, ROTATION, SCALE = 0x9003, 0x9005, 0x9008, 0x900B, 0x900C, 0x900D

NODE = ClassId(1, 1, 0)
ROOT_NODE = ClassId(1, 2, 0)
SCENE_OBJECT = (0x2222, 0)
"""A and B of the scene object, which carries the units."""
NODE_MONITOR = ClassId(0x200, 0x18F81903, 0x19033FD2)
PARAM_BLOCK_2 = ClassId(0x82, 0x82, 0)

LINEAR_FLOAT = ClassId(FLOAT, 0x2001, 0)
BEZIER_FLOAT = ClassId(FLOAT, 0x2007, 0)
BOOLEAN = ClassId(FLOAT, 0x5ED56FC5, 0x6AF0E521)
ON_OFF = ClassId(FLOAT, 0x984B8D27, 0x938F3E43)
FLOAT_LIST = ClassId(FLOAT, 0x4B4B1000, 0)

LINEAR_POSITION = ClassId(POSITION, 0x2002, 0)
BEZIER_POSITION = ClassId(POSITION, 0x2008, 0)
TCB_POSITION = ClassId(POSITION, 0x442312, 0)
POSITION_XYZ = ClassId(POSITION, 0x118F7E02, 0xFFEE238A)
PATH_CONSTRAINT = ClassId(POSITION, 0x2011, 0)
POSITION_CONSTRAINT = ClassId(POSITION, 0x2019, 0)
POSITION_LIST = ClassId(POSITION, 0x4B4B1002, 0)

LINEAR_ROTATION = ClassId(ROTATION, 0x2003, 0)
EULER_XYZ = ClassId(ROTATION, 0x2012, 0)
TCB_ROTATION = ClassId(ROTATION, 0x442313, 0)
ORIENTATION_CONSTRAINT = ClassId(ROTATION, 0x2020, 0)
ROTATION_LIST = ClassId(ROTATION, 0x4B4B1003, 0)

LINEAR_SCALE = ClassId(SCALE, 0x2004, 0)
BEZIER_SCALE = ClassId(SCALE, 0x2010, 0)
TCB_SCALE = ClassId(SCALE, 0x442315, 0)
SCALE_XYZ = ClassId(SCALE, 0x118F7C01, 0xFEEE238B)
SCALE_SCRIPT = (0x7C8F3A2A, 0x1E954D91)
"""A and B of the controller that the ALC script virus uses."""
SCALE_LIST = ClassId(SCALE, 0x4B4B1004, 0)

PRS = ClassId(TRANSFORM, 0x2005, 0)
LOOK_AT = ClassId(TRANSFORM, 0x2006, 0)
LINK_CONSTRAINT = ClassId(TRANSFORM, 0x873FE764, 0xAABE8601)
IK_CONTROL = ClassId(TRANSFORM, 0x0E6F5815, 0x717F99A4)
IK_CHAIN_CONTROL = ClassId(TRANSFORM, 0x78724378, 0x008A4FD9)
SPLINE_IK_CHAIN = ClassId(TRANSFORM, 0x21C71167, 0x692D0DD7)

SPLINE_IK_CONTROL = ClassId(0x810, 0x05F43BA4, 0x55FE9305)
"""The modifier that ties a spline's knots to helpers."""

DERIVED_OBJECTS = {0x2032: "Derived Object", 0x2033: "World-space Derived Object"}
"""Chunk ids of modifier stacks, which stand outside the class table."""
