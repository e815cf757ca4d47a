"""Transforms as JSON, both ways (docs/scene-json.md): tracks, constraints to other nodes, lists, links."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from maxik.formats.json_tracks import optional_track, read_track, read_weights, row, track_entry
from maxik.formats.json_values import At, field_names, number_entry
from maxik.scene.tracks import ConstantTrack, Track
from maxik.scene.transform import (
    AXIS_ORDERS,
    EulerRotation,
    Links,
    LookAt,
    OrientationConstraint,
    PathPosition,
    Position,
    PositionConstraint,
    PositionList,
    QuatRotation,
    Rotation,
    RotationList,
    Transform,
)

TRANSFORM_KEYS = ("position", "rotation", "scale", "scale_axis")
ZERO, ONES, NO_TURN = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0, 1.0)
_LIST_KEYS = ("list", "weights", "average")


# ---- writing ----


def transform_entry(transform: Transform) -> dict[str, Any]:
    """Return a transform as JSON data."""
    return {
        "position": _position_entry(transform.position),
        "rotation": _rotation_entry(transform.rotation),
        "scale": track_entry(transform.scale),
        "scale_axis": track_entry(transform.scale_axis),
    }


def links_entry(links: Links) -> dict[str, Any]:
    """Return a Link Constraint as JSON data."""
    return {"times": list(links.times), "targets": list(links.targets)}


def _position_entry(source: Position) -> Any:  # noqa: ANN401 - JSON
    if isinstance(source, PositionList):
        return _list_entry(source, [_position_entry(entry) for entry in source.entries])
    if isinstance(source, PathPosition):
        entry: dict[str, Any] = {"paths": list(source.paths), "weights": _weight_entries(source.weights)}
        entry["percent"] = track_entry(source.percent)
        entry.update({key: True for key in ("constant_velocity", "loop") if getattr(source, key)})
        return entry
    if isinstance(source, PositionConstraint):
        entry = {"targets": list(source.targets), "weights": _weight_entries(source.weights)}
        entry["offset"] = [number_entry(value) for value in source.offset]
        return entry
    return track_entry(source)


def _rotation_entry(source: Rotation) -> dict[str, Any]:
    if isinstance(source, RotationList):
        return _list_entry(source, [_rotation_entry(entry) for entry in source.entries])
    if isinstance(source, LookAt):
        entry: dict[str, Any] = {"look_at": source.target, "roll": track_entry(source.roll), "axis": "xyz"[source.axis]}
        return {**entry, "flip": True} if source.flip else entry
    if isinstance(source, OrientationConstraint):
        entry = {"targets": list(source.targets), "weights": _weight_entries(source.weights)}
        return {**entry, "local": True} if source.local else entry
    if isinstance(source, QuatRotation):
        return {"quaternion": track_entry(source.quat)}
    entry = {axis: track_entry(getattr(source, axis)) for axis in "xyz"}
    return {**entry, "axis_order": source.axis_order} if source.axis_order else entry


def _list_entry(source: PositionList | RotationList, entries: list[Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"list": entries, "weights": _weight_entries(source.weights)}
    return {**entry, "average": True} if source.average else entry


def _weight_entries(weights: Sequence[Track]) -> list[Any]:
    return [track_entry(weight) for weight in weights]


# ---- reading ----


def read_transform(at: At, names: Sequence[str]) -> Transform:
    """Return the transform whose keys stand in an object; what is left out is neutral."""
    return Transform(
        position=_position(at.get("position"), names) if at.has("position") else ConstantTrack(ZERO),
        rotation=_rotation(at.get("rotation"), names) if at.has("rotation") else QuatRotation(ConstantTrack(NO_TURN)),
        scale=optional_track(at, "scale", ONES),
        scale_axis=optional_track(at, "scale_axis", NO_TURN),
    )


def read_links(at: At, names: Sequence[str]) -> Links:
    """Return a Link Constraint: rising times, one target (or null for the world) each."""
    at.only(field_names(Links))
    times = tuple(entry.integer() for entry in at.get("times").items())
    targets = tuple(None if entry.value is None else entry.reference(names) for entry in at.get("targets").items())
    if len(times) != len(targets):
        at.get("targets").fail(f"{len(times)} targets are expected, one for each of the times")
    if any(a >= b for a, b in itertools.pairwise(times)):
        at.get("times").fail("the times do not rise")
    return Links(times, targets)


def _position(at: At, names: Sequence[str]) -> Position:
    keys = at.value if isinstance(at.value, dict) else {}
    if "list" in keys:
        entries = tuple(_position(entry, names) for entry in _entries(at))
        return PositionList(entries, read_weights(at, len(entries)), at.flag("average"))
    if "paths" in keys:
        at.only(field_names(PathPosition))
        paths = _some(at, "paths", names)
        percent = optional_track(at, "percent", (0.0,))
        flags = {key: at.flag(key) for key in ("constant_velocity", "loop")}
        return PathPosition(paths, read_weights(at, len(paths)), percent, **flags)
    if "targets" in keys:
        at.only(field_names(PositionConstraint))
        targets = _some(at, "targets", names)
        x, y, z = row(at.get("offset"), 3) if at.has("offset") else ZERO
        return PositionConstraint(targets, read_weights(at, len(targets)), (x, y, z))
    return read_track(at, 3)


def _rotation(at: At, names: Sequence[str]) -> Rotation:
    keys = at.value if isinstance(at.value, dict) else {}
    if "list" in keys:
        entries = tuple(_rotation(entry, names) for entry in _entries(at))
        return RotationList(entries, read_weights(at, len(entries)), at.flag("average"))
    if "look_at" in keys:
        at.only(("look_at", "roll", "axis", "flip"))
        axis = at.get("axis").text() if at.has("axis") else "z"
        if axis not in ("x", "y", "z"):
            at.get("axis").fail("one of x, y, z is expected")
        roll = optional_track(at, "roll", (0.0,), angles=True)
        return LookAt(at.get("look_at").reference(names), roll, "xyz".index(axis), at.flag("flip"))
    if "targets" in keys:
        at.only(field_names(OrientationConstraint))
        targets = _some(at, "targets", names)
        return OrientationConstraint(targets, read_weights(at, len(targets)), at.flag("local"))
    if "quaternion" in keys:
        return QuatRotation(read_track(at.only(("quaternion",)).get("quaternion"), 4))
    if any(axis in keys for axis in "xyz"):
        return _euler(at)
    constant = read_track(at, 3, angles=True)
    if not isinstance(constant, ConstantTrack):
        at.fail("three angles, or an object with x, y, z, quaternion, look_at, targets or list is expected")
    x, y, z = (ConstantTrack((angle,)) for angle in constant.value)
    return EulerRotation(x, y, z)


def _euler(at: At) -> EulerRotation:
    at.only(("x", "y", "z", "axis_order"))
    x, y, z = (optional_track(at, axis, (0.0,), angles=True) for axis in "xyz")
    order = at.get("axis_order").integer() if at.has("axis_order") else 0
    if not 0 <= order < len(AXIS_ORDERS):
        at.get("axis_order").fail(f"a code from 0 to {len(AXIS_ORDERS) - 1} is expected")
    return EulerRotation(x, y, z, order)


def _entries(at: At) -> list[At]:
    entries = at.only(_LIST_KEYS).get("list").items()
    if not entries:
        at.get("list").fail("at least one entry is expected")
    return entries


def _some(at: At, key: str, names: Sequence[str]) -> tuple[int, ...]:
    found = at.references(key, names)
    if not found:
        at.get(key).fail("at least one node is expected")
    return found
