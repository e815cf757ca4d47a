"""A .max file to a Scene: nodes by object index, their controllers, IK chains, units, time (max-format.md 1, 4)."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from maxik.errors import SceneError
from maxik.formats.max import classes as c
from maxik.formats.max.chunks import children, text
from maxik.formats.max.container import Stream
from maxik.formats.max.controllers import MOST_DEPTH, ZERO, Controllers
from maxik.formats.max.ik import read_chain, read_joint
from maxik.formats.max.infection import infection_notices
from maxik.formats.max.objects import Objects, open_objects
from maxik.formats.max.shapes import Shapes
from maxik.formats.max.transforms import list_parts, read_placement
from maxik.formats.max.version import describe
from maxik.scene.scene import TICKS_PER_SECOND, Chain, Node, Notice, Scene, Units
from maxik.scene.tracks import ConstantTrack
from maxik.scene.transform import paths_of

MOST_NODES = 100_000
_PARENT, _NAME = 0x0960, 0x0962
_UNITS = 0x8520
_METRES = {
    0: ("inch", 0.0254), 1: ("foot", 0.3048), 2: ("mile", 1609.344), 3: ("millimetre", 0.001),
    4: ("centimetre", 0.01), 5: ("metre", 1.0), 6: ("kilometre", 1000.0),
}  # fmt: skip
_TIME = 0x20B0
_FRAME_RATE, _FIRST, _LAST = 0x0010, 0x0050, 0x0060


def read_max(path: str | Path) -> Scene:
    """Read a .max file of 3ds Max 3 to 2020.

    Raises FileFormatError, with file, stream and offset, for a file that is damaged or no .max file, SceneError for
    nodes that are each other's parents.
    """
    objects, streams = open_objects(path)
    rate, first, last = _time(streams.get("Config"))
    places = {index: place for place, index in enumerate(objects.by_class.get(c.NODE, []))}
    if len(places) > MOST_NODES:
        message = f"the scene has more than {MOST_NODES} nodes"
        raise objects.stream.error(message)
    controllers = Controllers(objects, places, ticks_per_frame=TICKS_PER_SECOND / rate)
    nodes, chains = _nodes_and_chains(controllers)
    return Scene(
        file=str(path),
        nodes=nodes,
        chains=chains,
        frame_rate=rate,
        first_tick=first,
        last_tick=last,
        units=_units(objects),
        notices=(*infection_notices(objects, nodes), *controllers.notices),
        source=describe(objects.root_id, streams),
    )


def _nodes_and_chains(controllers: Controllers) -> tuple[tuple[Node, ...], tuple[Chain, ...]]:
    objects, places = controllers.objects, controllers.nodes
    parents = {place: _parent(objects, index, places) for index, place in places.items()}
    _refuse_cycles(objects, parents)
    nodes, chains = [], []
    for index, place in places.items():
        controllers.node = place
        control = objects.references(index).get(0)
        control_class = c.ClassEntry(c.ClassId(0, 0, 0), "") if control is None else objects.class_of(control)
        name = text(objects.stream, objects.parts(index)[_NAME]) if _NAME in objects.parts(index) else ""
        joint = None
        if control is not None and control_class.id == c.IK_CONTROL:
            joint = read_joint(controllers, control)
        elif control is not None and control_class.id in (c.IK_CHAIN_CONTROL, c.SPLINE_IK_CHAIN):
            chain = read_chain(controllers, control, goal=place, name=name)
            chains += [chain] if chain else []
        placement = read_placement(controllers, control)
        nodes.append(
            Node(
                name=name,
                parent=parents[place],
                transform=placement.transform,
                object_class=_object_class(objects, objects.references(index).get(1)),
                controller_class=control_class.name,
                joint=joint,
                links=placement.links,
                lists=list_parts(controllers, control),
            )
        )
    controllers.node = None
    return _with_shapes(controllers, nodes, chains), tuple(chains)


def _with_shapes(controllers: Controllers, nodes: list[Node], chains: list[Chain]) -> tuple[Node, ...]:
    """Return the nodes with the shapes that chains and Path Constraints refer to; paths without one are left."""
    objects_of = {place: index for index, place in controllers.nodes.items()}
    wanted = {chain.spline.shape for chain in chains if chain.spline}
    wanted |= {path for node in nodes for path in paths_of(node.transform.position)}
    reader = Shapes(controllers)
    shapes = {place: reader.read(objects_of[place], place) for place in sorted(wanted)}
    for place, shape in shapes.items():
        nodes[place] = replace(nodes[place], shape=shape)
    for place, node in enumerate(nodes):
        if any(shapes[path] is None for path in paths_of(node.transform.position)):
            what = "a path has no spline that can be followed: the whole position is held at 0, 0, 0"
            controllers.notices.append(Notice("unsupported", what, place, "Path Constraint", "position"))
            nodes[place] = replace(node, transform=replace(node.transform, position=ConstantTrack(ZERO)))
    return tuple(nodes)


def _parent(objects: Objects, index: int, places: Mapping[int, int]) -> int | None:
    """Return a node's parent; the root node and what is no node give None."""
    chunk = objects.parts(index).get(_PARENT)
    if chunk is None or chunk.end - chunk.start < 4:  # noqa: PLR2004 - a u32
        return None
    return places.get(struct.unpack_from("<I", objects.stream.data, chunk.start)[0])


