"""What a scene holds: nodes with controllers and keys, IK chains, and what maxik cannot evaluate.

    inspection = inspect_scene(scene)          JSON data, format "maxik-inspect/1" (docs/inspect.md)
    for line in render(inspection): ...        the same as text

Scene units for lengths, degrees for angles, ticks (4800 a second) for key times.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from maxik.bake import BakeOptions, sample_ticks
from maxik.engines import make_engine
from maxik.errors import SceneError, UsageError
from maxik.profile import PROFILES
from maxik.scene.dependencies import resting_on
from maxik.scene.ik import chain_joints
from maxik.scene.placing import Placing
from maxik.scene.scene import TICKS_PER_SECOND, Chain, Joint, Node, Scene, held_nodes
from maxik.scene.solvable import method, why_not_solved
from maxik.scene.tracks import ComponentsTrack, KeyedTrack, SumTrack, Ticks, Track
from maxik.scene.transform import (
    AXIS_ORDERS,
    EulerRotation,
    LookAt,
    OrientationConstraint,
    PathPosition,
    Position,
    PositionConstraint,
    PositionList,
    Rotation,
    RotationList,
    nodes_of,
    tracks_of,
)

INSPECT_FORMAT = "maxik-inspect/1"
_DEEPEST_INDENT = 50
_KINDS = ("security", "unsupported", "assumed", "ignored")

Json = dict[str, Any]


def inspect_scene(scene: Scene) -> Json:
    """Return what a scene holds as JSON data."""
    driven: dict[int, str] = {}
    placing = _placing(scene)
    chains = [_chain(placing, chain, driven) for chain in scene.chains]
    return {
        "format": INSPECT_FORMAT,
        "file": scene.file,
        "source": dict(scene.source),
        "units": {"name": scene.units.name, "metres": scene.units.metres},
        "frame_rate": scene.frame_rate,
        "range": [scene.first_tick, scene.last_tick],
        "nodes": [_node(scene, node) for node in scene.nodes],
        "chains": chains,
        "notices": [
            {"kind": notice.kind, "node": notice.node, "class": notice.class_name, "where": notice.where, "what": notice.what}
            for notice in sorted(scene.notices, key=lambda notice: _KINDS.index(notice.kind) if notice.kind in _KINDS else 0)
        ],
        "resting_on_held": resting_on(scene, held_nodes(scene)),
    }


def render(inspection: Json) -> Iterator[str]:
    """Yield an inspection as text, line by line."""
    nodes = inspection["nodes"]
    yield from _header(inspection)
    yield ""
    yield f"nodes ({len(nodes)}):"
    yield from _tree(nodes)
    yield ""
    yield f"IK chains ({len(inspection['chains'])}):"
    for chain in inspection["chains"]:
        yield from _chain_lines(nodes, chain)
    yield ""
    yield f"not evaluated, or on an assumption ({len(inspection['notices'])}):"
    for notice in inspection["notices"]:
        node = "scene" if notice["node"] is None else repr(nodes[notice["node"]]["name"])
        yield f"  {notice['kind']}: {node} {notice['where']} [{notice['class']}]: {notice['what']}"
    if inspection["resting_on_held"]:
        names = [repr(nodes[index]["name"]) for index in inspection["resting_on_held"]]
        yield f"nodes that rest on one that is held ({len(names)}): {', '.join(names)}"


# ---- the data ----


def _node(scene: Scene, node: Node) -> Json:
    entry: Json = {
        "name": node.name,
        "parent": node.parent,
        "object": node.object_class,
        "controller": node.controller_class,
        "position": _position_kind(node.transform.position),
        "rotation": _rotation_kind(node.transform.rotation),
        "refers_to": sorted({*nodes_of(node.transform.position), *nodes_of(node.transform.rotation)}),
        "keys": [part for name, track in tracks_of(node.transform) for part in _keys(name, track)],
    }
    if node.links is not None:
        entry["links"] = {"times": list(node.links.times), "targets": list(node.links.targets)}
    if node.joint is not None:
        entry["joint"] = _joint(scene, node.joint)
    return entry


def _position_kind(source: Position) -> str:
    if isinstance(source, PositionList):
        return f"list of {len(source.entries)}"
    if isinstance(source, PathPosition):
        return f"Path Constraint to {len(source.paths)}"
    if isinstance(source, PositionConstraint):
        return f"Position Constraint to {len(source.targets)}"
    return "track"


def _rotation_kind(source: Rotation) -> str:
    if isinstance(source, RotationList):
        return f"list of {len(source.entries)}"
    if isinstance(source, LookAt):
        return "Look At"
    if isinstance(source, OrientationConstraint):
        return f"Orientation Constraint to {len(source.targets)}"
    return f"Euler {AXIS_ORDERS[source.axis_order].upper()}" if isinstance(source, EulerRotation) else "quaternion"


def _keys(name: str, track: Track) -> Iterator[Json]:
    """Yield the tracks with more than one key below a track: name, kind, number of keys, first and last."""
    if isinstance(track, KeyedTrack):
        if track.key_range is not None:
            kind = type(track).__name__.removesuffix("Track")
            yield {"track": name, "kind": kind, "keys": len(track.times), "range": list(track.key_range)}
        return
    parts: Sequence[tuple[str, Track]] = ()
    if isinstance(track, ComponentsTrack):
        parts = [(f"{name} {axis}", part) for axis, part in zip("xyz", track.tracks, strict=False)]
    elif isinstance(track, SumTrack):
        parts = [(f"{name} {place}", part) for place, part in enumerate(track.tracks, 1)]
        parts += [(f"{name} {place} weight", part) for place, part in enumerate(track.weights, 1)]
    for part_name, part in parts:
        yield from _keys(part_name, part)


def _joint(scene: Scene, joint: Joint) -> Json:
    angles = np.degrees(joint.preferred.at(np.array([scene.first_tick], np.int64))[0].astype(np.float64))
    return {
        "preferred_angles": [_finite(angle) for angle in angles.tolist()],
        "keys": list(_keys("preferred angles", joint.preferred)),
        "inactive_axes": joint.inactive_axes,
        "limited_axes": joint.limited_axes,
    }


def _placing(scene: Scene) -> Placing:
    """Return what places nodes over the scene's own range, or at its first tick where that range cannot be baked."""
    try:
        ticks, _ = sample_ticks(scene, BakeOptions())
    except UsageError:
        ticks = np.array([scene.first_tick], np.int64)
    engine, _ = make_engine(None, PROFILES["candidate-1"])
    return Placing(scene, ticks, engine)


