"""Which module writes which kind of file, and what a writer may be told.

A writer is a function of a baked scene, its certificate and the options, and returns the whole file; nothing here or
there touches the disk. Modules are loaded when their ending is asked for, so that one writer is loaded, not all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from maxik.errors import UsageError
from maxik.scene.motion import BakedScene


@dataclass(frozen=True)
class WriteOptions:
    """What a writer may be told; each takes what concerns it.

    `reduce`: glTF keys are left out as long as every node's world position stays within this part of the scene's size, and
    its axes within as many radians; 0 keeps every frame. `bones`: glTF gets a skin with a bone mesh, where the scene has
    joints. `nel_tracks`: "raw" or "packed" rotation tracks of NeL; `nel_mode`: "faithful" (what the original exporter would
    have written) or "bake" (solved rotations as tracks). `bvh_order`: the order of BVH's rotation channels, three letters of
    x, y, z.
    """

    reduce: float = 0.0
    bones: bool = True
    nel_tracks: str = "raw"
    nel_mode: str = "bake"
    bvh_order: str = "zxy"


Writer = Callable[[BakedScene, Mapping[str, Any], WriteOptions], bytes]

_WRITERS: Mapping[str, tuple[str, str]] = {
    ".glb": ("gltf", "render_glb"),
    ".gltf": ("gltf", "render_gltf"),
    ".bvh": ("bvh", "render_bvh"),
    ".json": ("bake_json", "render_json"),
    ".csv": ("tables", "render_csv"),
    ".npz": ("tables", "render_npz"),
    ".parquet": ("parquet", "render_parquet"),
    ".usda": ("usd", "render_usda"),
    ".usdc": ("usd", "render_usdc"),
    ".anim": ("nel.write_anim", "render_anim"),
}
"""Ending -> module of this package, function."""


def writer_for(path: str | Path) -> Writer:
    """Return the writer for the ending of `path`; UsageError for an ending that maxik does not write."""
    ending = Path(path).suffix.lower()
    if ending not in _WRITERS:
        message = f"maxik does not write {ending or 'files without an ending'}; it writes {', '.join(_WRITERS)}"
        raise UsageError(message, file=str(path))
    module, function = _WRITERS[ending]
    writer: Writer = getattr(import_module(f"maxik.formats.{module}"), function)
    return writer
