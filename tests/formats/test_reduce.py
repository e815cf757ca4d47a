"""Fewer keys keep what they promise: no frame is farther off than asked, and the file says how far it is."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from glb_reader import Glb, slerp
from maxik.bake import BakeOptions, bake_file
from maxik.cli import main
from maxik.formats.gltf import render_glb, render_gltf
from maxik.formats.reduce import interpolated, kept_frames
from maxik.formats.writers import WriteOptions
from maxik.scene.motion import BakedScene

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Float64s = NDArray[np.float64]


@pytest.fixture(scope="module")
def snake() -> BakedScene:
    return bake_file(EXAMPLES / "snake.scene.json", BakeOptions(fps=240))[0]


def smooth(frames: int, width: int, seed: int) -> Float64s:
    random = np.random.default_rng(seed)
    t = np.linspace(0.0, 1.0, frames)[:, None]
    waves = [random.normal(size=width) * np.sin(random.uniform(1.0, 9.0) * t + random.uniform(0.0, 6.0)) for _ in range(3)]
    total: Float64s = np.sum(waves, axis=0)
    return total


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 80), st.integers(0, 1000), st.sampled_from([1e-1, 1e-2, 1e-3]))
def test_no_frame_of_a_vector_track_is_farther_off(frames: int, seed: int, tolerance: float) -> None:
    values = smooth(frames, 3, seed)
    kept = kept_frames(values, tolerance, rotation=False)
    seen = interpolated(values, kept, rotation=False)
    assert np.linalg.norm(seen - values, axis=1).max() <= tolerance
    assert (kept[0], kept[-1]) == (0, frames - 1)
    assert (seen[kept] == values[kept]).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 80), st.integers(0, 1000), st.sampled_from([1e-1, 1e-2, 1e-3]))
def test_no_frame_of_a_rotation_track_is_farther_off(frames: int, seed: int, tolerance: float) -> None:
    values = smooth(frames, 4, seed)
    values[:, 3] += 4.0
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    kept = kept_frames(values, tolerance, rotation=True)
    for first, end in zip(kept[:-1].tolist(), kept[1:].tolist(), strict=True):
        for frame in range(first, end):
            seen = slerp(values[first], values[end], (frame - first) / (end - first))
            assert 2.0 * np.arccos(min(1.0, abs(seen @ values[frame]))) <= tolerance + 1e-7


def test_a_straight_line_keeps_its_ends_alone() -> None:
    line = np.linspace(0.0, 1.0, 50)[:, None] * (1.0, 2.0, 3.0)
    assert kept_frames(line, 1e-9, rotation=False).tolist() == [0, 49]


def test_a_steady_turn_keeps_its_ends_alone() -> None:
    half = np.linspace(0.0, 1.2, 50)
    turn = np.stack([np.sin(half), 0.0 * half, 0.0 * half, np.cos(half)], axis=1)
    assert kept_frames(turn, 1e-9, rotation=True).tolist() == [0, 49]


@pytest.mark.parametrize("error", [1e-4, 1e-3])
def test_every_node_of_a_reduced_file_stays_within_the_error(error: float, snake: BakedScene) -> None:
    data = render_glb(snake, {}, WriteOptions(reduce=error))
    assert len(data) < 0.7 * len(render_glb(snake, {}))
    glb = Glb(data)
    worlds = np.array([np.broadcast_to(motion.world_tm, (len(snake.ticks), 4, 3)) for motion in snake.nodes], np.float64)
    size = np.ptp(worlds[:, :, 3], axis=(0, 1)).max()
    told = glb.json["scenes"][0]["extras"]["reduced"]
    assert told["asked"] == error
    assert max(told["position_error"], told["axes_error"]) <= error
    for frame in range(0, len(snake.ticks), 37):
        seconds = float(snake.ticks[frame] - snake.ticks[0]) / 4800.0
        for index, node in enumerate(snake.scene.nodes):
            x, y, z = worlds[index, frame, 3] * snake.scene.units.metres
            off = glb.world(glb.named(node.name)[0], 0, seconds)[:3, 3] - (x, z, -y)
            assert np.linalg.norm(off) <= 1.01 * error * size * snake.scene.units.metres + 1e-6


def test_a_still_scene_has_no_keys(snake: BakedScene) -> None:
    still = bake_file(EXAMPLES / "snake.scene.json", BakeOptions(frames=(3, 3)))[0]
    assert "animations" not in Glb(render_glb(still, {}, WriteOptions(reduce=1e-3))).json
    assert "animations" in Glb(render_glb(snake, {}, WriteOptions(reduce=1e-3))).json


def test_gltf_holds_what_glb_holds(snake: BakedScene) -> None:
    glb, text = Glb(render_glb(snake, {})), json.loads(render_gltf(snake, {}))
    (buffer,) = text["buffers"]
    kind, _, body = buffer.pop("uri").partition(",")
    assert kind == "data:application/octet-stream;base64"
    assert base64.b64decode(body) == glb.binary[: buffer["byteLength"]]
    assert text == glb.json


@pytest.mark.parametrize("reduce", ["-1", "1", "nan"])
def test_an_impossible_error_is_wrong_usage(reduce: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "x.glb"
    assert main(["bake", str(EXAMPLES / "walk.scene.json"), "-o", str(out), f"--reduce={reduce}"]) == 2
    assert "--reduce" in capsys.readouterr().err
    assert not out.exists()


def test_the_command_writes_without_bones(tmp_path: Path) -> None:
    out = tmp_path / "x.glb"
    assert main(["bake", str(EXAMPLES / "walk.scene.json"), "-o", str(out), "--no-bones"]) == 0
    assert "skins" not in Glb(out.read_bytes()).json
