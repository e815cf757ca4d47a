"""Writes the Scene and ClassDirectory3 streams of small .max scenes, as max-format.md describes them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from maxik.formats.max import classes as c
from maxik.formats.max.classes import ClassId
from maxik.formats.max.container import Stream

Tables = dict[str, Stream]
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
    c.POSITION_XYZ: "Position XYZ",
    c.EULER_XYZ: "Euler XYZ",
    c.BEZIER_SCALE: "Bezier Scale",
    c.PATH_CONSTRAINT: "Path Constraint",
    c.PARAM_BLOCK_2: "ParamBlock2",
    c.IK_CONTROL: "IKControl",
    c.SPLINE_IK_CHAIN: "SplineIKChain",
    c.IK_CHAIN_CONTROL: "IKChainControl",
    c.BOOLEAN: "Boolean Controller",
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


class MaxScene:
    """Objects of a Scene stream, added leaves first."""

    def __init__(self) -> None:
        self.classes = list(NAMES)
        self.objects: list[bytes] = []
        self.root = self.add(c.ROOT_NODE, chunk(0x2034, b""))

    def add(self, kind: ClassId | int, *chunks: bytes, references: Sequence[int] | None = None) -> int:
        """Add an object of a class (or a fixed chunk id) and return its index."""
        parts = list(chunks)
        if references is not None:
            parts.insert(0, chunk(0x2034, struct.pack(f"<{len(references)}i", *references)))
        ident = kind if isinstance(kind, int) else self.classes.index(kind)
        self.objects.append(chunk(ident, parts))
        return len(self.objects) - 1

    def number(self, value: float) -> int:
        """Add a constant Bezier Float."""
        return self.add(c.BEZIER_FLOAT, chunk(0x7127, [chunk(0x2501, floats(value))]), chunk(0x7230, b""))

    def xyz(self, kind: ClassId, values: Sequence[float]) -> int:
        return self.add(kind, references=[self.number(value) for value in values])

    def prs(self, position: int | Sequence[float], euler: Sequence[float] = (0.0, 0.0, 0.0)) -> int:
        """Add a PRS; `position` is a position or a controller's index."""
        place = position if isinstance(position, int) else self.xyz(c.POSITION_XYZ, position)
        scale = self.add(c.BEZIER_SCALE, chunk(0x2505, floats(1, 1, 1, 0, 0, 0, 1)))
        return self.add(c.PRS, references=[place, self.xyz(c.EULER_XYZ, euler), scale])

    def block(self, *records: bytes, references: Sequence[int] = ()) -> int:
        return self.add(c.PARAM_BLOCK_2, *records, references=references)

    def node(self, name: str, parent: int, controller: int, thing: int = -1) -> int:
        return self.add(
            c.NODE,
            chunk(0x0960, struct.pack("<II", parent, 0)),
            chunk(0x0962, name.encode("utf-16-le")),
            references=[controller, thing],
        )

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

    def streams(self) -> Tables:
        """Return the streams as the container gives them."""
        entries = []
        for kind in self.classes:
            ident = chunk(0x2060, struct.pack("<iIII", -1, kind.a, kind.b, kind.super))
            entries.append(chunk(0x2040, [ident, chunk(0x2042, NAMES[kind].encode("utf-16-le"))]))
        table = b"".join(entries)
        scene = chunk(0x2021, self.objects)
        return {"Scene": Stream("built.max", "Scene", scene), "ClassDirectory3": Stream("built.max", "ClassDirectory3", table)}
