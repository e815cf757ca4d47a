"""Scene JSON, format "maxik-scene/1": a Scene as text, exact to the float32 bit (docs/scene-json.md).

Numbers are the shortest decimals that round-trip float32; a reader also takes bit patterns of 8 hex digits, and
degrees for angles. What has its default may be left out. A mistake, a misspelt key too, is a FileFormatError with the
JSON path of the value, such as nodes[3].rotation.x.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from maxik.errors import FileFormatError
from maxik.formats.whole_file import write_whole
from maxik.numerics.float32 import f32, from_hex
from maxik.scene import tracks as t
from maxik.scene.scene import (
    Chain,
    EulerRotation,
    Joint,
    Knot,
    Node,
    Notice,
    PathPosition,
    QuatRotation,
    Scene,
    Shape,
    SplineGoal,
    Transform,
    Units,
)

FORMAT = "maxik-scene/1"
_ZERO, _ONES, _NO_TURN = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0, 1.0)
_KEYED: Mapping[str, type[t.KeyedTrack]] = {
    "linear": t.LinearTrack,
    "step": t.StepTrack,
    "bezier": t.BezierTrack,
    "tcb": t.TcbTrack,
    "slerp": t.SlerpTrack,
    "tcb-rotation": t.TcbRotationTrack,
}
_KEYED_NAMES = {kind: name for name, kind in _KEYED.items()}
_QUATERNION_KEYS = ("slerp", "tcb-rotation")
_IN_UNITS_OF_THE_VALUE = ("values", "in_tangents", "out_tangents")
_SWIVEL_PARENTS = ("start-joint", "goal")
_SCENE_KEYS = ("format", "frame_rate", "range", "units", "nodes", "chains", "notices", "source")
_TRANSFORM_KEYS = ("position", "rotation", "scale", "scale_axis")
_NODE_KEYS = ("name", "parent", *_TRANSFORM_KEYS, "object_class", "controller_class", "joint", "shape", "on_path")


# ---- writing ----


def write_scene_json(scene: Scene, path: str | Path) -> None:
    """Write a scene, whole or not at all."""
    write_whole(path, dumps_scene(scene).encode())


def dumps_scene(scene: Scene) -> str:
    """Return a scene as JSON text, one node and one chain a line."""
    head = {
        "format": FORMAT,
        "frame_rate": scene.frame_rate,
        "range": [scene.first_tick, scene.last_tick],
        "units": {"name": scene.units.name, "metres": scene.units.metres},
        "source": dict(scene.source),
    }
    lines = [f"  {_text(key)}: {_text(value)}," for key, value in head.items()]
    for key, entries in (
        ("nodes", [_node_entry(node) for node in scene.nodes]),
        ("chains", [_chain_entry(chain) for chain in scene.chains]),
        ("notices", [_filled(notice) for notice in scene.notices]),
    ):
        rows = ",\n".join(f"    {_text(entry)}" for entry in entries)
        lines.append(f'  "{key}": [\n{rows}\n  ],' if entries else f'  "{key}": [],')
    lines[-1] = lines[-1].rstrip(",")
    return "{\n" + "\n".join(lines) + "\n}\n"


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _transform_entry(transform: Transform) -> dict[str, Any]:
    rotation = transform.rotation
    entry: dict[str, Any] = {"position": _track_entry(transform.position)}
    if isinstance(rotation, EulerRotation):
        entry["rotation"] = {axis: _track_entry(getattr(rotation, axis)) for axis in "xyz"}
        if rotation.axis_order:
            entry["rotation"]["axis_order"] = rotation.axis_order
    else:
        entry["rotation"] = {"quaternion": _track_entry(rotation.quat)}
    entry["scale"] = _track_entry(transform.scale)
    entry["scale_axis"] = _track_entry(transform.scale_axis)
    return entry


def _node_entry(node: Node) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": node.name, "parent": node.parent, **_transform_entry(node.transform)}
    entry["object_class"], entry["controller_class"] = node.object_class, node.controller_class
    if node.joint is not None:
        joint: dict[str, Any] = {"preferred": _track_entry(node.joint.preferred)}
        if node.joint.initial_position is not None:
            joint["initial_position"] = [_number_entry(value) for value in node.joint.initial_position]
        joint.update({key: getattr(node.joint, key) for key in ("inactive_axes", "limited_axes") if getattr(node.joint, key)})
        entry["joint"] = joint
    if node.shape is not None:
        entry["shape"] = _shape_entry(node.shape)
    if node.on_path is not None:
        entry["on_path"] = {"shape": node.on_path.shape, "percent": _track_entry(node.on_path.percent)}
    return entry


def _chain_entry(chain: Chain) -> dict[str, Any]:
    entry = _filled(chain)
    entry["swivel"], entry["enabled"] = _track_entry(chain.swivel), _track_entry(chain.enabled)
    del entry["spline"]
    if chain.spline is not None:
        entry["spline"] = {
            "shape": chain.spline.shape,
            "start_twist": _track_entry(chain.spline.start_twist),
            "end_twist": _track_entry(chain.spline.end_twist),
            "up_node": chain.spline.up_node,
        }
    return entry


def _shape_entry(shape: Shape) -> dict[str, Any]:
    entry: dict[str, Any] = {"closed": shape.closed, "helpers": list(shape.helpers)}
    entry["knots"] = [
        {
            "kind": knot.kind,
            **{key: [_number_entry(value) for value in getattr(knot, key)] for key in ("point", "in_handle", "out_handle")},
        }
        for knot in shape.knots
    ]
    if shape.offset is not None:
        entry["offset"] = _transform_entry(shape.offset)
    return entry


def _filled(value: Chain | Notice) -> dict[str, Any]:
    return {entry.name: getattr(value, entry.name) for entry in fields(value)}


def _track_entry(track: t.Track) -> Any:  # noqa: ANN401 - JSON
    if isinstance(track, t.ConstantTrack):
        numbers = [_number_entry(value) for value in track.value]
        return numbers[0] if len(numbers) == 1 else numbers
    if isinstance(track, t.ComponentsTrack):
        return {"components": [_track_entry(part) for part in track.tracks]}
    if not isinstance(track, t.KeyedTrack):
        message = f"a track of class {type(track).__name__} has no JSON form"
        raise TypeError(message)
    entry: dict[str, Any] = {"keys": _KEYED_NAMES[type(track)]}
    for part in fields(track):
        value = getattr(track, part.name)
        rows = value and isinstance(value[0], tuple)
        entry[part.name] = [[_number_entry(number) for number in row] for row in value] if rows else list(value)
    return entry


def _number_entry(value: float) -> float | str:
    """Return the shortest decimal that round-trips float32; "nan", "inf" as bit patterns, since JSON has none."""
    if not math.isfinite(value):
        return f"{int(np.float32(value).view(np.uint32)):08x}"
    return float(str(np.float32(value)))


# ---- reading ----


def read_scene_json(path: str | Path) -> Scene:
    """Read a scene JSON file. Raises FileFormatError with file and JSON path (or line, when it is no JSON)."""
    file = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise FileFormatError(message, file=file) from error
    except UnicodeDecodeError as error:
        message = "is not UTF-8 text"
        raise FileFormatError(message, file=file, offset=error.start) from error
    try:
        return _scene(_At(file, "", _json(file, text)))
    except RecursionError as error:
        message = "is nested too deep"
        raise FileFormatError(message, file=file) from error


def _json(file: str, text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        message = f"is not JSON: {error.msg}"
        raise FileFormatError(message, file=file, line=error.lineno) from error
    except ValueError as error:
        message = "holds a whole number with too many digits"
        raise FileFormatError(message, file=file) from error


@dataclass(frozen=True)
class _At:
    """A value of the file and where it stands."""

    file: str
    path: str
    value: Any

    def fail(self, what: str) -> NoReturn:
        message = f"{self.path or 'the file'}: {what}"
        raise FileFormatError(message, file=self.file)

    def has(self, key: str) -> bool:
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def get(self, key: str) -> _At:
        if not isinstance(self.value, dict):
            self.fail("an object is expected")
        if key not in self.value:
            self.fail(f"{key!r} is missing")
        return _At(self.file, f"{self.path}.{key}".lstrip("."), self.value[key])

    def only(self, keys: Sequence[str]) -> _At:
        """Return this object, refusing keys that nothing reads: a misspelt one would be lost in silence."""
        if not isinstance(self.value, dict):
            self.fail("an object is expected")
        for key in self.value:
            if key not in keys:
                self.fail(f"{key!r} is no key here; there are {', '.join(keys)}")
        return self

    def items(self) -> list[_At]:
        if not isinstance(self.value, list):
            self.fail("a list is expected")
        return [_At(self.file, f"{self.path}[{place}]", value) for place, value in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.fail("text is expected")
        return self.value

    def integer(self) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int) or abs(self.value) > 2**31:
            self.fail("a whole number of 32 bits is expected")
        return self.value

    def plain_number(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            self.fail("a number is expected")
        if not abs(self.value) <= sys.float_info.max:  # a NaN too
            self.fail("a finite number is expected")
        return float(self.value)

    def number(self) -> float:
        """Return a float32, from a number or from its bit pattern."""
        if isinstance(self.value, str):
            try:
                return from_hex(self.value)
            except ValueError as error:
                self.fail(str(error))
        return self._rounded(self.plain_number())

    def degrees(self) -> float:
        """Return the float32 radians of a number of degrees."""
        return self._rounded(math.radians(self.plain_number()))

    def _rounded(self, number: float) -> float:
        value = f32(number)
        if not math.isfinite(value):
            self.fail("the number does not fit float32")
        return value


_Read = Callable[[_At], float]


def _scene(at: _At) -> Scene:
    if not at.has("format") or at.get("format").value != FORMAT:
        at.fail(f"the format is not {FORMAT!r}")
    at.only(_SCENE_KEYS)
    units = at.get("units").only(("name", "metres")) if at.has("units") else None
    span = [entry.integer() for entry in at.get("range").items()] if at.has("range") else [0, 0]
    if len(span) != 2 or span[0] > span[1]:  # noqa: PLR2004 - first and last
        at.get("range").fail("first and last tick are expected, in order")
    rate = at.get("frame_rate").plain_number() if at.has("frame_rate") else 30.0
    if not 0.0 < rate <= 4800.0:  # noqa: PLR2004 - ticks a second
        at.get("frame_rate").fail("a rate above 0 and up to 4800 is expected")
    entries = at.get("nodes").items()
    names = [entry.get("name").text() for entry in entries]
    nodes = tuple(_node(entry, names) for entry in entries)
    _refuse_cycles(at, nodes)
    return Scene(
        file=at.file,
        nodes=nodes,
        chains=tuple(_chain(entry, names) for entry in at.get("chains").items()) if at.has("chains") else (),
        frame_rate=rate,
        first_tick=span[0],
        last_tick=span[1],
        units=Units() if units is None else Units(units.get("name").text(), _metres(units.get("metres"))),
        notices=tuple(_notice(entry, names) for entry in at.get("notices").items()) if at.has("notices") else (),
        source=_source(at),
    )


def _metres(at: _At) -> float:
    metres = at.plain_number()
    if metres <= 0.0:
        at.fail("a length above 0 is expected")
    return metres


def _source(at: _At) -> dict[str, str]:
    if not at.has("source"):
        return {"format": FORMAT}
    source = at.get("source")
    return {
        key: source.get(key).text()
        for key in (source.value if isinstance(source.value, dict) else source.fail("an object is expected"))
    }


def _node(at: _At, names: Sequence[str]) -> Node:
    at.only(_NODE_KEYS)
    joint = None
    if at.has("joint"):
        entry = at.get("joint").only(_field_names(Joint))
        initial = None
        if entry.has("initial_position"):
            x, y, z = _row(entry.get("initial_position"), 3)
            initial = (x, y, z)
        joint = Joint(
            preferred=_track(entry.get("preferred"), 3, angles=True),
            initial_position=initial,
            inactive_axes=_optional_text(entry, "inactive_axes"),
            limited_axes=_optional_text(entry, "limited_axes"),
        )
    return Node(
        name=at.get("name").text(),
        parent=_reference(at.get("parent"), names) if at.has("parent") else None,
        transform=_transform(at),
        object_class=_optional_text(at, "object_class"),
        controller_class=_optional_text(at, "controller_class"),
        joint=joint,
        shape=_shape(at.get("shape"), names) if at.has("shape") else None,
        on_path=_on_path(at.get("on_path"), names) if at.has("on_path") else None,
    )


def _transform(at: _At) -> Transform:
    return Transform(
        position=_optional_track(at, "position", _ZERO),
        rotation=_rotation(at.get("rotation")) if at.has("rotation") else QuatRotation(t.ConstantTrack(_NO_TURN)),
        scale=_optional_track(at, "scale", _ONES),
        scale_axis=_optional_track(at, "scale_axis", _NO_TURN),
    )


def _shape(at: _At, names: Sequence[str]) -> Shape:
    at.only(_field_names(Shape))
    knots = tuple(_knot(entry) for entry in at.get("knots").items())
    helpers = tuple(_reference(entry, names) for entry in at.get("helpers").items()) if at.has("helpers") else ()
    if not knots:
        at.get("knots").fail("a spline has at least one knot")
    if helpers and len(helpers) != len(knots):
        at.get("helpers").fail(f"one helper a knot is expected: {len(knots)}, not {len(helpers)}")
    closed = at.get("closed").value if at.has("closed") else False
    if not isinstance(closed, bool):
        at.get("closed").fail("true or false is expected")
    return Shape(knots, closed, helpers, _transform(at.get("offset").only(_TRANSFORM_KEYS)) if at.has("offset") else None)


def _knot(at: _At) -> Knot:
    """Return a knot; a bare point is a knot of kind 0, whose handles follow from the knots."""
    if isinstance(at.value, list):
        x, y, z = _row(at, 3)
        return Knot(0, (x, y, z), (x, y, z), (x, y, z))
    at.only(_field_names(Knot))
    x, y, z = _row(at.get("point"), 3)
    a, b, c = _row(at.get("in_handle"), 3) if at.has("in_handle") else (x, y, z)
    d, e, f = _row(at.get("out_handle"), 3) if at.has("out_handle") else (x, y, z)
    return Knot(at.get("kind").integer() if at.has("kind") else 0, (x, y, z), (a, b, c), (d, e, f))


def _on_path(at: _At, names: Sequence[str]) -> PathPosition:
    at.only(_field_names(PathPosition))
    return PathPosition(_reference(at.get("shape"), names), _optional_track(at, "percent", (0.0,)))


def _spline(at: _At, names: Sequence[str]) -> SplineGoal:
    at.only(_field_names(SplineGoal))
    return SplineGoal(
        shape=_reference(at.get("shape"), names),
        start_twist=_optional_track(at, "start_twist", (0.0,), angles=True),
        end_twist=_optional_track(at, "end_twist", (0.0,), angles=True),
        up_node=_reference(at.get("up_node"), names) if at.has("up_node") else None,
    )


def _rotation(at: _At) -> EulerRotation | QuatRotation:
    if isinstance(at.value, dict) and "quaternion" in at.value:
        return QuatRotation(_track(at.only(("quaternion",)).get("quaternion"), 4))
    if isinstance(at.value, dict) and any(axis in at.value for axis in "xyz"):
        at.only(("x", "y", "z", "axis_order"))
        x, y, z = (_optional_track(at, axis, (0.0,), angles=True) for axis in "xyz")
        return EulerRotation(x, y, z, at.get("axis_order").integer() if at.has("axis_order") else 0)
    constant = _track(at, 3, angles=True)
    if not isinstance(constant, t.ConstantTrack):
        at.fail("three angles, or an object with x, y, z or with quaternion is expected")
    x, y, z = (t.ConstantTrack((angle,)) for angle in constant.value)
    return EulerRotation(x, y, z)


def _chain(at: _At, names: Sequence[str]) -> Chain:
    at.only(_field_names(Chain))
    parent = at.get("swivel_parent").value if at.has("swivel_parent") else _SWIVEL_PARENTS[0]
    if parent not in _SWIVEL_PARENTS:
        at.get("swivel_parent").fail(f"one of {', '.join(_SWIVEL_PARENTS)} is expected")
    return Chain(
        name=at.get("name").text(),
        solver=at.get("solver").text(),
        start=_reference(at.get("start"), names),
        end=_reference(at.get("end"), names),
        goal=_reference(at.get("goal"), names),
        swivel=_optional_track(at, "swivel", (0.0,), angles=True),
        swivel_parent=parent,
        vh_target=_reference(at.get("vh_target"), names) if at.has("vh_target") else None,
        enabled=_optional_track(at, "enabled", (1.0,)),
        spline=_spline(at.get("spline"), names) if at.has("spline") else None,
    )


def _notice(at: _At, names: Sequence[str]) -> Notice:
    at.only(_field_names(Notice))
    return Notice(
        kind=at.get("kind").text(),
        what=at.get("what").text(),
        node=_reference(at.get("node"), names) if at.has("node") else None,
        class_name=_optional_text(at, "class_name"),
        where=_optional_text(at, "where"),
    )


def _reference(at: _At, names: Sequence[str]) -> int:
    """Return a node's index, from the index or from a name that only one node has."""
    if isinstance(at.value, str):
        found = [index for index, name in enumerate(names) if name == at.value]
        if len(found) != 1:
            at.fail(f"{len(found) or 'no'} nodes are called {at.value!r}" + ("; use the index" if found else ""))
        return found[0]
    index = at.integer()
    if not 0 <= index < len(names):
        at.fail(f"there is no node {index}: the file has {len(names)}")
    return index