def _chain(placing: Placing, chain: Chain, driven: dict[int, str]) -> Json:
    scene = placing.scene
    first = np.array([scene.first_tick], np.int64)
    entry: Json = {
        "name": chain.name,
        "solver": chain.solver,
        "start": chain.start,
        "end": chain.end,
        "goal": chain.goal,
        "enabled": float(chain.enabled.at(first)[0, 0]) > 0.5,  # noqa: PLR2004 - a boolean kept as float
        "enabled_keys": list(_keys("enabled", chain.enabled)),
    }
    if chain.spline is not None:
        shape = scene.nodes[chain.spline.shape].shape
        twists = (chain.spline.start_twist, chain.spline.end_twist)
        entry["spline"] = {
            "shape": chain.spline.shape,
            "knots": 0 if shape is None else len(shape.knots),
            "closed": shape is not None and shape.closed,
            "helpers": [] if shape is None else list(shape.helpers),
            "twists": [_degrees(track, first) for track in twists],
            "twist_keys": [*_keys("start twist", twists[0]), *_keys("end twist", twists[1])],
            "up_node": chain.spline.up_node,
        }
    else:
        entry["swivel"] = {
            "angle": _degrees(chain.swivel, first),
            "space": chain.swivel_parent,
            "keys": list(_keys("swivel angle", chain.swivel)),
            "vh_target": chain.vh_target,
        }
    try:
        joints = chain_joints(scene, chain)
    except SceneError as error:
        return {**entry, "joints": [], "method": None, "not_solved": error.what}
    reason = why_not_solved(placing, chain, joints, driven)
    if reason is not None:
        return {**entry, "joints": list(joints), "method": None, "not_solved": reason}
    driven.update(dict.fromkeys(joints[:-1], chain.name))
    return {**entry, "joints": list(joints), "method": method(chain, len(joints) - 1), "not_solved": None}


def _degrees(track: Track, first: Ticks) -> float | None:
    return _finite(math.degrees(float(track.at(first)[0, 0])))


def _finite(number: float) -> float | None:
    """Return a number as JSON can hold it: null for NaN and infinity."""
    return number if math.isfinite(number) else None


# ---- the text ----


