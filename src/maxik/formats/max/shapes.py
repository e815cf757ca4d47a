"""Splines on nodes: knots, and the helpers that carry them (max-format.md 8, max-format-spline-ik.md S.3).

A spline is recognised by its content: a container that holds both 2900 (knot count) and 290A (knots); where it stands
depends on the class. Only nodes that a chain or a Path Constraint refers to are looked at.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np

from maxik.formats.max import classes as c
from maxik.formats.max.chunks import Chunk, children
from maxik.formats.max.controllers import MOST_DEPTH, NO_TURN, ONES, ZERO, Controllers
from maxik.formats.max.objects import Objects
from maxik.scene.scene import Knot, Notice, Shape
from maxik.scene.tracks import ConstantTrack
from maxik.scene.transform import QuatRotation, Transform

_KNOT_COUNT, _KNOTS, _CLOSED = 0x2900, 0x290A, 0x290D
_KNOT = struct.Struct("<iif9fI")
_OFFSETS = (0x096A, 0x096B, 0x096C)
_HELPERS = 0
MOST_KNOTS = 100_000
_Spline = tuple[tuple[Knot, ...], bool]
"""Knots, and whether they close."""
_MOST_SPLINES = 64
_SEARCH_DEPTH = 6


@dataclass
class Shapes:
    """Reads the shapes of nodes; an object that many nodes share is taken apart once."""

    controllers: Controllers
    _splines: dict[int, list[_Spline]] = field(default_factory=dict)

    def read(self, node: int, place: int) -> Shape | None:
        """Return the shape of a node object; None, with a notice, when it stores no knots.

        `place`: the node's index in Scene.nodes.
        """
        objects = self.controllers.objects
        base, helpers = self._stack(objects.references(node).get(1))
        splines = [] if base is None else self._splines_of(base)
        class_name = "" if base is None else objects.class_of(base).name

        def note(kind: str, what: str, class_name: str = class_name) -> None:
            self.controllers.notices.append(Notice(kind, what, place, class_name, "shape"))

        if not splines:
            note("unsupported", "the object stores no spline knots: nothing can follow it")
            return None
        if len(splines) > 1:
            note("assumed", f"a shape of {len(splines)} splines: only the first is followed")
        knots, closed = splines[0]
        if helpers and len(helpers) != len(knots):
            what = f"{len(helpers)} helpers for {len(knots)} knots: the knots are held where they are stored"
            note("unsupported", what, "Spline IK Control")
            helpers = ()
        return Shape(knots, closed, helpers, _offset(objects, node))

    def _splines_of(self, base: int) -> list[_Spline]:
        if base not in self._splines:
            self._splines[base] = _splines(self.controllers.objects, base)
        return self._splines[base]

    def _stack(self, index: int | None) -> tuple[int | None, tuple[int, ...]]:
        """Return the base object below the modifiers, and the knot helpers of a Spline IK Control among them."""
        objects = self.controllers.objects
        helpers: tuple[int, ...] = ()
        for _ in range(MOST_DEPTH):
            if index is None or objects.class_of(index).id.a not in c.DERIVED_OBJECTS or objects.class_of(index).id.super:
                return index, helpers
            references = objects.references(index)
            for _, target in sorted(references.items()):
                if objects.class_of(target).id == c.SPLINE_IK_CONTROL:
                    helpers = self._helpers(target)
            index = references[max(references)] if references else None
        return None, helpers

    def _helpers(self, modifier: int) -> tuple[int, ...]:
        """Return the helper nodes of a Spline IK Control, one a knot; none when one of them is missing."""
        objects = self.controllers.objects
        for _, target in sorted(objects.references(modifier).items()):
            if objects.class_of(target).id == c.PARAM_BLOCK_2:
                found = [self.controllers.scene_node(entry) for entry in self.controllers.params(target).targets(_HELPERS)]
                return tuple(entry for entry in found if entry is not None) if None not in found else ()
        return ()


def _splines(objects: Objects, index: int) -> list[_Spline]:
    """Return (knots, closed) of every spline of an object, in file order."""
    found: list[_Spline] = []
    waiting = [(objects.chunk_list(index), 0)]
    while waiting and len(found) < _MOST_SPLINES:
        level, depth = waiting.pop(0)
        parts = {chunk.id: chunk for chunk in level}
        if _KNOT_COUNT in parts and _KNOTS in parts:
            found.append((_knots(objects, parts[_KNOTS]), _flag(objects, parts.get(_CLOSED))))
        elif depth < _SEARCH_DEPTH:
            inner = [chunk for chunk in level if chunk.is_container]
            waiting += [(list(children(objects.stream, chunk.start, chunk.end)), depth + 1) for chunk in inner]
    return [(knots, closed) for knots, closed in found if knots]


def _knots(objects: Objects, chunk: Chunk) -> tuple[Knot, ...]:
    data = objects.bytes_of(chunk)
    if len(data) % _KNOT.size:
        message = f"{len(data)} bytes are no whole number of knots"
        raise objects.stream.error(message, chunk.start)
    if len(data) > MOST_KNOTS * _KNOT.size:
        message = f"a spline of more than {MOST_KNOTS} knots"
        raise objects.stream.error(message, chunk.start)
    knots = []
    for kind, _, _, *numbers, _ in _KNOT.iter_unpack(data):
        (px, py, pz), (ix, iy, iz), (ox, oy, oz) = numbers[:3], numbers[3:6], numbers[6:9]
        knots.append(Knot(kind, (px, py, pz), (ix, iy, iz), (ox, oy, oz)))
    return tuple(knots)


def _flag(objects: Objects, chunk: Chunk | None) -> bool:
    return chunk is not None and any(objects.bytes_of(chunk))


def _offset(objects: Objects, node: int) -> Transform | None:
    """Return the object offset of a node; None when there is none or it does nothing."""
    parts = objects.parts(node)
    numbers: list[tuple[float, ...]] = []
    for ident, neutral in zip(_OFFSETS, (ZERO, NO_TURN, (*ONES, *NO_TURN)), strict=True):
        chunk = parts.get(ident)
        stored = chunk is not None and chunk.end - chunk.start == 4 * len(neutral)
        numbers.append(tuple(np.frombuffer(objects.bytes_of(chunk), "<f4").tolist()) if stored and chunk else neutral)
    position, rotation, scale = numbers
    if (position, rotation, scale[:3]) == (ZERO, NO_TURN, ONES):
        return None
    turn = QuatRotation(ConstantTrack(rotation))
    return Transform(ConstantTrack(position), turn, ConstantTrack(scale[:3]), ConstantTrack(scale[3:]))
