"""Writes snake.scene.json: a tail of 12 bones on an animated open spline, and a belt of 12 on a closed one.

Centimetres, Z up, two seconds at 30 frames a second. The tail's spline has six knots on helpers that swing like a
snake's; its end twist is keyed and its first helper is the up-node. The belt's spline is closed and turns with its node.
Both start joints sit on their curve by a path constraint. Run it from anywhere: python examples/make_snake.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from make_walk import FRAME_RATE, FRAMES, constant, decimal, keyed, swing

from maxik.formats.scene_json import write_scene_json
from maxik.scene.scene import SPLINE, Chain, Joint, Knot, Node, Scene, Shape, SplineGoal, Units
from maxik.scene.tracks import ComponentsTrack, ConstantTrack, Track
from maxik.scene.transform import EulerRotation, PathPosition, Transform

BONES = 12
KNOTS = 6
TAIL_BONE, KNOT_DISTANCE = 9.0, 24.0
BELT_KNOTS, BELT_LONG, BELT_WIDE = 8, 60.0, 30.0
BELT_BONE = 20.5
NOTHING = constant(0.0)
ONES, NO_TURN = constant(1.0, 1.0, 1.0), constant(0.0, 0.0, 0.0, 1.0)
Point = tuple[float, float, float]


def node(  # noqa: PLR0913 - a node has that many parts
    name: str,
    parent: int | None,
    position: Track,
    *,
    turn: Track = NOTHING,
    kind: str = "Point",
    joint: Joint | None = None,
    shape: Shape | None = None,
    path: int | None = None,
) -> Node:
    """Return a node that is turned about z only; `path`: the node with the spline at whose start it sits."""
    place = position if path is None else PathPosition((path,), (constant(1.0),), NOTHING)
    transform = Transform(place, EulerRotation(NOTHING, NOTHING, turn), ONES, NO_TURN)
    controller = "IKControl" if joint else "Position/Rotation/Scale"
    return Node(name, parent, transform, kind, controller, joint, shape)


def auto_knot(x: float, y: float, z: float) -> Knot:
    """Return a knot whose handles follow from its neighbours."""
    point: Point = (decimal(x), decimal(y), decimal(z))
    return Knot(0, point, point, point)


def chain_of(nodes: list[Node], name: str, shape: int, bone: float, bend: float) -> tuple[int, int]:
    """Add a root, twelve bones and their end; return start and end joint. Each bone is bent by `bend` radians at rest."""
    parent = None
    start = len(nodes)
    for index in range(BONES + 1):
        angle = constant(bend if index else 0.0)
        nodes.append(
            node(
                f"Bone {name} {index + 1:02d}" if index < BONES else f"Bone {name} Nub",
                parent,
                constant(bone if index else 0.0, 0.0, 0.0),
                turn=angle,
                kind="Bone",
                joint=Joint(ConstantTrack((0.0, 0.0, angle.value[0]))),
                path=None if index else shape,
            )
        )
        parent = len(nodes) - 1
    return start, parent if parent is not None else start


def add_tail(nodes: list[Node]) -> Chain:
    """Add helpers, spline and bones of the tail; return its chain."""
    helpers = tuple(range(len(nodes), len(nodes) + KNOTS))
    for index in range(KNOTS):
        share = index / (KNOTS - 1)
        sway, rise = swing(22.0 * share, -0.22 * index), swing(9.0 * share, 0.25 - 0.22 * index, 2.0)
        x = constant(index * KNOT_DISTANCE * 0.93)
        position = ComponentsTrack((x, keyed(sway), keyed(lambda s, rise=rise: 12.0 + rise(s))))  # type: ignore[misc]
        nodes.append(node(f"Tail Helper {index + 1}", None, position))
    shape = len(nodes)
    knots = tuple(auto_knot(index * KNOT_DISTANCE, 0.0, 12.0) for index in range(KNOTS))
    nodes.append(node("Tail Spline", None, constant(0.0, 0.0, 0.0), kind="Line", shape=Shape(knots, helpers=helpers)))
    start, end = chain_of(nodes, "Tail", shape, TAIL_BONE, 0.03)
    nodes.append(node("IK Chain Tail", None, constant(0.0, 0.0, 0.0), kind="IK Chain Object"))
    goal = SplineGoal(shape, NOTHING, keyed(swing(1.2)), up_node=helpers[0])
    return spline_chain("IK Chain Tail", start, end, len(nodes) - 1, goal)


def add_belt(nodes: list[Node]) -> Chain:
    """Add the turning closed spline and the bones of the belt; return its chain."""
    shape = len(nodes)
    angles = [2.0 * np.pi * index / BELT_KNOTS for index in range(BELT_KNOTS)]
    knots = tuple(auto_knot(BELT_LONG * np.cos(a), BELT_WIDE * np.sin(a), 0.0) for a in angles)
    turn = keyed(lambda s: np.pi * s)
    centre = constant(55.0, -80.0, 30.0)
    nodes.append(node("Belt Spline", None, centre, turn=turn, kind="Line", shape=Shape(knots, closed=True)))
    start, end = chain_of(nodes, "Belt", shape, BELT_BONE, 0.45)
    nodes.append(node("IK Chain Belt", None, constant(0.0, 0.0, 0.0), kind="IK Chain Object"))
    return spline_chain("IK Chain Belt", start, end, len(nodes) - 1, SplineGoal(shape, NOTHING, NOTHING))


def spline_chain(name: str, start: int, end: int, goal_node: int, goal: SplineGoal) -> Chain:
    """Return an enabled Spline IK chain."""
    return Chain(name, SPLINE, start, end, goal_node, NOTHING, "start-joint", None, constant(1.0), goal)


def snake() -> Scene:
    """Return the whole scene."""
    nodes: list[Node] = []
    chains = (add_tail(nodes), add_belt(nodes))
    return Scene(
        file="snake.scene.json",
        nodes=tuple(nodes),
        chains=chains,
        frame_rate=FRAME_RATE,
        first_tick=0,
        last_tick=FRAMES * 160,
        units=Units("centimetre", 0.01),
        source={"format": "maxik-scene/1", "title": "A tail on an open spline and a belt on a closed one"},
    )


if __name__ == "__main__":
    write_scene_json(snake(), Path(__file__).with_name("snake.scene.json"))
