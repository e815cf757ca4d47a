"""Transform controllers: PRS and what may stand in its slots, Look At, constraints, links, IK (max-format.md 5.2, 7).

Parameter ids of constraints: their types and order in real files beside the public MAXScript property lists. What no
file that 3ds Max evaluated confirms is a Notice of kind "assumed".
"""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass
from typing import TypeVar

from maxik.formats.max import classes as c
from maxik.formats.max.controllers import LISTS, NO_TURN, ONES, ZERO, Controllers
from maxik.formats.max.keys import key_frame_parts
from maxik.formats.max.params import Params
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
    is_constraint,
)

_ROTATION_KEYS = {c.LINEAR_ROTATION, c.TCB_ROTATION}
_AXIS_ORDER = 0x1003
_PATH_BLOCK, _PERCENT, _FOLLOW, _CONSTANT_VELOCITY, _PATH_WEIGHTS, _PATHS, _LOOP, _PATH_RELATIVE = 2, 0, 2, 7, 10, 11, 12, 13
_TARGET_WEIGHTS, _TARGETS, _RELATIVE, _WORLD = 0, 1, 2, 3
_LOOK_TARGET, _LOOK_POSITION, _LOOK_ROLL, _LOOK_SCALE = 0, 1, 2, 3
_LOOK_AXIS, _LOOK_FLIP = 0x0100, 0x0201
_LINK_PRS, _LINK_BLOCK = 0, 2
_PRS_SLOTS = {"position": 0, "rotation": 1, "scale": 2}
_IK_CONTROLS = (c.IK_CONTROL, c.IK_CHAIN_CONTROL, c.SPLINE_IK_CHAIN)
_NODE_TYPE, _FRAME_TYPE, _TIME_TYPE = 0x11, 0x01, 0x0C
_IDENTITY = QuatRotation(ConstantTrack(NO_TURN))
_ONE = ConstantTrack((1.0,))


@dataclass(frozen=True)
class Placement:
    """What a node's transform controller says: the transform and, under a Link Constraint, the links."""

    transform: Transform
    links: Links | None = None


def read_placement(controllers: Controllers, index: int | None) -> Placement:  # noqa: PLR0911 - one return a kind
    """Return the transform of a node's controller, whatever wraps it."""
    objects = controllers.objects
    if index is None:
        return Placement(_neutral(controllers, "no transform controller: held at the parent's"))
    entry, references = objects.class_of(index), objects.references(index)
    if entry.id == c.PRS:
        return Placement(_prs(controllers, index))
    if entry.id == c.LOOK_AT:
        return Placement(_look_at(controllers, index))
    if entry.id in _IK_CONTROLS:
        inner = _prs_in(controllers, references.get(1))
        if inner is not None:
            return Placement(inner)
        return Placement(_neutral(controllers, "the FK controller below is not a PRS: held at the parent's", entry.name))
    inner = _prs_in(controllers, references.get(0))
    if inner is None:
        return Placement(_neutral(controllers, "not evaluated: held at the parent's", entry.name))
    links = _links(controllers, references.get(_LINK_BLOCK)) if entry.id == c.LINK_CONSTRAINT else None
    if links is None:
        controllers.note("unsupported", "not evaluated: the PRS below it is used alone", entry.name, "transform")
    else:
        what = "a Link Constraint: the node is assumed to stay where it is at each link"
        controllers.note("assumed", what, entry.name, "transform")
    return Placement(inner, links)


def list_parts(controllers: Controllers, index: int | None) -> tuple[str, ...]:
    """Return the parts of a node's transform that stand in a list controller: "position", "rotation", "scale"."""
    objects, slots = controllers.objects, _PRS_SLOTS
    if index is None:
        return ()
    ident = objects.class_of(index).id
    if ident == c.LOOK_AT:
        slots = {"position": _LOOK_POSITION, "scale": _LOOK_SCALE}
    elif ident != c.PRS:
        index = objects.references(index).get(1 if ident in _IK_CONTROLS else _LINK_PRS)
        if index is None or objects.class_of(index).id != c.PRS:
            return ()
    found = {part: objects.references(index).get(slot) for part, slot in slots.items()}
    return tuple(part for part, target in found.items() if target is not None and objects.class_of(target).id in LISTS)


