"""Controllers to tracks: key-frame controllers, components, lists (max-format.md 5).

What is not evaluated is held: at the controller that it wraps if there is one, else at the value that 3ds Max
cached, else at the neutral value. Each such case is a Notice with node, class and part. Transforms with their constraints
are read in transforms.py, on top of this.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from maxik.formats.max import classes as c
from maxik.formats.max.keys import Keys, cached_value, has_other_keys, read_keys
from maxik.formats.max.objects import Objects
from maxik.formats.max.params import Params
from maxik.scene.scene import Notice
from maxik.scene.tracks import ComponentsTrack, ConstantTrack, SlerpTrack, SumTrack, Track

MOST_DEPTH = 32
"""How deep controllers may wrap controllers; a reference cycle ends here."""
STEPS_PER_OBJECT = 20
"""How often, on average, a file's objects may be looked at: controllers that refer to each other in crowds end here."""

ZERO, ONES = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
NO_TURN = (0.0, 0.0, 0.0, 1.0)
LISTS = {c.FLOAT_LIST, c.POSITION_LIST, c.ROTATION_LIST, c.SCALE_LIST}
_WEIGHTS, _AVERAGE = 0, 1
_FLOAT_KEYS = {c.LINEAR_FLOAT, c.BEZIER_FLOAT, c.BOOLEAN}
_POSITION_KEYS = {c.LINEAR_POSITION, c.BEZIER_POSITION, c.TCB_POSITION}
_SCALE_KEYS = {c.LINEAR_SCALE, c.BEZIER_SCALE, c.TCB_SCALE}
_ON_OFF_STATE, _ON_OFF_CHUNKS = 0x0140, {0x2034, 0x2035, 0x204B, 0x0130, 0x0140}

Scale = tuple[Track, Track]


@dataclass(frozen=True)
class Entries:
    """The entries of a list controller that do something: object indices, their weights, whether weights are averaged."""

    controllers: tuple[int, ...]
    weights: tuple[Track, ...]
    average: bool

    @property
    def weighted(self) -> tuple[tuple[int, Track], ...]:
        """Entry and weight side by side."""
        return tuple(zip(self.controllers, self.weights, strict=True))


