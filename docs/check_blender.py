"""Compares a .glb with the bake that it was written from, as Blender sees it: every node's world position at ten frames.

python docs/check_blender.py SCENE.glb SCENE.npz METRES        (needs Blender as a module: pip install bpy)

SCENE.npz comes from the same `maxik bake`; METRES is the length of the scene's unit. Joints are bones in Blender, and what
hangs on them is parented to bones.
"""

from __future__ import annotations

import sys

import bpy
import numpy as np

LARGEST = 1e-4
"""Parts of the scene's size that a position may be off."""


def positions() -> dict[str, np.ndarray]:
    """Return the world position of every object and bone by name, metres, Z up."""
    found = {}
    for thing in bpy.data.objects:
        found[thing.name] = np.array(thing.matrix_world.translation)
        if thing.type == "ARMATURE":
            for bone in thing.pose.bones:
                found[bone.name] = np.array((thing.matrix_world @ bone.matrix).translation)
    return found


def main(glb: str, npz: str, metres: float) -> int:
    """Print the worst miss and return 0 when it is small enough."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=glb)
    baked = np.load(npz)
    names, worlds, ticks = [str(name) for name in baked["names"]], baked["world_tm"].astype(np.float64), baked["ticks"]
    size = float(np.ptp(worlds[:, :, 3], axis=(0, 1)).max()) * metres
    worst, compared = 0.0, 0
    for frame in np.linspace(0, len(ticks) - 1, 10).astype(int).tolist():
        at = (ticks[frame] - ticks[0]) / 4800.0 * bpy.context.scene.render.fps
        bpy.context.scene.frame_set(int(at), subframe=float(at - int(at)))
        found = positions()
        for index, name in enumerate(names):
            if names.count(name) == 1:
                worst = max(worst, float(np.linalg.norm(found[name] - worlds[index, frame, 3] * metres)) / size)
                compared += 1
    print(f"{glb}: {compared} positions, worst {worst:.2g} of the scene's size")
    return 0 if worst <= LARGEST else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