def _header(inspection: Json) -> Iterator[str]:
    rate = inspection["frame_rate"]
    first, last = inspection["range"]
    ticks_per_frame = TICKS_PER_SECOND / rate
    yield f"file: {inspection['file']}"
    for notice in inspection["notices"]:
        if notice["kind"] == "security":
            yield f"WARNING: {notice['what']}"
    for key, value in inspection["source"].items():
        yield f"{key}: {value}"
    yield f"units: {inspection['units']['name']} ({inspection['units']['metres']:g} m)"
    frames = f"frames {first / ticks_per_frame:g} to {last / ticks_per_frame:g}"
    yield f"time: {frames} at {rate:g} a second (ticks {first} to {last})"


def _tree(nodes: Sequence[Json]) -> Iterator[str]:
    """Yield the nodes as an indented tree, in file order, without recursion: real hierarchies can be deep."""
    children: dict[int | None, list[int]] = {}
    for index, node in enumerate(nodes):
        children.setdefault(node["parent"], []).append(index)
    stack = [(index, 1) for index in reversed(children.get(None, []))]
    while stack:
        index, depth = stack.pop()
        indent = "  " * min(depth, _DEEPEST_INDENT) + (f"(level {depth}) " if depth > _DEEPEST_INDENT else "")
        yield indent + _node_line(nodes, nodes[index])
        stack += [(child, depth + 1) for child in reversed(children.get(index, []))]


def _node_line(nodes: Sequence[Json], node: Json) -> str:
    parts = [f"{node['name']!r} [{node['object'] or 'object'}] {node['controller']}".rstrip()]
    kinds = [kind for kind in (node["position"], node["rotation"]) if kind not in ("track", "Euler XYZ", "quaternion")]
    if kinds:
        names = ", ".join(repr(nodes[index]["name"]) for index in node["refers_to"])
        parts.append(", ".join(kinds) + (f" ({names})" if names else ""))
    if "links" in node:
        parts.append(f"{len(node['links']['times'])} links")
    if node["keys"]:
        parts.append(", ".join(_keys_text(entry) for entry in node["keys"]))
    if "joint" in node:
        parts.append(f"preferred angles {' '.join(_number(angle, 2) for angle in node['joint']['preferred_angles'])}")
        if node["joint"]["inactive_axes"]:
            parts.append(f"axes off {node['joint']['inactive_axes']} (IK Limb and Spline IK ignore this)")
        if node["joint"]["limited_axes"]:
            parts.append(f"limits on {node['joint']['limited_axes']} (IK Limb and Spline IK ignore them)")
    return "; ".join(parts)


def _number(value: float | None, decimals: int = 4) -> str:
    return "not finite" if value is None else f"{value:.{decimals}f}"


def _keys_text(entry: Json) -> str:
    return f"{entry['track']} {entry['keys']} {entry['kind']} keys {entry['range'][0]}..{entry['range'][1]}"


def _chain_lines(nodes: Sequence[Json], chain: Json) -> Iterator[str]:
    def name(index: int) -> str:
        return repr(nodes[index]["name"])

    def keyed(entries: Sequence[Json]) -> str:
        return "".join(f", {_keys_text(entry)}" for entry in entries)

    ends = f"from {name(chain['start'])} to {name(chain['end'])}, goal {name(chain['goal'])}"
    yield f"  {chain['name']!r}: {chain['solver']}, {ends}"
    if "spline" in chain:
        spline = chain["spline"]
        knots = f"{spline['knots']} knots, {'closed' if spline['closed'] else 'open'}" if spline["knots"] else "no knots"
        carried = f", carried by {len(spline['helpers'])} helpers" if spline["helpers"] else ""
        up = "none" if spline["up_node"] is None else name(spline["up_node"])
        yield f"    spline: {name(spline['shape'])} ({knots}{carried}), up-node {up}"
        start, end = spline["twists"]
        yield f"    twist: {_number(start)} at the start, {_number(end)} more to the end{keyed(spline['twist_keys'])}"
    elif chain["swivel"]["vh_target"] is not None:
        yield f"    plane: through the VH target {name(chain['swivel']['vh_target'])}"
    else:
        swivel = chain["swivel"]
        yield f"    swivel angle {_number(swivel['angle'])} in {swivel['space']} space{keyed(swivel['keys'])}"
    yield f"    enabled: {'yes' if chain['enabled'] else 'no'}{keyed(chain['enabled_keys'])}"
    if chain["joints"]:
        yield f"    joints: {' > '.join(name(index) for index in chain['joints'])}"
    solved = f"solved by maxik: {chain['method']}"
    yield f"    {solved if chain['not_solved'] is None else 'not solved: ' + chain['not_solved']}"
