"""A baked scene as an `.anim`, and what that file leaves out.

Mode "bake" samples every node, what a solver set included: the exporter does so for Biped alone. Mode "faithful" writes
what the exporter would have written: keys of the controllers that it knows. It says nothing about the others; here
`left_out` does. Tracks are raw (float32 keys), or packed as the animation builder packs them. docs/nel.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxik.errors import SceneError, UsageError
from maxik.formats.nel.anim import Animation, anim_bytes, animation
from maxik.formats.nel.built import build, not_built
from maxik.formats.nel.keyed import PARTS, Unwritten, of_node
from maxik.formats.nel.naming import track_prefixes
from maxik.formats.nel.sampled import sampled_tracks
from maxik.formats.nel.tracks import KeyFramer
from maxik.formats.writers import WriteOptions
from maxik.scene.ik import chain_joints
from maxik.scene.motion import BakedScene
from maxik.scene.scene import Scene

_TRANSFORM = "transform"
_SAME_NAME = "a node before it has the same name"


@dataclass(frozen=True)
class LeftOut:
    """A part of a node ("rotation", "position", "scale") that an `.anim` has no track for, or not as asked, and why."""

    node: str
    part: str
    why: str


def render_anim(baked: BakedScene, _certificate: Mapping[str, Any], options: WriteOptions | None = None) -> bytes:
    """Return the `.anim` of a baked scene: version 2, scene units, seconds as in the scene.

    Raises SceneError, with the node, for numbers that are not finite or a name that cannot be written; UsageError for an
    unknown option value, or a packed take of more than 65536 samples of a thirtieth of a second.
    """
    options = _checked(options)
    raw = _sampled(baked) if options.nel_mode == "bake" else _keyed(baked)[0]
    return anim_bytes(build(raw) if options.nel_tracks == "packed" else raw)


def left_out(baked: BakedScene, options: WriteOptions | None = None) -> tuple[LeftOut, ...]:
    """Return what the `.anim` of a baked scene has no track for, in the file's order.

    Mode "faithful": parts whose controllers the exporter does not read, whether they move or not, and what IK sets; of
    packed tracks Bezier and TCB keys that stay as they are. A key controller without keys is a plain value and not listed.
    Both modes: what is dropped since a node before has the same name. Errors as of `render_anim`.
    """
    options = _checked(options)
    if options.nel_mode == "bake":
        nodes = baked.scene.nodes
        return tuple(LeftOut(nodes[index].name, _TRANSFORM, _SAME_NAME) for index in _twins(baked))
    raw, found = _keyed(baked)
    if options.nel_tracks == "packed":
        why = "not packed: Bezier and TCB keys are written as they are"
        names = {prefix: baked.scene.nodes[index].name for index, prefix in reversed(track_prefixes(baked.scene))}
        for name in not_built(raw):
            part = name.rpartition(".")[2]
            found.append(LeftOut(names[name.removesuffix(part)], PARTS[part], why))
    return tuple(found)


def left_out_line(entries: Sequence[LeftOut]) -> str:
    """Return what is left out as one line: how many parts, and for each reason the nodes."""
    groups: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        groups.setdefault((entry.part, entry.why), []).append(repr(entry.node))
    told = "; ".join(f"{part} of {', '.join(nodes)} ({why})" for (part, why), nodes in groups.items())
    return f"left out of the .anim: {len(entries)} parts of nodes: {told}"


def _checked(options: WriteOptions | None) -> WriteOptions:
    options = options or WriteOptions()
    for value, known in ((options.nel_tracks, ("raw", "packed")), (options.nel_mode, ("faithful", "bake"))):
        if value not in known:
            message = f"NeL files are written {' or '.join(known)}, not {value!r}"
            raise UsageError(message)
    return options


def _sampled(baked: BakedScene) -> Animation:
    """Return every node's sampled tracks; of nodes of one name the first."""
    twins = set(_twins(baked))
    return animation(
        {
            f"{prefix}{part}": track
            for index, prefix in track_prefixes(baked.scene)
            if index not in twins
            for part, track in sampled_tracks(baked, index).items()
        }
    )


def _twins(baked: BakedScene) -> list[int]:
    """Return the nodes whose tracks would have the names of a node before them."""
    seen, found = set(), []
    for index, prefix in track_prefixes(baked.scene):
        if prefix in seen:
            found.append(index)
        seen.add(prefix)
    return found


def _keyed(baked: BakedScene) -> tuple[Animation, list[LeftOut]]:
    """Return the animation of the scene's keys, and what it leaves out; names that are there already are dropped (1.6)."""
    tracks: dict[str, KeyFramer] = {}
    found = []
    unseen, unread = _unseen(baked.scene), _unread(baked.scene)
    for index, prefix in track_prefixes(baked.scene):
        node = baked.scene.nodes[index].name
        for part, written in of_node(baked.scene.nodes[index]).items():
            why = unseen.get((index, part))
            if why is None and isinstance(written, Unwritten) and not written.still:
                why = written.why
            why = why or unread.get((index, part))
            if why is None and isinstance(written, KeyFramer):
                _refuse_non_finite(baked, index, part, written)
                if tracks.setdefault(f"{prefix}{part}", written) is not written:
                    why = _SAME_NAME
            if why is not None:
                found.append(LeftOut(node, PARTS[part], why))
    return animation(tracks), found


def _unseen(scene: Scene) -> dict[tuple[int, str], str]:
    """Return the parts (node, last part of a track's name) that the exporter does not see, and why."""
    found = {(index, part): "link constraint" for index, node in enumerate(scene.nodes) if node.links for part in PARTS}
    for chain in scene.chains:
        for joint in chain_joints(scene, chain)[:-1]:
            found[joint, "rotquat"] = f"set by the IK chain {chain.name!r}"
    return found


def _unread(scene: Scene) -> dict[tuple[int, str], str]:
    """Return the parts whose controllers maxik could not read, Biped's among them, and which these are."""
    return {
        (notice.node, part): f"{notice.class_name or 'its controller'} is not read"
        for notice in scene.notices
        if notice.node is not None and notice.kind == "unsupported"
        for part, name in PARTS.items()
        if notice.where.startswith((name, _TRANSFORM))
    }


def _refuse_non_finite(baked: BakedScene, index: int, part: str, track: KeyFramer) -> None:
    assert track.keys.dtype.names is not None  # noqa: S101 - keys are records
    if not all(np.isfinite(track.keys[name]).all() for name in track.keys.dtype.names):
        message = f"a key of the {PARTS[part]} is not finite, which an animation cannot hold"
        raise SceneError(message, file=baked.scene.file, node=baked.scene.nodes[index].name)
