"""Builds small .max files, whole: objects of a Scene stream, class table, time configuration, OLE container, gzip.

Everything is laid out as max-format.md and max-format-spline-ik.md describe it; what no real file has (keyed enable, VH
targets, limits, axis orders) follows their general rules.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Sequence
from pathlib import Path

from maxik.formats.max import classes as c
from maxik.formats.max.classes import ClassId
from ole_writer import ole_file

NODE, ANGLE, BOOL, STRING, FLOAT, WORLD, FRACTION, RADIO = 0x11, 5, 4, 8, 0, 7, 6, 0xD
"""Types of ParamBlock2 parameters (max-format.md 6)."""
TABLE, INLINE, ANIMATED, CONSTANT = 0x0800, 0x01000000, 0x80, 0x40
IK_CHAIN_OBJECT = ClassId(0x50, 0x1C706482, 0x03E82994)
BONE = ClassId(0x10, 0x28BF6E8D, 0x2ECCA840)
LINE = ClassId(0x40, 0x1040, 0)
POINT = ClassId(0x50, 0x2013, 0)
NAMES = {
    c.NODE: "Node",
    c.ROOT_NODE: "RootNode",
    c.PRS: "Position/Rotation/Scale",
    c.BEZIER_FLOAT: "Bezier Float",
    c.LINEAR_FLOAT: "Linear Float",
    c.FLOAT_LIST: "Float List",
    c.POSITION_XYZ: "Position XYZ",
    c.BEZIER_POSITION: "Bezier Position",
    c.TCB_POSITION: "TCB Position",
    c.POSITION_LIST: "Position List",
    c.EULER_XYZ: "Euler XYZ",
    c.TCB_ROTATION: "TCB Rotation",
    c.LINEAR_ROTATION: "Linear Rotation",
    c.ROTATION_LIST: "Rotation List",
    c.ORIENTATION_CONSTRAINT: "Orientation Constraint",
    c.BEZIER_SCALE: "Bezier Scale",
    c.TCB_SCALE: "TCB Scale",
    c.SCALE_XYZ: "ScaleXYZ",
    c.PATH_CONSTRAINT: "Path Constraint",
    c.POSITION_CONSTRAINT: "Position Constraint",
    c.LINK_CONSTRAINT: "Link Constraint",
    c.LOOK_AT: "Look At",
    c.PARAM_BLOCK_2: "ParamBlock2",
    c.IK_CONTROL: "IKControl",
    c.SPLINE_IK_CHAIN: "SplineIKChain",
    c.IK_CHAIN_CONTROL: "IKChainControl",
    c.BOOLEAN: "Boolean Controller",
    c.ON_OFF: "On/Off",
    c.NODE_MONITOR: "NodeMonitor",
    c.SPLINE_IK_CONTROL: "Spline IK Control",
    IK_CHAIN_OBJECT: "IK Chain Object",
    BONE: "Bone",
    LINE: "Line",
    POINT: "Point",
}


def chunk(ident: int, payload: bytes | Sequence[bytes]) -> bytes:
    """Return a leaf of bytes, or a container of chunks."""
    container = not isinstance(payload, bytes)
    body = payload if isinstance(payload, bytes) else b"".join(payload)
    return struct.pack("<HI", ident, (6 + len(body)) | (0x80000000 if container else 0)) + body


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def record(ident: int, kind: int, value: bytes = b"", *, flags: int = 0, mark: int = 0x40) -> bytes:
    """Return a ParamBlock2 record of 3ds Max 2013 and later."""
    return chunk(0x100E, struct.pack("<HHI6xB", ident, kind, flags, mark) + value)


def constant(ident: int, kind: int, *values: float) -> bytes:
    """Return a record with a constant: floats for the float types, whole numbers for the others."""
    code = "f" if kind in (FLOAT, ANGLE, WORLD, FRACTION) else "i"
    return record(ident, kind, struct.pack(f"<{len(values)}{code}", *values))


def node_table(ident: int, count: int) -> bytes:
    """Return a table of nodes, each in a reference slot."""
    return record(ident, TABLE | NODE, struct.pack("<I", count) + bytes(count), mark=0)


def float_table(ident: int, *weights: float | None) -> bytes:
    """Return a table of floats; None stands for one that a controller in a reference slot animates."""
    elements = [bytes([ANIMATED]) if weight is None else bytes([CONSTANT]) + floats(weight) for weight in weights]
    return record(ident, TABLE | FLOAT, struct.pack("<I", len(weights)) + b"".join(elements), mark=0)


class MaxScene:
    """Objects of a Scene stream, added leaves first."""

    def __init__(self, root_id: int = 0x2021) -> None:
        self.root_id = root_id
        self.classes = list(NAMES)
        self.names = dict(NAMES)
        self.objects: list[bytes] = []
        self.root = self.add(c.ROOT_NODE, chunk(0x2034, b""))

    def add(self, kind: ClassId | int, *chunks: bytes, references: Sequence[int] | None = None) -> int:
        """Add an object of a class (or a fixed chunk id) and return its index."""
        parts = list(chunks)
        if references is not None:
            parts.insert(0, chunk(0x2034, struct.pack(f"<{len(references)}i", *references)))
        if not isinstance(kind, int) and kind not in self.classes:
            self.classes.append(kind)
        ident = kind if isinstance(kind, int) else self.classes.index(kind)
        self.objects.append(chunk(ident, parts))
        return len(self.objects) - 1

    def number(self, value: float) -> int:
        """Add a constant Bezier Float."""
        return self.add(c.BEZIER_FLOAT, chunk(0x7127, [chunk(0x2501, floats(value))]), chunk(0x7230, b""))

    def keys(self, kind: ClassId, table: int, *records: bytes, wrapped: bool = False) -> int:
        """Add a key-frame controller with a key table; `wrapped` stands it in a 7127 container, as newer files do."""
        parts = [chunk(table, b"".join(records))]
        return self.add(kind, chunk(0x7127, parts)) if wrapped else self.add(kind, *parts)

    def linear(self, *keys: tuple[int, float]) -> int:
        """Add a Linear Float with keys (tick, value)."""
        return self.keys(c.LINEAR_FLOAT, 0x2511, *(struct.pack("<iIf", tick, 0, value) for tick, value in keys))

    def switch(self, *keys: tuple[int, float]) -> int:
        """Add a Boolean Controller: constant with one number's worth of keys, keyed with more."""
        value = chunk(0x3006, floats(keys[0][1]))
        if len(keys) == 1:
            return self.add(c.BOOLEAN, value)
        records = b"".join(struct.pack("<iIf", tick, 0, number) for tick, number in keys)
        return self.add(c.BOOLEAN, value, chunk(0x3005, records))

    def xyz(self, kind: ClassId, values: Sequence[float]) -> int:
        return self.add(kind, references=[self.number(value) for value in values])

    def prs(
        self, position: int | Sequence[float], rotation: int | Sequence[float] = (0.0, 0.0, 0.0), scale: int | None = None
    ) -> int:
        """Add a PRS; position and Euler angles are numbers or a controller's index, the scale 1 or a controller."""
        place = position if isinstance(position, int) else self.xyz(c.POSITION_XYZ, position)
        turn = rotation if isinstance(rotation, int) else self.xyz(c.EULER_XYZ, rotation)
        if scale is None:
            scale = self.add(c.BEZIER_SCALE, chunk(0x2505, floats(1, 1, 1, 0, 0, 0, 1)))
        return self.add(c.PRS, references=[place, turn, scale])

    def euler(self, angles: Sequence[float], order: int) -> int:
        """Add an Euler controller with an axis order."""
        parts = [self.number(angle) for angle in angles]
        return self.add(c.EULER_XYZ, chunk(0x1003, struct.pack("<I", order)), references=parts)

    def listed(self, kind: ClassId, entries: Sequence[int], *weights: float, average: bool = False) -> int:
        """Add a list controller with constant weights, 1 where none are given."""
        block = self.block(float_table(0, *(weights or [1.0] * len(entries))), constant(1, BOOL, average))
        return self.add(kind, chunk(0x1010, struct.pack("<I", len(entries))), references=[*entries, -1, -1, block])

    def block(self, *records: bytes, references: Sequence[int] = ()) -> int:
        return self.add(c.PARAM_BLOCK_2, *records, references=references)

    def node(self, name: str, parent: int, controller: int, thing: int = -1) -> int:
        return self.add(
            c.NODE,
            chunk(0x0960, struct.pack("<II", parent, 0)),
            chunk(0x0962, name.encode("utf-16-le")),
            references=[controller, thing],
        )

    def joint(self, name: str, parent: int, place: Sequence[float], preferred: Sequence[float], *records: bytes) -> int:
        """Add a bone under IK: FK pose and preferred angles alike, with more records of its block."""
        angles = [constant(39 + axis, ANGLE, angle) for axis, angle in enumerate(preferred)]
        control = self.add(c.IK_CONTROL, references=[self.block(*records, *angles), self.prs(place, preferred), -1, -1])
        return self.node(name, parent, control, self.add(BONE))

    def chain(  # noqa: PLR0913 - a chain has that many parts
        self,
        name: str,
        joints: Sequence[int],
        goal: int,
        *,
        parent: int | None = None,
        solver: str = "IKLimb",
        enabled: int | None = None,
        swivel: float = 0.0,
        vh_target: int | None = None,
    ) -> int:
        """Add a goal node with its chain; `goal` is its PRS, `swivel` an angle or a controller, others are objects."""
        text = (solver + "\0").encode("utf-16-le")
        animated = isinstance(swivel, int)
        block = self.block(
            record(4, ANGLE, mark=ANIMATED) if animated else constant(4, ANGLE, swivel),
            record(0, NODE, struct.pack("<i", joints[0]), flags=INLINE),
            record(1, NODE, struct.pack("<i", joints[-1]), flags=INLINE),
            record(2, STRING, struct.pack("<I", len(text)) + text),
            constant(17, BOOL, 1),
            record(18, NODE, mark=0),
            constant(19, RADIO, 1),
            references=[*([int(swivel)] if animated else []), -1 if vh_target is None else vh_target],
        )
        enabled = self.switch((0, 1.0)) if enabled is None else enabled
        control = self.add(c.IK_CHAIN_CONTROL, references=[block, goal, joints[-1], enabled, joints[0], -1])
        return self.node(name, self.root if parent is None else parent, control, self.add(IK_CHAIN_OBJECT))

    def line(self, knots: Sequence[Sequence[float]], *, closed: bool = False) -> int:
        """Add a Line of auto knots, nested as 3ds Max nests it."""
        data = b"".join(struct.pack("<iif9fI", 0, 0, 0.0, *knot, *knot, *knot, 0) for knot in knots)
        spline = chunk(
            0x1010,
            [
                chunk(0x2900, struct.pack("<I", len(knots))),
                chunk(0x2904, struct.pack("<I", 0)),
                chunk(0x290A, data),
                chunk(0x290D, struct.pack("<I", closed)),
            ],
        )
        return self.add(LINE, chunk(0x2000, [chunk(0x1010, [spline])]))

    def streams(self, *, first: int = 0, last: int = 4800, rate: int = 30) -> dict[str, bytes]:
        """Return the streams; the range is in ticks."""
        entries = []
        for kind in self.classes:
            ident = chunk(0x2060, struct.pack("<iIII", -1, kind.a, kind.b, kind.super))
            name = self.names.get(kind, "Unknown Plug-in").encode("utf-16-le")
            entries.append(chunk(0x2040, [ident, chunk(0x2042, name)]))
        times = ((0x0010, rate), (0x0050, first), (0x0060, last))
        config = chunk(0x20B0, [chunk(ident, struct.pack("<i", value)) for ident, value in times])
        return {"Scene": chunk(self.root_id, self.objects), "ClassDirectory3": b"".join(entries), "Config": config}

    def write(self, path: Path, *, compressed: bool = False, **times: int) -> Path:
        """Write the .max file; `compressed` gzips every stream, as "compress on save" does."""
        streams = self.streams(**times)
        if compressed:
            streams = {name: gzip.compress(data, mtime=0) for name, data in streams.items()}
        path.write_bytes(ole_file(streams))
        return path
