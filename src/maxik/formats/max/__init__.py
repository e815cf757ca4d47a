"""The .max reader: a 3ds Max scene file (Max 3 to 2020) to a Scene, without 3ds Max (max-format.md).

The way of the data: container (OLE streams) -> chunks (tree) -> objects (class table, references) -> controllers,
params, ik (what a rig needs) -> scene. Nothing of a file is ever executed. What cannot be evaluated is held at its
cached value and named in `Scene.notices`.
"""

from maxik.formats.max.scene import read_max

__all__ = ["read_max"]