def read_rotation(controllers: Controllers, index: int | None, depth: int = 0) -> Rotation:  # noqa: PLR0911 - one a kind
    """Return a rotation controller as angles, quaternions, a constraint or a list of them."""
    if index is None or not controllers.step("rotation", depth):
        if index is None:
            controllers.note("unsupported", "no controller: held at the neutral value", "", "rotation")
        return _IDENTITY
    objects = controllers.objects
    entry = objects.class_of(index)
    if entry.id == c.EULER_XYZ:
        return _euler(controllers, index)
    if entry.id in _ROTATION_KEYS:
        return QuatRotation(controllers.keyed(index, "rotation", NO_TURN))
    if entry.id in LISTS:
        return _rotation_list(controllers, index, depth)
    if entry.id == c.ORIENTATION_CONSTRAINT:
        constraint = _orientation(controllers, index)
        if constraint is not None:
            return constraint
    wrapped = controllers.wrapped(index, "rotation", c.ROTATION)
    if wrapped is not None:
        return read_rotation(controllers, wrapped, depth + 1)
    return QuatRotation(controllers.held(index, "rotation", NO_TURN))


def read_position(controllers: Controllers, index: int | None, depth: int = 0) -> Position:
    """Return a position controller as a track, a constraint or a list of them."""
    if index is None:
        return controllers.position_track(None)
    objects = controllers.objects
    entry = objects.class_of(index)
    constraint: Position | None = None
    if entry.id == c.PATH_CONSTRAINT:
        constraint = _path(controllers, index)
    elif entry.id == c.POSITION_CONSTRAINT:
        constraint = _position_constraint(controllers, index)
    elif entry.id in LISTS and controllers.step("position", depth):
        return _position_list(controllers, index, depth)
    return controllers.position_track(index) if constraint is None else constraint


def _prs_in(controllers: Controllers, index: int | None) -> Transform | None:
    """Return the PRS that stands in a slot, if one does."""
    if index is None or controllers.objects.class_of(index).id != c.PRS:
        return None
    return _prs(controllers, index)


def _prs(controllers: Controllers, index: int) -> Transform:
    references = controllers.objects.references(index)
    return Transform(
        read_position(controllers, references.get(0)),
        read_rotation(controllers, references.get(1)),
        *controllers.scale(references.get(2)),
    )


def _euler(controllers: Controllers, index: int) -> EulerRotation:
    references = controllers.objects.references(index)
    x, y, z = (controllers.number(references.get(slot), f"rotation {axis}") for slot, axis in enumerate("xyz"))
    chunk = key_frame_parts(controllers.objects, index).get(_AXIS_ORDER)
    order = 0
    if chunk is not None and chunk.end - chunk.start >= 4:  # noqa: PLR2004 - a u32
        (order,) = struct.unpack_from("<I", controllers.objects.stream.data, chunk.start)
    if order >= len(AXIS_ORDERS):
        controllers.note("unsupported", f"the unknown Euler axis order {order}: taken as XYZ", "Euler XYZ", "rotation")
        order = 0
    elif order:
        what = f"Euler axis order {AXIS_ORDERS[order].upper()}: not verified against 3ds Max"
        controllers.note("assumed", what, "Euler XYZ", "rotation")
    return EulerRotation(x, y, z, order)