def _refuse_cycles(at: _At, nodes: Sequence[Node]) -> None:
    for start, node in enumerate(nodes):
        steps, parent = 0, node.parent
        while parent is not None and steps <= len(nodes):
            steps, parent = steps + 1, nodes[parent].parent
        if parent is not None:
            at.get("nodes").items()[start].get("parent").fail("the node is its own ancestor")


def _optional_text(at: _At, key: str) -> str:
    return at.get(key).text() if at.has(key) else ""


def _field_names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(entry.name for entry in fields(kind))


def _optional_track(at: _At, key: str, neutral: tuple[float, ...], *, angles: bool = False) -> t.Track:
    return _track(at.get(key), len(neutral), angles=angles) if at.has(key) else t.ConstantTrack(neutral)


def _track(at: _At, size: int, read: _Read = _At.number, *, angles: bool = False) -> t.Track:
    """Return a constant (a number, a list), components, or keys; for angles, any of them in degrees."""
    if not isinstance(at.value, dict):
        return t.ConstantTrack(_row(at, size, read))
    if "degrees" in at.value:
        if not angles:
            at.fail("degrees are for angles, once around a whole track")
        return _track(at.only(("degrees",)).get("degrees"), size, _At.degrees)
    if "components" in at.value:
        parts = at.only(("components",)).get("components").items()
        if len(parts) != size:
            at.get("components").fail(f"{size} tracks are expected")
        return t.ComponentsTrack(tuple(_track(part, 1, read, angles=angles) for part in parts))
    return _keyed(at, size, read)


