"""Draws docs/walk.png: poses of the walking example over one stride, seen from its left side."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from maxik.bake import bake_file
from maxik.scene.motion import BakedScene

HERE = Path(__file__).resolve().parent
POSES = range(0, 31, 5)
SPREAD = 48.0
"""Extra distance between poses, cm, so that they do not overlap."""
COLOURS = {"IK Chain L Leg": "#1f6fb4", "IK Chain R Leg": "#e08214", "IK Chain R Arm": "#2a9d5c"}
LABELS = {
    "IK Chain L Leg": "left leg, VH target",
    "IK Chain R Leg": "right leg, swivel angle",
    "IK Chain R Arm": "right arm, keyed swivel",
}
GREY = "#8a919c"
HEAD = "Bone HeadNub"
"""The top of the head, which is drawn as a circle."""


def point(baked: BakedScene, node: int, frame: int) -> tuple[float, float]:
    """Return a node's position in the picture: walking direction to the right, up."""
    world = baked.nodes[node].world_tm
    _, y, z = world[frame if len(world) > 1 else 0, 3].astype(float)
    return -y, z


def draw_pose(axes: Axes, baked: BakedScene, frame: int, shift: float) -> None:
    """Draw bones as lines, solved limbs thick and coloured, goals as crosses."""
    nodes = baked.scene.nodes
    for index, node in enumerate(nodes):
        if node.object_class != "Bone" or node.parent is None or node.name == HEAD:
            continue
        (x0, z0), (x1, z1) = point(baked, node.parent, frame), point(baked, index, frame)
        solved = baked.nodes[node.parent].solved_by
        colour, width = (COLOURS[solved[0]], 4.0) if solved else (GREY, 2.2)
        axes.plot(
            [x0 + shift, x1 + shift], [z0, z1], color=colour, linewidth=width, solid_capstyle="round", zorder=2 + bool(solved)
        )
    for motion in baked.chains:
        chain = baked.scene.chains[motion.chain]
        x, z = point(baked, chain.goal, frame)
        axes.plot(x + shift, z, marker="+", color="#c1121f", markersize=9, markeredgewidth=1.8, zorder=5)
    head = next(index for index, node in enumerate(nodes) if node.name == HEAD)
    x, z = point(baked, head, frame)
    axes.add_patch(Circle((x + shift, z - 11.0), 9.5, facecolor="white", edgecolor=GREY, linewidth=2.2, zorder=4))


def main() -> None:
    """Draw the picture."""
    baked, _ = bake_file(HERE.parent / "examples" / "walk.scene.json")
    figure = Figure(figsize=(14, 6), dpi=100)
    axes = figure.add_subplot()
    for place, frame in enumerate(POSES):
        draw_pose(axes, baked, frame, place * SPREAD)
    axes.axhline(0.0, color="#c9ced6", linewidth=1.5, zorder=1)
    for place, frame in enumerate(POSES):
        x, _ = point(baked, 0, frame)
        axes.text(x + place * SPREAD, -13.0, f"frame {frame}", ha="center", color="#5b6270", fontsize=10)
    handles = [Line2D([], [], color=COLOURS[name], linewidth=4, label=LABELS[name]) for name in COLOURS]
    handles.append(Line2D([], [], color="#c1121f", marker="+", linestyle="", markersize=9, markeredgewidth=1.8, label="goal"))
    axes.legend(handles=handles, loc="upper center", ncols=4, frameon=False, bbox_to_anchor=(0.5, 1.06), fontsize=11)
    axes.set_aspect("equal")
    axes.axis("off")
    figure.tight_layout()
    figure.savefig(HERE / "walk.png", facecolor="#fbfcfe", metadata={"Software": None})
    print(f"written: {HERE / 'walk.png'}")


if __name__ == "__main__":
    main()