def _look_at(controllers: Controllers, index: int) -> Transform:
    """Return a Look At controller (slots: max-format.md 5.2): position, scale, and a rotation towards its target."""
    objects = controllers.objects
    references = objects.references(index)
    position = read_position(controllers, references.get(_LOOK_POSITION))
    scale = controllers.scale(references.get(_LOOK_SCALE))
    target = controllers.scene_node(references.get(_LOOK_TARGET))
    if target is None:
        controllers.note("unsupported", "the target is missing: the rotation is held at none", "Look At", "rotation")
        return Transform(position, _IDENTITY, *scale)
    roll = controllers.number(references.get(_LOOK_ROLL), "roll")
    axis, flip = _leaf(controllers, index, _LOOK_AXIS, 2), bool(_leaf(controllers, index, _LOOK_FLIP, 0))
    if axis > 2:  # noqa: PLR2004 - x, y, z
        controllers.note("unsupported", f"the unknown axis {axis}: taken as z", "Look At", "rotation")
        axis = 2
    if axis != 2 or flip:  # noqa: PLR2004 - z
        what = f"axis {'xyz'[axis]}{', flipped' if flip else ''}: only the z axis is verified against 3ds Max"
        controllers.note("assumed", what, "Look At", "rotation")
    return Transform(position, LookAt(target, roll, axis, flip), *scale)


def _leaf(controllers: Controllers, index: int, ident: int, default: int) -> int:
    """Return a small unsigned number of one to four bytes."""
    chunk = controllers.objects.parts(index).get(ident)
    if chunk is None or not 1 <= chunk.end - chunk.start <= 4:  # noqa: PLR2004 - up to a u32
        return default
    return int.from_bytes(controllers.objects.bytes_of(chunk), "little")


def _path(controllers: Controllers, index: int) -> PathPosition | None:
    """Return a Path Constraint (max-format.md 5.2, max-format-spline-ik.md S.4); None when it has no path."""
    block = controllers.objects.references(index).get(_PATH_BLOCK)
    if block is None:
        return None
    params = controllers.params(block)
    nodes = [controllers.scene_node(target) for target in params.targets(_PATHS)]
    kept = [(place, node) for place, node in enumerate(nodes) if node is not None]
    if not kept:
        return None
    weights = controllers.weights(params, _PATH_WEIGHTS, len(nodes), "path")
    if not weights:
        return None
    percent = controllers.parameter(params, _PERCENT, "path percent")
    if percent != ConstantTrack((0.0,)) or len(kept) > 1:
        what = "a Path Constraint away from one path's start: the rule is not verified against 3ds Max"
        controllers.note("assumed", what, "Path Constraint", "position")
    for ident, name in ((_FOLLOW, "follow"), (_PATH_RELATIVE, "relative")):
        if params.integer(ident):
            controllers.note("unsupported", f"its {name!r} is on and is not evaluated", "Path Constraint", "position")
    return PathPosition(
        tuple(node for _, node in kept),
        tuple(weights[place] for place, _ in kept),
        percent,
        constant_velocity=bool(params.integer(_CONSTANT_VELOCITY)),
        loop=bool(params.integer(_LOOP)),
    )


def _position_constraint(controllers: Controllers, index: int) -> PositionConstraint | None:
    constrained = _constrained(controllers, index, "position")
    return None if constrained is None else PositionConstraint(constrained[1], constrained[2])


def _orientation(controllers: Controllers, index: int) -> OrientationConstraint | None:
    constrained = _constrained(controllers, index, "rotation")
    if constrained is None:
        return None
    params, targets, weights = constrained
    return OrientationConstraint(targets, weights, local=not params.integer(_WORLD, 1))


def _constrained(controllers: Controllers, index: int, where: str) -> tuple[Params, tuple[int, ...], tuple[Track, ...]] | None:
    """Return parameters, targets and weights of a constraint to nodes, noted as assumed; None when it has no target."""
    objects = controllers.objects
    blocks = [block for block in objects.references(index).values() if objects.class_of(block).id == c.PARAM_BLOCK_2]
    if not blocks:
        return None
    params = controllers.params(blocks[0])
    nodes = [controllers.scene_node(target) for target in params.targets(_TARGETS)]
    kept = [(place, node) for place, node in enumerate(nodes) if node is not None]
    if not kept:
        return None
    weights = controllers.weights(params, _TARGET_WEIGHTS, len(nodes), where)
    if not weights:
        return None
    name = objects.class_of(index).name
    controllers.note("assumed", "the constraint's rule is not verified against 3ds Max", name, where)
    if params.integer(_RELATIVE):
        controllers.note("unsupported", "its 'keep initial offset' is on and is not evaluated", name, where)
    return params, tuple(node for _, node in kept), tuple(weights[place] for place, _ in kept)