def _keyed(at: _At, size: int, read: _Read) -> t.Track:
    kind = at.get("keys").value
    if not isinstance(kind, str) or kind not in _KEYED:
        at.get("keys").fail(f"one of {', '.join(_KEYED)} is expected")
    if kind in _QUATERNION_KEYS and size != len(_NO_TURN):
        at.get("keys").fail(f"{kind} keys are quaternions; a track of {size} is expected here")
    parts = [part.name for part in fields(_KEYED[kind])]
    at.only(("keys", *parts))
    keys = len(at.get("times").items())
    given: dict[str, Any] = {}
    for part in parts:
        entries = at.get(part).items()
        if len(entries) != keys:
            at.get(part).fail(f"{keys} entries are expected, one for each of the times, not {len(entries)}")
        if part in ("times", "in_types", "out_types"):
            given[part] = tuple(entry.integer() for entry in entries)
        else:
            width = 5 if part == "tcb" else size
            in_units = read if part in _IN_UNITS_OF_THE_VALUE else _At.number
            given[part] = tuple(_row(entry, width, in_units) for entry in entries)
    try:
        return _KEYED[kind](**given)
    except ValueError as error:
        at.fail(str(error))


def _row(at: _At, size: int, read: _Read = _At.number) -> tuple[float, ...]:
    """Return `size` numbers; one number may stand without its list."""
    if not isinstance(at.value, list):
        if size == 1:
            return (read(at),)
        at.fail(f"{size} numbers are expected")
    entries = at.items()
    if len(entries) != size:
        at.fail(f"{size} numbers are expected, not {len(entries)}")
    return tuple(read(entry) for entry in entries)