def _refuse_cycles(objects: Objects, parents: dict[int, int | None]) -> None:
    safe: set[int] = set()
    for place in parents:
        path: list[int] = []
        seen: set[int] = set()
        at: int | None = place
        while at is not None and at not in safe:
            if at in seen:
                message = f"{len(path)} nodes are each other's parents"
                raise SceneError(message, file=objects.stream.file, stream=objects.stream.name)
            path.append(at)
            seen.add(at)
            at = parents[at]
        safe.update(path)


def _object_class(objects: Objects, index: int | None) -> str:
    """Return the class of a node's object: of the base object below its modifiers."""
    for _ in range(MOST_DEPTH):
        if index is None:
            return ""
        ident = objects.class_of(index).id
        if ident.a not in c.DERIVED_OBJECTS or ident.super:
            return objects.class_of(index).name
        references = objects.references(index)
        index = references[max(references)] if references else None
    return ""


def _units(objects: Objects) -> Units:
    """Return the system unit of the scene object; the default, inches, where none is stored."""
    for index in range(len(objects) - 1, max(-1, len(objects) - 9), -1):
        ident = objects.class_of(index).id
        chunk = objects.parts(index).get(_UNITS) if (ident.a, ident.b) == c.SCENE_OBJECT else None
        if chunk is not None and chunk.end - chunk.start >= 8:  # noqa: PLR2004 - u32 and f32
            kind, scale = struct.unpack_from("<If", objects.stream.data, chunk.start)
            if kind in _METRES and math.isfinite(scale) and scale > 0.0:
                name, metres = _METRES[kind]
                return Units(name if scale == 1.0 else f"{scale:g} {name}", metres * scale)
    return Units()


def _time(stream: Stream | None) -> tuple[float, int, int]:
    """Return frame rate, first and last tick of the time configuration; 30, 0, 100 frames where none is stored."""
    found: dict[int, int] = {}
    for chunk in children(stream) if stream else ():
        if stream and chunk.id == _TIME and chunk.is_container:
            for part in children(stream, chunk.start, chunk.end):
                if part.end - part.start == 4:  # noqa: PLR2004 - a 32-bit number
                    found[part.id] = struct.unpack_from("<i", stream.data, part.start)[0]
    rate = found.get(_FRAME_RATE, 30)
    first, last = found.get(_FIRST, 0), found.get(_LAST, 16000)
    return float(rate if 0 < rate <= 4800 else 30), first, max(first, last)  # noqa: PLR2004 - ticks a second