def _position_list(controllers: Controllers, index: int, depth: int) -> Position:
    entries = controllers.entries(index, c.POSITION, "position")
    parts = [(read_position(controllers, target, depth + 1), weight) for target, weight in entries.weighted]
    kept = _after_constraint(parts, average=entries.average)
    tracks = [part for part, _ in kept if not isinstance(part, (PathPosition, PositionConstraint, PositionList))]
    name = controllers.objects.class_of(index).name
    if not kept:
        return ConstantTrack(ZERO)
    if len(tracks) == len(parts):
        return controllers.summed(tracks, entries, name, "position")
    if len(kept) == 1 and kept[0][1] == _ONE:
        return kept[0][0]
    controllers.note("assumed", "a constraint in a list: the rule is not verified against 3ds Max", name, "position")
    return PositionList(tuple(part for part, _ in kept), tuple(weight for _, weight in kept), entries.average)


def _rotation_list(controllers: Controllers, index: int, depth: int) -> Rotation:
    """Return a rotation list; entries that never turn are left out, one that is left stands for the list."""
    entries = controllers.entries(index, c.ROTATION, "rotation")
    read = [(read_rotation(controllers, target, depth + 1), weight) for target, weight in entries.weighted]
    kept = _after_constraint(read, average=entries.average)
    if not entries.average:
        kept = [(rotation, weight) for rotation, weight in kept if not _never_turns(rotation)]
    if not kept:
        return read[0][0] if read else _IDENTITY
    if len(kept) == 1 and kept[0][1] == _ONE:
        return kept[0][0]
    name = controllers.objects.class_of(index).name
    if len(kept) > 1:
        what = "rotations in a list turn one inside another: not verified against 3ds Max"
        controllers.note("assumed", what, name, "rotation")
    controllers.note_weights(entries, name, "rotation")
    return RotationList(tuple(rotation for rotation, _ in kept), tuple(weight for _, weight in kept), entries.average)


_Entry = TypeVar("_Entry", Position, Rotation)


def _after_constraint(entries: list[tuple[_Entry, Track]], *, average: bool) -> list[tuple[_Entry, Track]]:
    """Return a list's entries from the last constraint of weight 1 on: it takes the place of all before it."""
    if average:
        return entries
    whole = [place for place, (entry, weight) in enumerate(entries) if is_constraint(entry) and weight == _ONE]
    return entries[whole[-1] :] if whole else entries


def _never_turns(rotation: Rotation) -> bool:
    if isinstance(rotation, EulerRotation):
        return all(track == ConstantTrack((0.0,)) for track in (rotation.x, rotation.y, rotation.z))
    return rotation == _IDENTITY


def _links(controllers: Controllers, block: int | None) -> Links | None:
    """Return the links of a Link Constraint: its table of nodes and its table of frames or times; None when they do not fit.

    The ids of its parameters are in no file at hand: the tables are told by type, the first of each.
    """
    if block is None:
        return None
    params = controllers.params(block)
    nodes = params.first_table((_NODE_TYPE,))
    times = params.first_table((_FRAME_TYPE, _TIME_TYPE))
    if nodes is None or times is None:
        return None
    targets = [None if target is None else controllers.scene_node(target) for target in params.targets(nodes)]
    in_frames = params.kind(times) != _TIME_TYPE
    starts = [round(start * controllers.ticks_per_frame) if in_frames else start for start in params.integers(times)]
    if not targets or len(targets) != len(starts) or any(a >= b for a, b in itertools.pairwise(starts)):
        return None
    return Links(tuple(starts), tuple(targets))


def _neutral(controllers: Controllers, what: str, class_name: str = "") -> Transform:
    controllers.note("unsupported", what, class_name, "transform")
    return Transform(ConstantTrack(ZERO), _IDENTITY, ConstantTrack(ONES), ConstantTrack(NO_TURN))
