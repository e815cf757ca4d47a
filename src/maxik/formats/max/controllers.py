"""Controllers to tracks: PRS and its parts, key-frame controllers, lists of one (max-format.md 5).

What is not evaluated here is held: at the controller that it wraps if there is one, else at the value that 3ds Max
cached, else at the neutral value. Each such case is a Notice with node, class and part.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from maxik.formats.max import classes as c
from maxik.formats.max.keys import cached_value, has_other_keys, key_frame_parts, read_keys
from maxik.formats.max.objects import Objects
from maxik.formats.max.params import Params
from maxik.scene.scene import EulerRotation, Notice, QuatRotation, Transform
from maxik.scene.tracks import ComponentsTrack, ConstantTrack, SlerpTrack, Track

MOST_DEPTH = 32
"""How deep controllers may wrap controllers; a reference cycle ends here."""

ZERO, ONES = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
NO_TURN = (0.0, 0.0, 0.0, 1.0)
_LISTS = {c.FLOAT_LIST, c.POSITION_LIST, c.ROTATION_LIST, c.SCALE_LIST}
_FLOAT_KEYS = {c.LINEAR_FLOAT, c.BEZIER_FLOAT}
_POSITION_KEYS = {c.LINEAR_POSITION, c.BEZIER_POSITION, c.TCB_POSITION}
_ROTATION_KEYS = {c.LINEAR_ROTATION, c.TCB_ROTATION}
_SCALE_KEYS = {c.LINEAR_SCALE, c.BEZIER_SCALE, c.TCB_SCALE}
_AXIS_ORDER = 0x1003
_PATH_BLOCK, _PATH_PERCENT, _PATH_NODES = 2, 0, 11
_ON_OFF_STATE, _ON_OFF_CHUNKS = 0x0140, {0x2034, 0x2035, 0x204B, 0x0130, 0x0140}

Rotation = EulerRotation | QuatRotation
Scale = tuple[Track, Track]


@dataclass
class Controllers:
    """Turns controllers into tracks for one node after another, and keeps the notices.

    `paths`: for nodes whose position is a Path Constraint on one path, the path's node object and the percent track.
    """

    objects: Objects
    notices: list[Notice] = field(default_factory=list)
    node: int | None = None
    paths: dict[int, tuple[int, Track]] = field(default_factory=dict)

    def transform(self, index: int | None) -> Transform:  # noqa: PLR0911 - one return for each kind of controller
        """Return the PRS of a transform controller, whatever wraps it."""
        if index is None:
            return self._neutral("transform", "no transform controller: held at the parent's")
        entry, references = self.objects.class_of(index), self.objects.references(index)
        if entry.id == c.PRS:
            return self._prs(references.get(0), references.get(1), references.get(2))
        if entry.id in (c.IK_CONTROL, c.IK_CHAIN_CONTROL, c.SPLINE_IK_CHAIN):
            inner = references.get(1)
            if inner is not None and self.objects.class_of(inner).id == c.PRS:
                return self.transform(inner)
            return self._neutral("transform", "the FK controller below is not a PRS: held at the parent's", entry.name)
        if entry.id == c.LOOK_AT:
            self._note(
                "unsupported",
                "Look At is not evaluated: position and scale are, the rotation is held at none",
                entry.name,
                "rotation",
            )
            position, scale = self.position(references.get(1)), self.scale(references.get(3))
            return Transform(position, QuatRotation(ConstantTrack(NO_TURN)), *scale)
        inner = references.get(0)
        if inner is not None and self.objects.class_of(inner).id == c.PRS:
            self._note("unsupported", "not evaluated: the PRS below it is used alone", entry.name, "transform")
            return self.transform(inner)
        return self._neutral("transform", "not evaluated: held at the parent's", entry.name)

    def number(self, index: int | None, where: str, default: float = 0.0) -> Track:
        """Return a float controller as a track of size 1."""
        return self._track(index, where, (default,), c.FLOAT, self._number)

    def position(self, index: int | None) -> Track:
        """Return a position controller as a track of size 3, scene units."""
        return self._track(index, "position", ZERO, c.POSITION, self._position)

    def rotation(self, index: int | None, depth: int = 0) -> Rotation:
        """Return a rotation controller as Euler angles or quaternions."""
        index = self._entry(index, "rotation", c.ROTATION) if depth < MOST_DEPTH else None
        if index is None:
            return QuatRotation(ConstantTrack(NO_TURN))
        entry, references = self.objects.class_of(index), self.objects.references(index)
        if entry.id == c.EULER_XYZ:
            order = self._axis_order(index)
            if order:
                self._note("unsupported", f"Euler axis order {order} is evaluated as XYZ", entry.name, "rotation")
            x, y, z = (self.number(references.get(slot), f"rotation {axis}") for slot, axis in enumerate("xyz"))
            return EulerRotation(x, y, z, order)
        if entry.id in _ROTATION_KEYS:
            return QuatRotation(self._keyed(index, "rotation", NO_TURN))
        wrapped = self._wrapped(index, "rotation", c.ROTATION)
        if wrapped is not None:
            return self.rotation(wrapped, depth + 1)
        return QuatRotation(self._held(index, "rotation", NO_TURN))

    def scale(self, index: int | None, depth: int = 0) -> Scale:
        """Return a scale controller as a track of size 3 and its axis quaternion, size 4."""
        index = self._entry(index, "scale", c.SCALE) if depth < MOST_DEPTH else None
        if index is None:
            return ConstantTrack(ONES), ConstantTrack(NO_TURN)
        entry, references = self.objects.class_of(index), self.objects.references(index)
        if entry.id == c.SCALE_XYZ:
            parts = tuple(self.number(references.get(slot), f"scale {axis}", 1.0) for slot, axis in enumerate("xyz"))
            return ComponentsTrack(parts), ConstantTrack(NO_TURN)
        if entry.id in _SCALE_KEYS:
            return self._keyed_scale(index)
        wrapped = self._wrapped(index, "scale", c.SCALE)
        if wrapped is not None:
            return self.scale(wrapped, depth + 1)
        whole = self._held(index, "scale", (*ONES, *NO_TURN)).value
        return ConstantTrack(whole[:3]), ConstantTrack(whole[3:])

    def parameter(self, block: int | None, params: Params, ident: int, where: str) -> Track:
        """Return a ParamBlock2's float parameter, constant or animated, as a track of size 1."""
        if block is None or params.is_constant(ident) or params.target(ident) is None:
            return ConstantTrack((params.number(ident),))
        return self.number(params.target(ident), where)

    def _prs(self, position: int | None, rotation: int | None, scale: int | None) -> Transform:
        return Transform(self.position(position), self.rotation(rotation), *self.scale(scale))

    def _track(
        self, index: int | None, where: str, neutral: tuple[float, ...], kind: int, read: Callable[[int, str], Track | None]
    ) -> Track:
        """Follow wrappers until `read` knows the controller; hold what nobody knows."""
        for _ in range(MOST_DEPTH):
            index = self._entry(index, where, kind)
            if index is None:
                return ConstantTrack(neutral)
            track = read(index, where)
            if track is not None:
                return track
            wrapped = self._wrapped(index, where, kind)
            if wrapped is None:
                return self._held(index, where, neutral)
            index = wrapped
        self._note("unsupported", f"controllers wrap each other more than {MOST_DEPTH} deep: held at {neutral}", "", where)
        return ConstantTrack(neutral)

    def _entry(self, index: int | None, where: str, kind: int) -> int | None:
        """Return the controller behind a list of one entry; None, with a notice, when there is none of the kind."""
        for _ in range(MOST_DEPTH):
            if index is None:
                self._note("unsupported", "no controller: held at the neutral value", "", where)
                return None
            if self.objects.class_of(index).id not in _LISTS:
                return index
            entries = [
                target
                for slot, target in sorted(self.objects.references(index).items())
                if self.objects.class_of(target).id.super == kind
            ]
            if len(entries) > 1:
                name = self.objects.class_of(index).name
                self._note("unsupported", f"a list of {len(entries)} controllers: only the first is evaluated", name, where)
            index = entries[0] if entries else None
        return None

    def _number(self, index: int, where: str) -> Track | None:
        ident = self.objects.class_of(index).id
        if ident in _FLOAT_KEYS:
            return self._keyed(index, where, (0.0,))
        if ident == c.BOOLEAN and not has_other_keys(self.objects, index):
            return ConstantTrack(cached_value(self.objects, index) or (0.0,))
        if ident == c.ON_OFF:
            return self._on_off(index)
        return None

    def _position(self, index: int, where: str) -> Track | None:
        ident = self.objects.class_of(index).id
        if ident == c.POSITION_XYZ:
            references = self.objects.references(index)
            return ComponentsTrack(
                tuple(self.number(references.get(slot), f"{where} {axis}") for slot, axis in enumerate("xyz"))
            )
        if ident == c.PATH_CONSTRAINT:
            return self._on_path(index)
        return self._keyed(index, where, ZERO) if ident in _POSITION_KEYS else None

    def _on_path(self, index: int) -> Track | None:
        """Note the one path of a Path Constraint (max-format.md 5.2, max-format-spline-ik.md S.4); None for several."""
        block = self.objects.references(index).get(_PATH_BLOCK)
        if block is None or self.node is None:
            return None
        params = Params(self.objects, block)
        paths = [target for target in params.targets(_PATH_NODES) if target is not None]
        if len(paths) != 1:
            return None
        percent = self.parameter(block, params, _PATH_PERCENT, "path percent")
        if percent != ConstantTrack((0.0,)):
            what = "a Path Constraint away from the path's start: taken at equal shares of the segments"
            self._note("assumed", what, self.objects.class_of(index).name, "position")
        self.paths[self.node] = (paths[0], percent)
        return ConstantTrack(ZERO)

    def _on_off(self, index: int) -> Track | None:
        """Return an On/Off controller without keys: its state stands in chunk 0140; keyed ones were never seen."""
        parts = self.objects.parts(index)
        state = parts.get(_ON_OFF_STATE)
        if state is None or state.end - state.start != 4 or not set(parts) <= _ON_OFF_CHUNKS:  # noqa: PLR2004 - a u32
            return None
        return ConstantTrack((float(struct.unpack("<I", self.objects.bytes_of(state))[0] != 0),))

    def _keyed(self, index: int, where: str, neutral: tuple[float, ...]) -> Track:
        """Return a key-frame controller: its keys if it has any, else its value."""
        if has_other_keys(self.objects, index):
            return self._held(index, where, neutral)
        try:
            keys = read_keys(self.objects, index)
        except ValueError as error:
            return self._held(index, where, neutral, f"damaged keys ({error})")
        if keys is not None and keys.track.size == len(neutral):
            if keys.assumed:
                self._note("assumed", keys.assumed, self.objects.class_of(index).name, where)
            return keys.track
        value = cached_value(self.objects, index)
        if value is None or len(value) < len(neutral):
            return self._held(index, where, neutral, "no value stored")
        return ConstantTrack(value[: len(neutral)])

    def _keyed_scale(self, index: int) -> Scale:
        keys = None
        try:
            keys = read_keys(self.objects, index)
        except ValueError as error:
            self._note("unsupported", f"damaged keys ({error}): held", self.objects.class_of(index).name, "scale")
        if keys is None:
            value = cached_value(self.objects, index)
            if value is None or len(value) != 7:  # noqa: PLR2004 - scale and axis
                value = self._held(index, "scale", (*ONES, *NO_TURN), "no value stored").value
            return ConstantTrack(value[:3]), ConstantTrack(value[3:])
        if keys.assumed:
            self._note("assumed", keys.assumed, self.objects.class_of(index).name, "scale")
        axes = keys.axes or (NO_TURN,)
        if len(set(axes)) == 1:
            return keys.track, ConstantTrack(axes[0])
        self._note("assumed", "the scale axis turns the shorter way between keys", self.objects.class_of(index).name, "scale")
        return keys.track, SlerpTrack(keys.track.times, axes)

    def _wrapped(self, index: int, where: str, kind: int) -> int | None:
        """Return the controller of the same kind in slot 0 of one that is not evaluated, with a notice."""
        inner = self.objects.references(index).get(0)
        if inner is None or self.objects.class_of(inner).id.super != kind:
            return None
        what = f"not evaluated: the {self.objects.class_of(inner).name} below it is used alone"
        self._note("unsupported", what, self.objects.class_of(index).name, where)
        return inner

    def _held(self, index: int, where: str, neutral: tuple[float, ...], why: str = "not evaluated") -> ConstantTrack:
        value = cached_value(self.objects, index)
        name = self.objects.class_of(index).name
        if value is not None and len(value) >= len(neutral) and all(map(math.isfinite, value)):
            self._note("unsupported", f"{why}: held at the value that 3ds Max stored", name, where)
            return ConstantTrack(value[: len(neutral)])
        shown = ", ".join(f"{number:g}" for number in neutral)
        self._note("unsupported", f"{why}, and no value is stored: held at {shown}", name, where)
        return ConstantTrack(neutral)

    def _axis_order(self, index: int) -> int:
        chunk = key_frame_parts(self.objects, index).get(_AXIS_ORDER)
        if chunk is None or chunk.end - chunk.start < 4:  # noqa: PLR2004 - a u32
            return 0
        return int(struct.unpack_from("<I", self.objects.stream.data, chunk.start)[0])

    def _neutral(self, where: str, what: str, class_name: str = "") -> Transform:
        self._note("unsupported", what, class_name, where)
        return Transform(ConstantTrack(ZERO), QuatRotation(ConstantTrack(NO_TURN)), ConstantTrack(ONES), ConstantTrack(NO_TURN))

    def _note(self, kind: str, what: str, class_name: str, where: str) -> None:
        self.notices.append(Notice(kind, what, self.node, class_name, where))