@dataclass
class Controllers:
    """Turns controllers into tracks for one node after another, and keeps the notices.

    `nodes`: object index of a node -> its index in Scene.nodes; `node`: the node in work, which
    notices name.
    """

    objects: Objects
    nodes: Mapping[int, int] = field(default_factory=dict)
    ticks_per_frame: float = 160.0
    notices: list[Notice] = field(default_factory=list)
    node: int | None = None
    _steps: int = 0
    _params: dict[int, Params] = field(default_factory=dict)
    _keys: dict[int, Keys | str | None] = field(default_factory=dict)

    def params(self, block: int) -> Params:
        """Return the parameters of a ParamBlock2, parsed once."""
        if block not in self._params:
            self._params[block] = Params(self.objects, block)
        return self._params[block]

    def keys(self, index: int) -> Keys | str | None:
        """Return a controller's keys, parsed once; None when it has none, text when they are damaged."""
        if index not in self._keys:
            try:
                self._keys[index] = read_keys(self.objects, index)
            except ValueError as error:
                self._keys[index] = f"damaged keys ({error})"
        return self._keys[index]

    def number(self, index: int | None, where: str, default: float = 0.0) -> Track:
        """Return a float controller as a track of size 1."""
        return self.track(index, where, (default,), self._number)

    def position_track(self, index: int | None, where: str = "position") -> Track:
        """Return a position controller that depends on time alone as a track of size 3, scene units."""
        return self.track(index, where, ZERO, self._position)

    def scale(self, index: int | None, depth: int = 0) -> Scale:
        """Return a scale controller as a track of size 3 and its axis quaternion, size 4."""
        if index is None or not self.step("scale", depth):
            if index is None:
                self.note("unsupported", "no controller: held at the neutral value", "", "scale")
            return ConstantTrack(ONES), ConstantTrack(NO_TURN)
        entry, references = self.objects.class_of(index), self.objects.references(index)
        if entry.id == c.SCALE_LIST:
            return self._scale_list(index, depth)
        if entry.id == c.SCALE_XYZ:
            parts = tuple(self.number(references.get(slot), f"scale {axis}", 1.0) for slot, axis in enumerate("xyz"))
            return ComponentsTrack(parts), ConstantTrack(NO_TURN)
        if entry.id in _SCALE_KEYS:
            return self._keyed_scale(index)
        wrapped = self.wrapped(index, "scale", c.SCALE)
        if wrapped is not None:
            return self.scale(wrapped, depth + 1)
        whole = self.held(index, "scale", (*ONES, *NO_TURN)).value
        return ConstantTrack(whole[:3]), ConstantTrack(whole[3:])

    def parameter(self, params: Params, ident: int, where: str) -> Track:
        """Return a ParamBlock2's float parameter, constant or animated, as a track of size 1."""
        if params.is_constant(ident) or ident not in params:
            return ConstantTrack((params.number(ident),))
        return self.number(params.target(ident), where)

    def weights(self, params: Params, ident: int, count: int, where: str) -> tuple[Track, ...]:
        """Return the weights of `count` entries, each a track of size 1; 1 where the table has none."""
        found: list[Track] = []
        if not self.step(where, 0, cost=count):
            return ()
        for place, (value, target) in enumerate(params.elements(ident)[:count], 1):
            if target is not None:
                found.append(self.number(target, f"{where} weight {place}", 1.0))
            else:
                found.append(ConstantTrack((1.0 if value is None else value,)))
        return (*found, *[ConstantTrack((1.0,))] * (count - len(found)))

    def entries(self, index: int, kind: int, where: str) -> Entries:
        """Return the entries of a list controller (max-format.md 5.2), in file order."""
        references = self.objects.references(index)
        if not self.step(where, 0, cost=len(references)):
            return Entries((), (), average=False)
        blocks = [target for target in references.values() if self.objects.class_of(target).id == c.PARAM_BLOCK_2]
        slots = [slot for slot, target in sorted(references.items()) if self.objects.class_of(target).id.super == kind]
        if not blocks:
            return Entries(tuple(references[slot] for slot in slots), (ConstantTrack((1.0,)),) * len(slots), average=False)
        params = self.params(blocks[-1])
        weights = self.weights(params, _WEIGHTS, max(slots, default=-1) + 1, where)
        if not weights:
            return Entries((), (), average=False)
        return Entries(
            tuple(references[slot] for slot in slots),
            tuple(weights[slot] for slot in slots),
            average=bool(params.integer(_AVERAGE)) and len(slots) > 1,
        )

    def note_weights(self, entries: Entries, class_name: str, where: str) -> None:
        """Say that a list's weights rest on an assumption, where they do anything."""
        if entries.average or any(weight != ConstantTrack((1.0,)) for weight in entries.weights):
            self.note("assumed", "list weights other than 1: their rule is not verified against 3ds Max", class_name, where)

    def track(
        self,
        index: int | None,
        where: str,
        neutral: tuple[float, ...],
        read: Callable[[int, str], Track | None],
        depth: int = 0,
    ) -> Track:
        """Return what `read` makes of a controller, of a list's sum, or of what an unknown controller wraps."""
        kind = c.FLOAT if len(neutral) == 1 else c.POSITION
        if index is None or not self.step(where, depth):
            if index is None:
                self.note("unsupported", "no controller: held at the neutral value", "", where)
            return ConstantTrack(neutral)
        entry = self.objects.class_of(index)
        if entry.id in LISTS:
            entries = self.entries(index, kind, where)
            if not entries.controllers:
                return ConstantTrack(neutral)
            parts = [self.track(target, where, neutral, read, depth + 1) for target in entries.controllers]
            return self.summed(parts, entries, entry.name, where)
        track = read(index, where)
        if track is not None:
            return track
        wrapped = self.wrapped(index, where, kind)
        if wrapped is None:
            return self.held(index, where, neutral)
        return self.track(wrapped, where, neutral, read, depth + 1)

    def summed(self, parts: list[Track], entries: Entries, class_name: str, where: str) -> Track:
        """Return a list's sum; parts that are nought at all times are left out."""
        one = ConstantTrack((1.0,))
        if len(parts) == 1 and (entries.average or entries.weights[0] == one):
            return parts[0]
        if not entries.average:
            kept = [
                (part, weight)
                for part, weight in zip(parts, entries.weights, strict=True)
                if not (isinstance(part, ConstantTrack) and not any(part.value))
            ]
            if len(kept) == 1 and kept[0][1] == one:
                return kept[0][0]
        self.note_weights(entries, class_name, where)
        return SumTrack(tuple(parts), entries.weights, entries.average)

    def step(self, where: str, depth: int, cost: int = 1) -> bool:
        """Count a controller or what it lists; False, with a notice, when they go too deep or are too many."""
        self._steps += cost
        enough = self._steps > STEPS_PER_OBJECT * (len(self.objects) + 500)
        if depth <= MOST_DEPTH and not enough:
            return True
        many = "over and over" if enough else f"more than {MOST_DEPTH} deep"
        self.note("unsupported", f"controllers refer to each other {many}: held at the neutral value", "", where)
        return False

    def wrapped(self, index: int, where: str, kind: int) -> int | None:
        """Return the controller of the same kind in slot 0 of one that is not evaluated, with a notice."""
        inner = self.objects.references(index).get(0)
        if inner is None or self.objects.class_of(inner).id.super != kind:
            return None
        what = f"not evaluated: the {self.objects.class_of(inner).name} below it is used alone"
        self.note("unsupported", what, self.objects.class_of(index).name, where)
        return inner

    def held(self, index: int, where: str, neutral: tuple[float, ...], why: str = "not evaluated") -> ConstantTrack:
        """Return the value that 3ds Max cached in a controller, or the neutral one; with a notice."""
        value = cached_value(self.objects, index)
        name = self.objects.class_of(index).name
        if value is not None and len(value) >= len(neutral) and all(map(math.isfinite, value)):
            self.note("unsupported", f"{why}: held at the value that 3ds Max stored", name, where)
            return ConstantTrack(value[: len(neutral)])
        shown = ", ".join(f"{number:g}" for number in neutral)
        self.note("unsupported", f"{why}, and no value is stored: held at {shown}", name, where)
        return ConstantTrack(neutral)

    def keyed(self, index: int, where: str, neutral: tuple[float, ...]) -> Track:
        """Return a key-frame controller: its keys if it has any, else its value."""
        if has_other_keys(self.objects, index):
            return self.held(index, where, neutral)
        keys = self.keys(index)
        if isinstance(keys, str):
            return self.held(index, where, neutral, keys)
        if keys is not None and keys.track.size == len(neutral):
            if keys.assumed:
                self.note("assumed", keys.assumed, self.objects.class_of(index).name, where)
            return keys.track
        value = cached_value(self.objects, index)
        if value is None or len(value) < len(neutral):
            return self.held(index, where, neutral, "no value stored")
        return ConstantTrack(value[: len(neutral)])

    def scene_node(self, index: int | None) -> int | None:
        """Return the place in Scene.nodes of a node object, or of what a NodeMonitor points at; None for anything else."""
        if index is not None and self.objects.class_of(index).id == c.NODE_MONITOR:
            index = self.objects.references(index).get(0)
        return None if index is None else self.nodes.get(index)

    def note(self, kind: str, what: str, class_name: str, where: str) -> None:
        """Keep a notice about the node in work."""
        self.notices.append(Notice(kind, what, self.node, class_name, where))

    def _number(self, index: int, where: str) -> Track | None:
        ident = self.objects.class_of(index).id
        if ident in _FLOAT_KEYS:
            return self.keyed(index, where, (0.0,))
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
        return self.keyed(index, where, ZERO) if ident in _POSITION_KEYS else None

    def _on_off(self, index: int) -> Track | None:
        """Return an On/Off controller without keys: its state stands in chunk 0140; keyed ones were never seen."""
        parts = self.objects.parts(index)
        state = parts.get(_ON_OFF_STATE)
        if state is None or state.end - state.start != 4 or not set(parts) <= _ON_OFF_CHUNKS:  # noqa: PLR2004 - a u32
            return None
        return ConstantTrack((float(struct.unpack("<I", self.objects.bytes_of(state))[0] != 0),))

    def _keyed_scale(self, index: int) -> Scale:
        keys = self.keys(index)
        if isinstance(keys, str):
            self.note("unsupported", f"{keys}: held", self.objects.class_of(index).name, "scale")
        if keys is None or isinstance(keys, str):
            value = cached_value(self.objects, index)
            if value is None or len(value) != 7:  # noqa: PLR2004 - scale and axis
                value = self.held(index, "scale", (*ONES, *NO_TURN), "no value stored").value
            return ConstantTrack(value[:3]), ConstantTrack(value[3:])
        if keys.assumed:
            self.note("assumed", keys.assumed, self.objects.class_of(index).name, "scale")
        if keys.axes is None or (keys.axes == keys.axes[0]).all():
            return keys.track, ConstantTrack(NO_TURN if keys.axes is None else tuple(keys.axes[0].tolist()))
        self.note("assumed", "the scale axis turns the shorter way between keys", self.objects.class_of(index).name, "scale")
        return keys.track, SlerpTrack(keys.track.times, keys.axes)

    def _scale_list(self, index: int, depth: int) -> Scale:
        """Return a scale list: the one entry that scales; of several, with a notice, the first (the rule is unknown)."""
        name = self.objects.class_of(index).name
        entries = self.entries(index, c.SCALE, "scale")
        self.note_weights(entries, name, "scale")
        scales = [self.scale(target, depth + 1) for target in entries.controllers]
        unit = ConstantTrack(ONES)
        working = [scale for scale in scales if scale[0] not in (unit, ComponentsTrack((ConstantTrack((1.0,)),) * 3))]
        if len(working) > 1:
            self.note("unsupported", f"a list of {len(working)} scales: only the first is evaluated", name, "scale")
        return working[0] if working else (unit, ConstantTrack(NO_TURN))
