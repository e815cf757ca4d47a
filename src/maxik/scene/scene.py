"""The scene as data: nodes, transforms, joints, IK chains, and what could not be read.

Readers (formats/max, formats/scene_json) build a `Scene`; evaluate.py turns it into node TMs and solved joints. Nodes
are referred to by their index in `Scene.nodes`, never by name: names repeat in real files. Units: scene units for
lengths, radians for angles, ticks (4800 a second) for time.
Sources: max-format.md 4, 5, 7; core-contracts.md 6, 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from maxik.scene.tracks import Track
from maxik.scene.transform import Links, Transform, tracks_of

TICKS_PER_SECOND = 4800

LIMB = "IKLimb"
HI = "IKHISolver"
SPLINE = "SplineIKSolver"
"""Solver names as 3ds Max stores them."""


@dataclass(frozen=True)
class Joint:
    """What an IKControl adds to a node: the preferred angles (track of size 3: x, y, z radians) the solvers start from.

    `initial_position` is the stored initial position (ids 36-38), kept for reports only: it is stale in real files.
    `inactive_axes` names the rotation axes switched off ("x", "y", "z"), `limited_axes` those with a limit on.
    """

    preferred: Track
    initial_position: tuple[float, float, float] | None = None
    inactive_axes: str = ""
    limited_axes: str = ""


@dataclass(frozen=True)
class Knot:
    """A knot of a spline in object space; handles are points, not offsets. `kind` 0 is "auto": its handles follow the knots."""

    kind: int
    point: tuple[float, float, float]
    in_handle: tuple[float, float, float]
    out_handle: tuple[float, float, float]


@dataclass(frozen=True)
class Shape:
    """A spline on a node. `helpers`: nodes that carry its knots, one a knot (Spline IK Control), or empty.

    `offset` is the object offset: object TM = offset * node TM (position, rotation quaternion, scale, its axis).
    """

    knots: tuple[Knot, ...]
    closed: bool = False
    helpers: tuple[int, ...] = ()
    offset: Transform | None = None


@dataclass(frozen=True)
class Node:
    """A node: `parent` is an index into Scene.nodes or None; `object_class` what hangs on it ("Bone", "Dummy", ...).

    `links` puts the transform below other nodes than the parent over time. `lists`: the parts ("position", "rotation",
    "scale") whose controller is a list; of a list with one working entry the transform holds just that.
    """

    name: str
    parent: int | None
    transform: Transform
    object_class: str = ""
    controller_class: str = ""
    joint: Joint | None = None
    shape: Shape | None = None
    links: Links | None = None
    lists: tuple[str, ...] = ()


@dataclass(frozen=True)
class SplineGoal:
    """What a Spline IK chain follows: the node with the shape, twists (tracks of size 1, radians), the up-node if used."""

    shape: int
    start_twist: Track
    end_twist: Track
    up_node: int | None = None


@dataclass(frozen=True)
class Chain:
    """An IK chain: solver name, start joint, end joint and goal node, all as node indices.

    `swivel`: track of size 1, radians; `swivel_parent`: "goal" or "start-joint" (SAParent 0 or 1); `vh_target`: node
    whose position replaces the swivel, or None when unused; `enabled`: track of size 1, solved where above 0.5. `spline`:
    what a Spline IK chain follows; swivel and VH target mean nothing to it.
    """

    name: str
    solver: str
    start: int
    end: int
    goal: int
    swivel: Track
    swivel_parent: str
    vh_target: int | None
    enabled: Track
    spline: SplineGoal | None = None


@dataclass(frozen=True)
class Notice:
    """Something of the file that maxik does not evaluate (or evaluates on a guess), by node and class.

    `kind`: "unsupported" (held at the cached value), "ignored" (has no effect on node TMs here), "assumed" (evaluated
    by an unverified rule), "security" (a marker of a known script infection). `node` is an index into Scene.nodes or
    None; `where` names the part ("rotation", "scale x").
    """

    kind: str
    what: str
    node: int | None = None
    class_name: str = ""
    where: str = ""


@dataclass(frozen=True)
class Units:
    """The scene's system unit: its name and how many metres it is."""

    name: str = "inch"
    metres: float = 0.0254


@dataclass(frozen=True)
class Scene:
    """A scene file as data. `first_tick`..`last_tick` is the animation range; `source` tells file, version and build."""

    file: str
    nodes: tuple[Node, ...]
    chains: tuple[Chain, ...] = ()
    frame_rate: float = 30.0
    first_tick: int = 0
    last_tick: int = 0
    units: Units = field(default_factory=Units)
    notices: tuple[Notice, ...] = ()
    source: Mapping[str, str] = field(default_factory=dict)


def named_tracks(scene: Scene) -> Iterator[tuple[int, str, Track]]:
    """Yield every track of a scene: the node that owns it (for a chain its goal), the track's name, the track."""
    for index, node in enumerate(scene.nodes):
        yield from ((index, name, track) for name, track in tracks_of(node.transform))
        if node.joint is not None:
            yield index, "preferred angles", node.joint.preferred
    for chain in scene.chains:
        yield chain.goal, "enabled", chain.enabled
        if chain.spline is None:
            yield chain.goal, "swivel angle", chain.swivel
        else:
            yield chain.goal, "start twist", chain.spline.start_twist
            yield chain.goal, "end twist", chain.spline.end_twist


def held_nodes(scene: Scene) -> set[int]:
    """Return the nodes with a part that is held, since it is not evaluated."""
    return {notice.node for notice in scene.notices if notice.kind == "unsupported" and notice.node is not None}
