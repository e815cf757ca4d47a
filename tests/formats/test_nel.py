"""NeL's files: real skeletons byte for byte, animations written and read back, packing, what a file leaves out."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maxik.errors import FileFormatError
from maxik.formats.nel.skel import parse_skel, read_skel, skel_bytes


def skeleton_files(shared: Path) -> list[Path]:
    files = sorted((shared / "nel").glob("*.skel"))
    assert len(files) == 20
    return files


def refuse_damage(data: bytes, parse: Callable[[bytes, str], Any], write: Callable[[Any], bytes], places: list[int]) -> None:
    """Check that a file cut off or changed at each place gives FileFormatError (cut off: always), or reads and writes whole."""
    for place in places:
        with pytest.raises(FileFormatError) as caught:
            parse(data[:place], "cut")
        assert caught.value.file == "cut"
        assert caught.value.offset is not None
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[place] ^= flip
            with suppress(FileFormatError):
                assert write(parse(bytes(damaged), "flipped")) == damaged


@pytest.mark.shared
def test_real_skeletons_are_written_byte_for_byte(shared: Path) -> None:
    told = {entry["file"]: entry for entry in map(json.loads, (shared / "nel" / "index.jsonl").read_text().splitlines())}
    for path in skeleton_files(shared):
        skeleton = read_skel(path)
        assert skel_bytes(skeleton) == path.read_bytes()
        entry = told[path.name]
        assert skeleton.version == entry["class_version"]
        assert {bone.version for bone in skeleton.bones} == {entry["bone_version"]}
        assert len(skeleton.bones) == entry["bones"]


@pytest.mark.shared
def test_a_skeletons_pose_and_bind_agree(shared: Path) -> None:
    """The bind frames of a bone and its father give the bone's rest rotation (nel-facts.md 1.4, which names exceptions)."""
    close = 0
    bones = 0
    for path in skeleton_files(shared):
        skeleton = read_skel(path)
        for bone in skeleton.bones:
            if bone.father < 0:
                continue
            axes, father = bone.inverse_bind.axes, skeleton.bones[bone.father].inverse_bind.axes
            assert axes is not None
            assert father is not None
            local = father.astype(np.float64) @ np.linalg.inv(axes)
            left, _, right = np.linalg.svd(local * np.sign(np.linalg.det(local)))
            x, y, z, w = bone.rotation.astype(np.float64)
            turned = np.array(
                [
                    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
                ]
            )
            bones += 1
            close += np.abs(left @ right - turned).max() < 1e-3
    assert close > 0.85 * bones


@pytest.mark.shared
def test_a_damaged_skeleton_is_refused(shared: Path) -> None:
    data = (shared / "nel" / "fy_acc_plantegrelot.skel").read_bytes()
    refuse_damage(data, parse_skel, skel_bytes, list(range(0, len(data), 3)))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"nothing\.skel"):
        read_skel(tmp_path / "nothing.skel")
