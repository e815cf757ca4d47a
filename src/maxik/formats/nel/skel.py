"""A NeL skeleton, `.skel` (nel-facts.md 2.4): bones with bind and rest pose, names, levels of detail.

Every version that occurs is read, and written back byte for byte: pointer ids, version numbers, state bits and the order
of names stay as found. Values are in the exporter's scene units. A matrix holds columns I, J, K of a NeL column-vector
matrix, which are the rows of 3ds Max's row-vector matrix; quaternions (x, y, z, w) are of the usual convention.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from maxik.formats.nel.stream import Pointer, Reader, Writer, check_names, file_bytes, read_names, write_names

Float32s = NDArray[np.float32]

_MAGIC, _CLASS = b"SHAP", "CSkeletonShape"
_TRANSLATION, _TURN_OR_SCALE, _PROJECTION = 1, 2 | 4 | 8, 16
_BONE_BYTES, _LOD_BYTES = 100, 9
_WITH_LODS = _WITH_DISTANCE = 1
_WITH_SKIN_SCALE = 2


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix as stored: `state` bits say which parts there are.

    `scale33` (1,), `axes` (3, 3) row by row, whose columns are the images of the axes, `translation` (3,), `projection`
    (4,); float32, None where the state has none.
    """

    state: int
    scale33: Float32s
    axes: Float32s | None
    translation: Float32s | None
    projection: Float32s | None


@dataclass(frozen=True, eq=False)
class Bone:
    """A bone. `father`: index of its parent, which stands before it, -1 for none.

    `inverse_bind`: world to bone. `position`, `euler`, `scale`, `pivot` (3,) and `rotation` (4,) are the rest pose below
    the father, float32. `unherit_scale`: the father's scale does not pass on. `lod_distance` (1,) or None before version
    1, `skin_scale` (3,) or None before version 2.
    """

    version: int
    name: str
    inverse_bind: Matrix
    father: int
    unherit_scale: bool
    lod_distance: Float32s | None
    position: Float32s
    euler: Float32s
    rotation: Float32s
    scale: Float32s
    pivot: Float32s
    skin_scale: Float32s | None


@dataclass(frozen=True, eq=False)
class Lod:
    """From `distance` (1,) on, the bones whose byte in `active` is not 0 move."""

    distance: Float32s
    active: bytes


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A whole `.skel`: `names` pairs a bone's name with its index, in the file's order; `pointer_id` is the object's id."""

    version: int
    bones: tuple[Bone, ...]
    names: tuple[tuple[str, int], ...]
    lods: tuple[Lod, ...] = ()
    pointer_id: int = 1


def read_skel(path: str | Path) -> Skeleton:
    """Return the skeleton in a file; FileFormatError, with file and offset, for one that is not whole."""
    return parse_skel(file_bytes(path), str(path))


def parse_skel(data: bytes, file: str = "") -> Skeleton:
    """Return the skeleton in a file's bytes; `file` is named in errors."""
    reader = Reader(file, data)
    reader.expect(_MAGIC)
    start = reader.at
    pointer: Pointer[Skeleton] = reader.pointer(lambda name: _skeleton(reader, name))
    if pointer.target is None:
        message = "holds no skeleton: the pointer to it is null"
        raise reader.error(message, start)
    reader.end()
    found = pointer.target
    return Skeleton(found.version, found.bones, found.names, found.lods, pointer.id)


def skel_bytes(skeleton: Skeleton) -> bytes:
    """Return a skeleton as a file; of one that was read, the very bytes."""
    writer = Writer()
    writer.raw(_MAGIC)
    writer.pointer(Pointer(skeleton.pointer_id, skeleton), lambda _: _CLASS, lambda found: _write_skeleton(writer, found))
    return writer.finish()


def _skeleton(reader: Reader, class_name: str) -> Skeleton:
    if class_name != _CLASS:
        message = f"holds a {class_name!r}, no {_CLASS}"
        raise reader.error(message, 12)
    version = reader.version(1, _CLASS)
    bones = tuple(_bone(reader, index) for index in range(reader.objects(_BONE_BYTES, "bones")))
    names = read_names(reader, "bones")
    check_names(reader, names, len(bones), "bones")
    lods: tuple[Lod, ...] = ()
    if version >= _WITH_LODS:
        lods = tuple(_lod(reader) for _ in range(reader.objects(_LOD_BYTES, "levels of detail")))
    return Skeleton(version, bones, names, lods)


def _bone(reader: Reader, index: int) -> Bone:
    version = reader.version(2, "a bone")
    name = reader.string("a bone's name")
    inverse_bind = _matrix(reader)
    father = reader.number("i", "a bone's father")
    if not -1 <= father < index:
        message = f"bone {index} has the father {father}, which does not stand before it"
        raise reader.error(message, reader.at - 4)
    return Bone(
        version,
        name,
        inverse_bind,
        father,
        unherit_scale=reader.flag("unherit scale"),
        lod_distance=reader.floats(1, what="a distance") if version >= _WITH_DISTANCE else None,
        position=_default(reader, 3),
        euler=_default(reader, 3),
        rotation=_default(reader, 4),
        scale=_default(reader, 3),
        pivot=_default(reader, 3),
        skin_scale=reader.floats(3, what="a skin scale") if version >= _WITH_SKIN_SCALE else None,
    )


def _default(reader: Reader, size: int) -> Float32s:
    reader.version(0, "a default")
    return reader.floats(size, what="a default")


def _matrix(reader: Reader) -> Matrix:
    reader.version(0, "a matrix")
    state = reader.number("I", "a matrix's state")
    return Matrix(
        state,
        scale33=reader.floats(1, what="a matrix's scale"),
        axes=reader.floats(3, 3, what="a matrix") if state & _TURN_OR_SCALE else None,
        translation=reader.floats(3, what="a translation") if state & _TRANSLATION else None,
        projection=reader.floats(4, what="a projection") if state & _PROJECTION else None,
    )


def _lod(reader: Reader) -> Lod:
    reader.version(0, "a level of detail")
    distance = reader.floats(1, what="a distance")
    return Lod(distance, reader.take(reader.count(1, "bones of a level of detail"), "a level of detail"))


def _write_skeleton(writer: Writer, skeleton: Skeleton) -> None:
    writer.byte(skeleton.version)
    writer.number("i", len(skeleton.bones))
    for bone in skeleton.bones:
        _write_bone(writer, bone)
    write_names(writer, skeleton.names)
    if skeleton.version >= _WITH_LODS:
        writer.number("i", len(skeleton.lods))
        for lod in skeleton.lods:
            writer.byte(0)
            writer.array(lod.distance)
            writer.number("i", len(lod.active))
            writer.raw(lod.active)


def _write_bone(writer: Writer, bone: Bone) -> None:
    writer.byte(bone.version)
    writer.string(bone.name)
    writer.byte(0)
    writer.number("I", bone.inverse_bind.state)
    matrix = bone.inverse_bind
    for part in (matrix.scale33, matrix.axes, matrix.translation, matrix.projection):
        if part is not None:
            writer.array(part)
    writer.number("i", bone.father)
    writer.byte(bone.unherit_scale)
    if bone.lod_distance is not None:
        writer.array(bone.lod_distance)
    for default in (bone.position, bone.euler, bone.rotation, bone.scale, bone.pivot):
        writer.byte(0)
        writer.array(default)
    if bone.skin_scale is not None:
        writer.array(bone.skin_scale)
