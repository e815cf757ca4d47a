"""The command line: what it prints, its exit codes, and one clear line for every mistake."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from maxik.cli import main
from maxik.formats.scene_json import write_scene_json
from rigs import limb_scene, with_chain

CHARACTER = "davestewart-maxscript__character.max"
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    path = tmp_path / "arm.scene.json"
    write_scene_json(limb_scene(), path)
    return path


def test_bake_writes_every_format_and_the_certificate(scene_file: Path, tmp_path: Path, capsys: Captured) -> None:
    outputs = [tmp_path / f"out{ending}" for ending in (".glb", ".json", ".csv", ".npz")]
    arguments = [part for path in outputs for part in ("-o", str(path))]
    report = tmp_path / "r.json"
    assert main(["bake", str(scene_file), *arguments, "--range", "0:4", "--fps", "60", "--report", str(report)]) == 0
    printed = capsys.readouterr().out
    assert all(path.stat().st_size > 0 for path in outputs)
    certificate = json.loads(report.read_text())
    assert certificate["range"]["frames"] == 5
    assert certificate["raw_output_sha256"] in printed
    assert "solved: 'arm' (IKLimb), 5 frames" in printed


def test_the_model_writes_the_same_file_as_the_kernel(scene_file: Path, tmp_path: Path) -> None:
    for engine in ("kernel", "model"):
        assert main(["bake", str(scene_file), "-o", str(tmp_path / f"{engine}.glb"), "--engine", engine, "--range", "0:3"]) == 0
    assert (tmp_path / "kernel.glb").read_bytes()[:4] == b"glTF"
    assert (tmp_path / "kernel.glb").read_bytes() == (tmp_path / "model.glb").read_bytes()


@pytest.mark.shared
def test_inspect_names_chains_and_what_is_not_evaluated(shared: Path, capsys: Captured) -> None:
    assert main(["inspect", str(shared / "maxfiles" / CHARACTER)]) == 0
    printed = capsys.readouterr().out
    assert "3ds Max 4.2" in printed
    assert printed.count("solved by maxik") == 4
    assert printed.count("not solved: of IKHISolver maxik evaluates chains of 3 joints") == 2
    assert "Attachment2" in printed
    assert "frames 0 to 100 at 25 a second" in printed


@pytest.mark.shared
def test_inspect_prints_the_same_as_data(shared: Path, capsys: Captured) -> None:
    assert main(["inspect", str(shared / "maxfiles" / CHARACTER), "--json"]) == 0
    inspection = json.loads(capsys.readouterr().out)
    assert inspection["format"] == "maxik-inspect/1"
    assert [chain["solver"] for chain in inspection["chains"]].count("IKLimb") == 4
    assert {len(chain["joints"]) for chain in inspection["chains"] if chain["not_solved"] is None} == {3}
    assert inspection["source"]["version"] == "3ds Max 4.2"


@pytest.mark.shared
def test_convert_writes_scene_json_that_bakes_to_the_same_bits(shared: Path, tmp_path: Path, capsys: Captured) -> None:
    converted = tmp_path / "character.scene.json"
    assert main(["convert", str(shared / "maxfiles" / CHARACTER), "-o", str(converted)]) == 0
    hashes = []
    for scene in (shared / "maxfiles" / CHARACTER, converted):
        assert main(["bake", str(scene), "-o", str(tmp_path / "out.npz"), "--range", "0:3", "--skip-unsupported"]) == 0
        hashes += [line for line in capsys.readouterr().out.splitlines() if line.startswith("raw output")]
    assert len(set(hashes)) == 1


def test_convert_writes_nothing_but_json(scene_file: Path, tmp_path: Path, capsys: Captured) -> None:
    assert main(["convert", str(scene_file), "-o", str(tmp_path / "out.max")]) == 2
    assert "ends in .json" in capsys.readouterr().err


def test_inspect_shows_a_broken_chain_instead_of_failing(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "broken.scene.json"
    write_scene_json(with_chain(limb_scene(), end=4), path)
    assert main(["inspect", str(path)]) == 0
    assert "not below its start joint" in capsys.readouterr().out


def test_core_prints_every_item(capsys: Captured) -> None:
    assert main(["core", "--profile", "max-2016-x64"]) == 0
    printed = capsys.readouterr().out
    assert "point3.normalize" in printed
    assert "pinned" in printed


def test_version_and_no_command(capsys: Captured) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("maxik ")
    assert main([]) == 2


def text_file(folder: Path) -> Path:
    path = folder / "x.max"
    path.write_bytes(b"no scene at all")
    return path


def lfs_pointer(folder: Path) -> Path:
    path = folder / "x.max"
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    return path


def end_not_below_start(folder: Path) -> Path:
    path = folder / "x.scene.json"
    write_scene_json(with_chain(limb_scene(), end=4), path)
    return path


def cycle(folder: Path) -> Path:
    path = folder / "x.scene.json"
    write_scene_json(limb_scene(goal_parent=2), path)
    return path


def absent(folder: Path) -> Path:
    return folder / "absent.max"


def whole(folder: Path) -> Path:
    path = folder / "x.scene.json"
    write_scene_json(limb_scene(), path)
    return path


@pytest.mark.parametrize(
    ("make", "arguments", "code", "message"),
    [
        (text_file, [], 1, "is not an OLE file"),
        (lfs_pointer, [], 1, "git lfs pull"),
        (end_not_below_start, [], 1, "is not below its start joint"),
        (cycle, [], 1, "cyclic dependency"),
        (absent, [], 1, "No such file"),
        (whole, ["--range", "a:b"], 2, "--range"),
        (whole, ["--range", "9:1"], 2, "no frames"),
        (whole, ["--fps", "0"], 2, "frame rate"),
        (whole, ["--profile", "nothing"], 2, "unknown profile"),
        (whole, ["--profile", "candidate-1,point3.normalize=guess"], 2, "unknown candidate"),
        (whole, ["--engine", "kernel", "--profile", "candidate-1,matrix3.invert=transpose"], 1, "--engine model"),
        (whole, ["-o", "out.fbx"], 2, "does not write .fbx"),
        (whole, ["-o", "/no/such/folder/x.glb"], 1, "cannot be written"),
    ],
)
def test_a_mistake_is_one_line_and_no_output(  # noqa: PLR0913, PLR0917 - parameters and fixtures
    make: Callable[[Path], Path], arguments: list[str], code: int, message: str, tmp_path: Path, capsys: Captured
) -> None:
    path = make(tmp_path)
    out = tmp_path / "out.npz"
    assert main(["bake", str(path), *arguments, "-o", str(out)]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("maxik: ")
    assert message in line
    assert not (out.exists() and "/no/such" not in str(arguments))


@pytest.mark.shared
def test_a_truncated_scene_is_one_line(shared: Path, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "cut.max"
    path.write_bytes((shared / "maxfiles" / CHARACTER).read_bytes()[:700_000])
    assert main(["bake", str(path), "-o", str(tmp_path / "x.glb")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "cut.max" in line
    assert not (tmp_path / "x.glb").exists()


def test_wrong_options_are_usage_errors(scene_file: Path) -> None:
    for arguments in (["bake", str(scene_file)], ["bake", str(scene_file), "-o", "x.glb", "--engine", "magic"], ["dance"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; sys.argv = ['maxik', '--help']\ntry:\n  from maxik.cli import main; main()\nexcept SystemExit: pass\n"
    code += "assert not {'numpy', 'rich', 'cffi', 'olefile'} & set(sys.modules), 'a heavy import'"
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_a_closed_pipe_is_no_traceback(scene_file: Path) -> None:
    command = f"{sys.executable} -m maxik inspect {scene_file} | head -1"
    done = subprocess.run(["sh", "-c", command], check=True, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
