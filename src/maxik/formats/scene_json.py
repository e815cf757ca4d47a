"""Scene JSON, format "maxik-scene/1": a Scene as text, exact to the float32 bit (docs/scene-json.md).

Numbers are the shortest decimals that round-trip float32; a reader also takes bit patterns of 8 hex digits, and
degrees for angles. What has its default may be left out. A mistake, a misspelt key too, is a FileFormatError with the
JSON path of the value, such as nodes[3].rotation.x.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from maxik.errors import FileFormatError
from maxik.formats.json_tracks import optional_track, read_track, row, track_entry
from maxik.formats.json_transforms import TRANSFORM_KEYS, links_entry, read_links, read_transform, transform_entry
from maxik.formats.json_values import At, field_names, number_entry, parse_json
from maxik.formats.whole_file import write_whole
from maxik.scene.scene import Chain, Joint, Knot, Node, Notice, Scene, Shape, SplineGoal, Units

FORMAT = "maxik-scene/1"
_SWIVEL_PARENTS = ("start-joint", "goal")
_SCENE_KEYS = ("format", "frame_rate", "range", "units", "nodes", "chains", "notices", "source")
_NODE_KEYS = ("name", "parent", *TRANSFORM_KEYS, "object_class", "controller_class", "joint", "shape", "links", "lists")


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


def _node_entry(node: Node) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": node.name, "parent": node.parent, **transform_entry(node.transform)}
    entry["object_class"], entry["controller_class"] = node.object_class, node.controller_class
    if node.joint is not None:
        joint: dict[str, Any] = {"preferred": track_entry(node.joint.preferred)}
        if node.joint.initial_position is not None:
            joint["initial_position"] = [number_entry(value) for value in node.joint.initial_position]
        joint.update({key: getattr(node.joint, key) for key in ("inactive_axes", "limited_axes") if getattr(node.joint, key)})
        entry["joint"] = joint
    if node.shape is not None:
        entry["shape"] = _shape_entry(node.shape)
    if node.links is not None:
        entry["links"] = links_entry(node.links)
    if node.lists:
        entry["lists"] = list(node.lists)
    return entry


def _chain_entry(chain: Chain) -> dict[str, Any]:
    entry = _filled(chain)
    entry["swivel"], entry["enabled"] = track_entry(chain.swivel), track_entry(chain.enabled)
    del entry["spline"]
    if chain.spline is not None:
        entry["spline"] = {
            "shape": chain.spline.shape,
            "start_twist": track_entry(chain.spline.start_twist),
            "end_twist": track_entry(chain.spline.end_twist),
            "up_node": chain.spline.up_node,
        }
    return entry


def _shape_entry(shape: Shape) -> dict[str, Any]:
    entry: dict[str, Any] = {"closed": shape.closed, "helpers": list(shape.helpers)}
    entry["knots"] = [
        {
            "kind": knot.kind,
            **{key: [number_entry(value) for value in getattr(knot, key)] for key in ("point", "in_handle", "out_handle")},
        }
        for knot in shape.knots
    ]
    if shape.offset is not None:
        entry["offset"] = transform_entry(shape.offset)
    return entry


def _filled(value: Chain | Notice) -> dict[str, Any]:
    return {entry.name: getattr(value, entry.name) for entry in fields(value)}


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
        return _scene(At(file, "", parse_json(file, text)))
    except RecursionError as error:
        message = "is nested too deep"
        raise FileFormatError(message, file=file) from error


def _scene(at: At) -> Scene:
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


def _metres(at: At) -> float:
    metres = at.plain_number()
    if metres <= 0.0:
        at.fail("a length above 0 is expected")
    return metres


def _source(at: At) -> dict[str, str]:
    if not at.has("source"):
        return {"format": FORMAT}
    source = at.get("source")
    return {
        key: source.get(key).text()
        for key in (source.value if isinstance(source.value, dict) else source.fail("an object is expected"))
    }


def _node(at: At, names: Sequence[str]) -> Node:
    at.only(_NODE_KEYS)
    joint = None
    if at.has("joint"):
        entry = at.get("joint").only(field_names(Joint))
        initial = None
        if entry.has("initial_position"):
            x, y, z = row(entry.get("initial_position"), 3)
            initial = (x, y, z)
        joint = Joint(
            preferred=read_track(entry.get("preferred"), 3, angles=True),
            initial_position=initial,
            inactive_axes=entry.optional_text("inactive_axes"),
            limited_axes=entry.optional_text("limited_axes"),
        )
    return Node(
        name=at.get("name").text(),
        parent=at.get("parent").reference(names) if at.has("parent") else None,
        transform=read_transform(at, names),
        object_class=at.optional_text("object_class"),
        controller_class=at.optional_text("controller_class"),
        joint=joint,
        shape=_shape(at.get("shape"), names) if at.has("shape") else None,
        links=read_links(at.get("links"), names) if at.has("links") else None,
        lists=tuple(entry.text() for entry in at.get("lists").items()) if at.has("lists") else (),
    )


def _shape(at: At, names: Sequence[str]) -> Shape:
    at.only(field_names(Shape))
    knots = tuple(_knot(entry) for entry in at.get("knots").items())
    helpers = at.references("helpers", names)
    if not knots:
        at.get("knots").fail("a spline has at least one knot")
    if helpers and len(helpers) != len(knots):
        at.get("helpers").fail(f"one helper a knot is expected: {len(knots)}, not {len(helpers)}")
    offset = read_transform(at.get("offset").only(TRANSFORM_KEYS), ()) if at.has("offset") else None
    return Shape(knots, at.flag("closed"), helpers, offset)


def _knot(at: At) -> Knot:
    """Return a knot; a bare point is a knot of kind 0, whose handles follow from the knots."""
    if isinstance(at.value, list):
        x, y, z = row(at, 3)
        return Knot(0, (x, y, z), (x, y, z), (x, y, z))
    at.only(field_names(Knot))
    x, y, z = row(at.get("point"), 3)
    a, b, c = row(at.get("in_handle"), 3) if at.has("in_handle") else (x, y, z)
    d, e, f = row(at.get("out_handle"), 3) if at.has("out_handle") else (x, y, z)
    return Knot(at.get("kind").integer() if at.has("kind") else 0, (x, y, z), (a, b, c), (d, e, f))


def _spline(at: At, names: Sequence[str]) -> SplineGoal:
    at.only(field_names(SplineGoal))
    return SplineGoal(
        shape=at.get("shape").reference(names),
        start_twist=optional_track(at, "start_twist", (0.0,), angles=True),
        end_twist=optional_track(at, "end_twist", (0.0,), angles=True),
        up_node=at.get("up_node").reference(names) if at.has("up_node") else None,
    )


def _chain(at: At, names: Sequence[str]) -> Chain:
    at.only(field_names(Chain))
    parent = at.get("swivel_parent").value if at.has("swivel_parent") else _SWIVEL_PARENTS[0]
    if parent not in _SWIVEL_PARENTS:
        at.get("swivel_parent").fail(f"one of {', '.join(_SWIVEL_PARENTS)} is expected")
    return Chain(
        name=at.get("name").text(),
        solver=at.get("solver").text(),
        start=at.get("start").reference(names),
        end=at.get("end").reference(names),
        goal=at.get("goal").reference(names),
        swivel=optional_track(at, "swivel", (0.0,), angles=True),
        swivel_parent=parent,
        vh_target=at.get("vh_target").reference(names) if at.has("vh_target") else None,
        enabled=optional_track(at, "enabled", (1.0,)),
        spline=_spline(at.get("spline"), names) if at.has("spline") else None,
    )


def _notice(at: At, names: Sequence[str]) -> Notice:
    at.only(field_names(Notice))
    return Notice(
        kind=at.get("kind").text(),
        what=at.get("what").text(),
        node=at.get("node").reference(names) if at.has("node") else None,
        class_name=at.optional_text("class_name"),
        where=at.optional_text("where"),
    )


def _refuse_cycles(at: At, nodes: Sequence[Node]) -> None:
    for start, node in enumerate(nodes):
        steps, parent = 0, node.parent
        while parent is not None and steps <= len(nodes):
            steps, parent = steps + 1, nodes[parent].parent
        if parent is not None:
            at.get("nodes").items()[start].get("parent").fail("the node is its own ancestor")
