"""Parquet read back by pyarrow and compared with the bake, bit for bit."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from maxik.bake import BakeOptions, bake_file
from maxik.cli import main
from maxik.formats.parquet import CERTIFICATE_KEY, render_parquet

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "walk.scene.json"


@pytest.fixture(scope="module")
def table() -> tuple[Any, Any, dict[str, Any]]:
    baked, certificate = bake_file(EXAMPLE, BakeOptions(frames=(0, 7)))
    return pq.read_table(io.BytesIO(render_parquet(baked, certificate))), baked, certificate


def test_every_float_keeps_its_bits(table: tuple[Any, Any, dict[str, Any]]) -> None:
    read, baked, _ = table
    frames, count = len(baked.ticks), len(baked.nodes)
    assert read.num_rows == frames * count
    assert read["name"].to_pylist()[:count] == [node.name for node in baked.scene.nodes]
    for place, column in enumerate(("x", "y", "z")):
        got = read[column].to_numpy().reshape(frames, count)
        assert got.dtype == np.float32
        for node, motion in enumerate(baked.nodes):
            wanted = np.broadcast_to(motion.position[:, place], frames)
            assert (got[:, node].view(np.uint32) == np.ascontiguousarray(wanted).view(np.uint32)).all()
    for place, column in enumerate(("euler_x", "euler_y", "euler_z")):
        cells = read[column].to_pylist()
        for node, motion in enumerate(baked.nodes):
            for frame in range(frames):
                cell = cells[frame * count + node]
                row = None if motion.euler is None else motion.euler[frame if len(motion.euler) > 1 else 0]
                assert cell == (None if row is None else float(row[place]))


def test_world_positions_and_solvers_stand_beside(table: tuple[Any, Any, dict[str, Any]]) -> None:
    read, baked, _ = table
    count = len(baked.nodes)
    last = np.array([read[name].to_numpy()[-count:] for name in ("world_x", "world_y", "world_z")]).T
    assert (last == np.array([motion.world_tm[-1, 3] for motion in baked.nodes])).all()
    assert read["solved_by"].to_pylist()[:count] == [";".join(motion.solved_by) for motion in baked.nodes]
    assert any(read["solved_by"].to_pylist())


def test_the_certificate_is_in_the_metadata(table: tuple[Any, Any, dict[str, Any]]) -> None:
    read, _, certificate = table
    assert json.loads(read.schema.metadata[CERTIFICATE_KEY.encode()]) == certificate


def test_without_pyarrow_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    out = tmp_path / "x.parquet"
    assert main(["bake", str(EXAMPLE), "-o", str(out), "--range", "0:1"]) == 2
    assert "maxik[parquet]" in capsys.readouterr().err
    assert not out.exists()
