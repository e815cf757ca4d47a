"""What a scene holds, as text: nodes with controllers and keys, IK chains, and what maxik cannot evaluate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from maxik.errors import SceneError
from maxik.scene import ik
from maxik.scene.scene import TICKS_PER_SECOND, Chain, Node, Scene
from maxik.scene.transform import tracks_of


def inspect_scene(scene: Scene) -> Iterator[str]:
    """Yield the report line by line; scene units, degrees for angles, frames and ticks for time."""
    yield from _header(scene)
    yield ""
    yield f"nodes ({len(scene.nodes)}):"
    yield from _tree(scene)
    yield ""
    yield f"IK chains ({len(scene.chains)}):"
    driven: dict[int, str] = {}
    for chain in scene.chains:
        yield from _chain(scene, chain, driven)
    yield ""
    yield f"not evaluated, or on an assumption ({len(scene.notices)}):"
    for notice in scene.notices:
        node = "scene" if notice.node is None else repr(scene.nodes[notice.node].name)
        yield f"  {notice.kind}: {node} {notice.where} [{notice.class_name}]: {notice.what}"


def _header(scene: Scene) -> Iterator[str]:
    ticks_per_frame = TICKS_PER_SECOND / scene.frame_rate
    first, last = scene.first_tick / ticks_per_frame, scene.last_tick / ticks_per_frame
    yield f"file: {scene.file}"
    for key, value in scene.source.items():
        yield f"{key}: {value}"
    yield f"units: {scene.units.name} ({scene.units.metres:g} m)"
    yield f"time: frames {first:g} to {last:g} at {scene.frame_rate:g} a second (ticks {scene.first_tick} to {scene.last_tick})"


def _tree(scene: Scene) -> Iterator[str]:
    """Yield the nodes as an indented tree, in file order, without recursion: real hierarchies can be deep."""
    children: dict[int | None, list[int]] = {}
    for index, node in enumerate(scene.nodes):
        children.setdefault(node.parent, []).append(index)
    stack = [(index, 1) for index in reversed(children.get(None, []))]
    while stack:
        index, depth = stack.pop()
        yield "  " * depth + _node(scene.nodes[index])
        stack += [(child, depth + 1) for child in reversed(children.get(index, []))]


def _node(node: Node) -> str:
    parts = [f"{node.name!r} [{node.object_class or 'object'}] {node.controller_class}".rstrip()]
    tracks = tracks_of(node.transform)
    keyed = [f"{name} keys {track.key_range[0]}..{track.key_range[1]}" for name, track in tracks if track.key_range]
    if keyed:
        parts.append(", ".join(keyed))
    if node.joint is not None:
        angles = np.degrees(node.joint.preferred.at(np.zeros(1, np.int64))[0])
        parts.append(f"preferred angles {angles[0]:.2f} {angles[1]:.2f} {angles[2]:.2f}")
        if node.joint.inactive_axes:
            parts.append(f"axes off {node.joint.inactive_axes} (the solver ignores this)")
        if node.joint.limited_axes:
            parts.append(f"limits on {node.joint.limited_axes} (the solver ignores them)")
    return "; ".join(parts)


def _chain(scene: Scene, chain: Chain, driven: dict[int, str]) -> Iterator[str]:
    def name(index: int) -> str:
        return repr(scene.nodes[index].name)

    yield f"  {chain.name!r}: {chain.solver}, from {name(chain.start)} to {name(chain.end)}, goal {name(chain.goal)}"
    zero = np.array([scene.first_tick], np.int64)
    if chain.spline is not None:
        twists = [np.degrees(float(track.at(zero)[0, 0])) for track in (chain.spline.start_twist, chain.spline.end_twist)]
        up = "none" if chain.spline.up_node is None else name(chain.spline.up_node)
        shape = scene.nodes[chain.spline.shape].shape
        knots = "no knots" if shape is None else f"{len(shape.knots)} knots, {'closed' if shape.closed else 'open'}"
        carried = f", carried by {len(shape.helpers)} helpers" if shape and shape.helpers else ""
        yield f"    spline: {name(chain.spline.shape)} ({knots}{carried}), up-node {up}"
        yield f"    twist: {twists[0]:.4f} at the start, {twists[1]:.4f} more to the end"
    elif chain.vh_target is not None:
        yield f"    plane: through the VH target {name(chain.vh_target)}"
    else:
        swivel = np.degrees(float(chain.swivel.at(zero)[0, 0]))
        keys = chain.swivel.key_range
        yield f"    swivel angle {swivel:.4f} in {chain.swivel_parent} space" + (f", keys {keys[0]}..{keys[1]}" if keys else "")
    enabled = float(chain.enabled.at(zero)[0, 0]) > 0.5  # noqa: PLR2004 - a boolean kept as float
    yield f"    enabled: {'yes' if enabled else 'no'}" + (" (keyed)" if chain.enabled.key_range else "")
    try:
        joints = ik.chain_joints(scene, chain)
    except SceneError as error:
        yield f"    not solved: {error.what}"
        return
    yield f"    joints: {' > '.join(name(index) for index in joints)}"
    reason = ik.why_not_solved(scene, chain, joints, driven)
    if reason is None:
        driven.update(dict.fromkeys(joints[:-1], chain.name))
        yield "    solved by maxik"
    else:
        yield f"    not solved: {reason}"
