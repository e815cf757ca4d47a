"""The page of a baked scene: it carries everything itself, opens in Chromium, shows the pose, and no name is markup."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from maxik.bake import BakeOptions, bake_file, bake_scene
from maxik.cli import main
from maxik.scene.tracks import ConstantTrack
from maxik.view import data
from maxik.view.data import page_data
from maxik.view.page import render_page, script_safe
from rigs import limb_scene

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
LEFT_LEG, TAIL = (0x1F, 0x77, 0xC9), (0x1F, 0x77, 0xC9)
LEAVES = st.text() | st.integers() | st.booleans()
GREY = (0x8D, 0x95, 0x9F)
HOSTILE = "</script><script>document.body.dataset.owned='yes'</script><img src=x onerror=document.body.dataset.owned='yes'>"


@pytest.fixture(scope="module")
def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        if os.environ.get("MAXIK_REQUIRE_CHROMIUM"):
            pytest.fail("MAXIK_REQUIRE_CHROMIUM is set, and there is no chromium")
        pytest.skip("no chromium to open pages with")
    return found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name in ("walk", "snake"):
        assert main(["view", str(EXAMPLES / f"{name}.scene.json"), "-o", str(folder / f"{name}.html")]) == 0
    return {name: folder / f"{name}.html" for name in ("walk", "snake")}


def browse(chromium: str, folder: Path, url: str, *arguments: str) -> str:
    """Open a page headless and return what Chromium prints."""
    flags = ("--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
    command = [chromium, *flags, f"--user-data-dir={folder / 'profile'}", "--hide-scrollbars", "--virtual-time-budget=8000"]
    done = subprocess.run([*command, *arguments, url], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def picture(chromium: str, folder: Path, url: str, size: str = "1280,800") -> NDArray[np.uint8]:
    path = folder / "shot.png"
    browse(chromium, folder, url, f"--screenshot={path}", f"--window-size={size}")
    shot: NDArray[np.uint8] = (matplotlib.image.imread(path)[:, :, :3] * 255).round().astype(np.uint8)
    return shot


def pixels(shot: NDArray[np.uint8], colour: tuple[int, int, int]) -> int:
    return int((np.abs(shot.astype(int) - colour).max(axis=2) <= 6).sum())


@pytest.mark.parametrize("name", ["walk", "snake"])
def test_the_page_asks_for_nothing(name: str, pages: dict[str, Path]) -> None:
    text = pages[name].read_text(encoding="utf-8")
    own = re.sub(r"<script>/\*\*.*?</script>", "", text, flags=re.DOTALL)
    assert len(own) < len(text) / 2
    assert not re.findall(r"(?:src|href)\s*=", own)
    assert "fetch(" not in own
    assert "http" not in own


@pytest.mark.parametrize(("name", "colour"), [("walk", LEFT_LEG), ("snake", TAIL)])
def test_the_picture_shows_the_pose(
    name: str, colour: tuple[int, int, int], pages: dict[str, Path], chromium: str, tmp_path: Path
) -> None:
    shot = picture(chromium, tmp_path, f"file://{pages[name]}#frame=20")
    assert shot.shape == (800, 1280, 3)
    stage = shot[40:745, 20:930]
    assert pixels(stage, colour) > 300
    if name == "walk":
        assert pixels(stage, GREY) > 200


def test_another_frame_is_another_picture(pages: dict[str, Path], chromium: str, tmp_path: Path) -> None:
    first, second, again = (picture(chromium, tmp_path, f"file://{pages['walk']}#frame={frame}") for frame in (5, 35, 5))
    stage = (slice(40, 745), slice(20, 930))
    assert (first[stage] == again[stage]).all()
    assert (first[stage] != second[stage]).any(axis=2).sum() > 2000


def test_a_narrow_window_shows_the_pose_too(pages: dict[str, Path], chromium: str, tmp_path: Path) -> None:
    shot = picture(chromium, tmp_path, f"file://{pages['walk']}", "500,900")
    assert pixels(shot, LEFT_LEG) > 100


def test_the_diagnoses_of_the_frame_stand_beside(chromium: str, tmp_path: Path) -> None:
    scene = limb_scene()
    far = ConstantTrack((1000.0, 0.0, 0.0))
    goal = scene.nodes[scene.chains[0].goal]
    nodes = list(scene.nodes)
    nodes[scene.chains[0].goal] = replace(goal, parent=None, transform=replace(goal.transform, position=far))
    baked, certificate = bake_scene(replace(scene, nodes=tuple(nodes)), BakeOptions(frames=(0, 3)))
    assert "unreachable goal: too far" in certificate["chains"][0]["degenerate"]
    path = tmp_path / "far.html"
    path.write_bytes(render_page(baked, certificate))
    dom = browse(chromium, tmp_path, f"file://{path}", "--dump-dom")
    assert 'data-ready="yes"' in dom
    assert '<p class="state bad">unreachable goal: too far</p>' in dom
    assert scene.chains[0].name in dom


def test_names_are_no_markup(chromium: str, tmp_path: Path) -> None:
    scene = limb_scene()
    nodes = tuple(replace(entry, name=HOSTILE) for entry in scene.nodes)
    chains = tuple(replace(chain, name=HOSTILE) for chain in scene.chains)
    baked, certificate = bake_scene(replace(scene, nodes=nodes, chains=chains, file=HOSTILE), BakeOptions(frames=(0, 3)))
    path = tmp_path / "hostile.html"
    path.write_bytes(render_page(baked, certificate))
    assert HOSTILE not in path.read_text(encoding="utf-8")
    dom = browse(chromium, tmp_path, f"file://{path}", "--dump-dom")
    assert 'data-ready="yes"' in dom
    assert "data-owned" not in dom


@settings(max_examples=200, deadline=None)
@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_data_comes_back_and_ends_no_script(value: Any) -> None:  # noqa: ANN401 - any JSON
    text = script_safe(value)
    assert json.loads(text) == value
    assert not set("<>&") & set(text)


def test_long_takes_are_thinned_and_the_page_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "MOST_FRAMES", 10)
    baked, certificate = bake_file(EXAMPLES / "walk.scene.json")
    told = page_data(baked, certificate)
    assert (told["frames"], len(told["sent"])) == (61, 10)
    assert (told["sent"][0], told["sent"][-1]) == (0, 60)


def test_without_plotly_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    out = tmp_path / "x.html"
    assert main(["view", str(EXAMPLES / "walk.scene.json"), "-o", str(out)]) == 2
    assert "maxik[view]" in capsys.readouterr().err
    assert not out.exists()
