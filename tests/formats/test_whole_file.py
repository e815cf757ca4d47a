"""A process that is killed at any call to the system leaves output files whole or absent."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from maxik.bake import BakeOptions, bake_file, write_bake
from maxik.errors import MaxikError
from maxik.formats.whole_file import write_whole
from maxik.formats.writers import writer_for

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "walk.scene.json"
OUTPUTS = ["walk.glb", "walk.gltf", "walk.bvh", "walk.anim", "walk.json", "walk.csv", "walk.npz"]
MOST_CALLS = 500

KILLED_AT = """
import os, signal, sys
from maxik.bake import BakeOptions, bake_file, write_bake

baked, certificate = bake_file(sys.argv[1], BakeOptions(frames=(0, 3)))
left = int(sys.argv[2])


def watch(event, arguments):
    global left
    if event in ("open", "os.rename", "os.chmod", "os.remove", "tempfile.mkstemp"):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


real_fsync = os.fsync


def fsync(handle):
    watch("open", ())
    real_fsync(handle)
    watch("open", ())


for path in sys.argv[3:]:
    __import__("maxik.formats.writers").formats.writers.writer_for(path)
os.fsync = fsync
sys.addaudithook(watch)
write_bake(baked, certificate, sys.argv[3:])
"""


def test_a_killed_process_leaves_no_half_file(tmp_path: Path) -> None:
    baked, certificate = bake_file(EXAMPLE, BakeOptions(frames=(0, 3)))
    whole = tmp_path / "whole"
    whole.mkdir()
    write_bake(baked, certificate, [whole / name for name in OUTPUTS])
    survived = 0
    for call in range(1, MOST_CALLS, 3):
        folder = tmp_path / str(call)
        folder.mkdir()
        paths = [folder / name for name in OUTPUTS]
        command = [sys.executable, "-c", KILLED_AT, str(EXAMPLE), str(call), *map(str, paths)]
        done = subprocess.run(command, capture_output=True, check=False)
        for path in paths:
            assert not path.exists() or path.read_bytes() == (whole / path.name).read_bytes()
        if done.returncode == 0:
            survived += 1
            assert all(path.exists() for path in paths)
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert not all(path.exists() for path in paths) or call > len(paths)
    assert survived == 1
    assert call > len(OUTPUTS)


def test_the_old_file_stays_when_the_new_one_cannot_be_rendered(tmp_path: Path) -> None:
    baked, certificate = bake_file(EXAMPLE, BakeOptions(frames=(0, 3)))
    old = tmp_path / "walk.glb"
    old.write_bytes(b"old")
    with pytest.raises(MaxikError):
        write_bake(baked, certificate, [old, tmp_path / "walk.nothing"])
    assert old.read_bytes() == b"old"


def test_a_folder_that_is_not_there_is_an_error_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(MaxikError, match="cannot be written"):
        write_whole(tmp_path / "nowhere" / "x.glb", b"")
    assert callable(writer_for("x.glb"))
