"""Damaged and foreign files: one clear error each, never another exception, never a hang."""

from __future__ import annotations

import gzip
import random
import tracemalloc
from pathlib import Path

import pytest

from max_mutations import mutate, sample, take_it
from maxik.errors import FileFormatError, MaxikError
from maxik.formats.load import load_scene
from maxik.formats.max import read_max
from maxik.formats.max.chunks import children
from maxik.formats.max.container import Stream, _inflated

SMALL = "davestewart-maxscript__weighted_paths_01.max"
COMPRESSED = "piXelicidio-pxMaxScript__test02.max"
WITH_IK = "Neill3d-3dsMax__ikPoping.max"
OLDEST = "ryzom-ryzomcore__street.max"


def load_mutated(content: bytes, path: Path) -> str:
    """Return "scene" or "error" for a file of this content; anything but a MaxikError fails the test."""
    path.write_bytes(content)
    try:
        read_max(path)
    except MaxikError as error:
        message = str(error)
    else:
        return "scene"
    assert "\n" not in message
    assert str(path) in message
    return "error"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\0" * 5000, "nothing but zero bytes"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 217088\n", "Git LFS pointer"),
        (b"hello, this is no scene", "is not an OLE file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "OLE container is damaged"),
    ],
    ids=["empty", "zeros", "git lfs pointer", "text", "ole header only"],
)
def test_a_file_of_another_kind(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "scene.max"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=message):
        load_scene(path)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.max", tmp_path):
        with pytest.raises(FileFormatError, match="cannot be read"):
            load_scene(path)


@pytest.mark.shared
@pytest.mark.parametrize("name", [SMALL, COMPRESSED, WITH_IK])
def test_a_file_cut_off_anywhere(name: str, shared: Path, tmp_path: Path) -> None:
    content = (shared / "maxfiles" / name).read_bytes()
    ends = {load_mutated(content[: len(content) * step // 100], tmp_path / "cut.max") for step in range(100)}
    assert "error" in ends
    assert load_mutated(content[: len(content) // 2], tmp_path / "half.max") == "error"


@pytest.mark.shared
@pytest.mark.parametrize("name", [SMALL, COMPRESSED, WITH_IK, OLDEST])
def test_damaged_files_end_in_a_scene_or_a_clear_error(name: str, shared: Path, tmp_path: Path) -> None:
    """Hundreds of each, outside and inside the container; `make fuzz-max` takes 20,000."""
    given = sample(shared / "maxfiles" / name)
    outcomes = [take_it(mutate(random.Random(seed), given), tmp_path / "damaged.max") for seed in range(600)]  # noqa: S311 - test data
    assert {outcome.end for outcome in outcomes} == {"scene", "error"}
    assert max(outcome.seconds for outcome in outcomes) < 2.0


def stream(data: bytes) -> Stream:
    return Stream("scene.max", "Scene", data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x01\x20", "header is cut off"),
        (b"\x01\x20\x05\x00\x00\x00", "impossible size 5"),
        (b"\x01\x20\xff\x00\x00\x00", "ends past its parent"),
        (b"\x01\x20\x00\x00\x00\x00\x0e", "long chunk header is cut off"),
        (b"\x01\x20\x00\x00\x00\x00" + b"\xff" * 8, "ends past its parent"),
        (b"\x01\x20\x00\x00\x00\x00" + b"\x03" + b"\0" * 7, "impossible size 3"),
    ],
)
def test_a_chunk_that_does_not_fit(data: bytes, message: str) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        list(children(stream(data)))
    assert caught.value.offset == 0
    assert caught.value.stream == "Scene"


def test_a_long_chunk_header_is_read() -> None:
    data = b"\x00\x25\x00\x00\x00\x00" + (14 + 3).to_bytes(7, "little") + b"\x80" + b"abc"
    (chunk,) = children(stream(data))
    assert (chunk.id, chunk.is_container, data[chunk.start : chunk.end]) == (0x2500, True, b"abc")


def test_a_gzip_bomb_is_refused_before_it_fills_the_memory() -> None:
    bomb = gzip.compress(bytes(100 << 20), compresslevel=1)
    tracemalloc.start()
    with pytest.raises(FileFormatError, match="inflates to more than 32 MB"):
        _inflated("bomb.max", "Scene", bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 << 20


def test_a_compressed_stream_that_is_cut_off() -> None:
    packed = gzip.compress(bytes(range(256)) * 40)
    with pytest.raises(FileFormatError, match="cut off"):
        _inflated("cut.max", "Scene", packed[:-20])
    with pytest.raises(FileFormatError, match="damaged"):
        _inflated("damaged.max", "Scene", packed[:12] + b"\xff" * 40)
