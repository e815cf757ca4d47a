"""The documentation keeps its word: examples run, commands and sections are those of the code, no link is dead."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(CODE.findall(page.read_text(encoding="utf-8")))
]


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    path = ROOT / "docs" / "make_reference.py"
    spec = importlib.util.spec_from_file_location("make_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_runs(code: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


def test_every_command_and_option_is_documented(reference: ModuleType) -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    sections = dict(zip(*[iter(re.split(r"^## maxik (\S+)$", page, flags=re.MULTILINE)[1:])] * 2, strict=True))
    commands = dict(reference.parsers(reference.make_parser()))
    assert set(sections) == set(commands)
    for name, parser in commands.items():
        options = {option for action in parser._actions for option in action.option_strings}  # noqa: SLF001 - argparse has no list
        documented = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", sections[name]))
        assert options <= documented, name
        assert {option for option in documented if option.startswith("--")} <= options, name


def test_the_map_of_the_specification_is_that_of_the_code(reference: ModuleType) -> None:
    assert (ROOT / "docs" / "specification.md").read_text(encoding="utf-8") == reference.specification()


def test_every_page_stands_in_the_site() -> None:
    listed = set(re.findall(r"([\w-]+\.md)", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    assert listed == {page.name for page in PAGES[1:]}


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "tutorial.html").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_link_to_a_file_is_dead(page: Path) -> None:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
        assert target.startswith("http") or (page.parent / target).exists(), target
