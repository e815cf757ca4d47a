"""Oracles: other builds of the kernel give the same bits, and whatever goes wrong with one is an error, never a fallback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from maxik.cli import main
from maxik.errors import EngineError
from maxik.kernel.engine import KernelEngine, is_built
from maxik.numerics.float32 import from_bits
from maxik.oracle.build import CL_VARIABLE, KERNEL, NATIVE, WINE_CL, X87_GCC, Program, build, source_hash
from maxik.oracle.engine import OracleEngine, open_oracle
from maxik.oracle.protocol import CONTROL_WORD, Oracle
from maxik.profile import PROFILES
from maxik.solutions import limb_bits, spline_bits
from maxik.verify import gate, limb_problems, spline_problems

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler"),
    pytest.mark.skipif(not is_built(), reason="the compiled kernel is not there"),
]
REFERENCE = PROFILES["candidate-1"]
STAND_IN = """#!/bin/sh
[ $# = 0 ] && echo "stand-in for cl" && exit 0
for option; do
    case $option in
    /Fe*) out=${option#/Fe} ;;
    /DMAXIK_SOURCE*) hash=${option#/} ;;
    *.c) file=$option ;;
    esac
done
exec gcc -O2 -m32 -mfpmath=387 -std=c99 -ffp-contract=off -DMAXIK_X87_REGISTERS "-$hash" "$file" -o "$out" -lm
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAXIK_ORACLE_CACHE", str(tmp_path_factory.getbasetemp() / "oracles"))


@pytest.fixture(params=[NATIVE, X87_GCC])
def target(request: pytest.FixtureRequest) -> str:
    if request.param == X87_GCC:
        need_x87()
    return str(request.param)


def need_x87() -> None:
    """Skip without 32-bit libraries; where MAXIK_REQUIRE_X87 is set, let the test fail instead."""
    program = "#include <math.h>\nint main(void){return 0;}"
    command = ["gcc", "-m32", "-x", "c", "-", "-o", os.devnull]
    ran = subprocess.run(command, input=program, text=True, check=False, capture_output=True)
    if ran.returncode and not os.environ.get("MAXIK_REQUIRE_X87"):
        pytest.skip("gcc has no 32-bit libraries (gcc-multilib)")


def test_an_oracle_has_the_kernel_s_bits(target: str) -> None:
    kernel, oracle = KernelEngine(REFERENCE), open_oracle(target, REFERENCE)
    limbs = [limb_problems.make_problem(kind, seed) for kind in sorted(limb_problems.KINDS) for seed in range(60)]
    splines = [spline_problems.make_problem(kind, seed) for kind in sorted(spline_problems.KINDS) for seed in range(4)]
    assert [limb_bits(x) for x in oracle.solve_limbs(limbs)] == [limb_bits(kernel.solve_limb(x)) for x in limbs]
    assert [spline_bits(oracle.solve_spline(x)) for x in splines] == [spline_bits(kernel.solve_spline(x)) for x in splines]
    oracle.close()


def test_an_oracle_tells_what_it_is(target: str) -> None:
    with Oracle(build(target)) as oracle:
        assert oracle.told["source"] == source_hash()
        assert oracle.told["registers"] == ("x87" if target == X87_GCC else "binary64")
        assert int(oracle.told["control_word"], 16) == CONTROL_WORD
        assert "gcc" in oracle.told["compiler"] or "clang" in oracle.told["compiler"]


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O3"])
def test_x87_code_of_every_optimisation_has_the_same_bits(level: str) -> None:
    """Without a store for every rounding, gcc narrows a product to float and leaves 53 bits in the register from -O1 on."""
    need_x87()
    problems = [limb_problems.make_problem(kind, seed) for kind in sorted(limb_problems.KINDS) for seed in range(40)]
    usual, other = open_oracle(X87_GCC, REFERENCE), open_oracle(X87_GCC, REFERENCE, optimisation=level)
    assert [limb_bits(x) for x in usual.solve_limbs(problems)] == [limb_bits(x) for x in other.solve_limbs(problems)]
    usual.close()
    other.close()


@pytest.mark.parametrize("target_of_items", [NATIVE, X87_GCC])
def test_items_and_takes_over_rows(target_of_items: str) -> None:
    if target_of_items == X87_GCC:
        need_x87()
    kernel, oracle = KernelEngine(REFERENCE), open_oracle(target_of_items, REFERENCE)
    rng = np.random.default_rng(5)
    matrices = rng.normal(size=(50, 4, 3)).astype(np.float32)
    angles = rng.normal(size=(50, 3)).astype(np.float32)
    quats = rng.normal(size=(50, 4)).astype(np.float32)
    for mine, other in (
        (kernel.multiply(matrices, matrices[::-1].copy()), oracle.multiply(matrices, matrices[::-1].copy())),
        (kernel.invert(matrices), oracle.invert(matrices)),
        (kernel.euler_matrix(angles), oracle.euler_matrix(angles)),
        (kernel.quat_matrix(quats), oracle.quat_matrix(quats)),
        (kernel.transform_points(angles, matrices), oracle.transform_points(angles, matrices)),
        (kernel.initial_plane(3, *[angles] * 4)[0], oracle.initial_plane(3, *[angles] * 4)[0]),
    ):
        assert mine.tobytes() == other.tobytes()
    assert kernel.items.keys() == oracle.items.keys()
    assert kernel.items["sin"](x=from_bits(0x3F9DF3B6)) == oracle.items["sin"](x=from_bits(0x3F9DF3B6))
    oracle.close()


# ---- what goes wrong ----


def fake(mode: str) -> Program:
    command = (sys.executable, str(Path(__file__).with_name("fake_oracle.py")), mode)
    return Program(X87_GCC, command, "0" * 32, "none", ())


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("other sources", "built from other sources"),
        ("other protocol", "speaks protocol 2"),
        ("no x87", "does not compute in x87 registers"),
        ("crash", "ended without a reply, with exit code 11"),
        ("no reply", "its reply is no reply"),
        ("refusal", "the request has a wrong size"),
        ("control word", "its control word is 0x37f"),
        ("cut off", "its reply is cut off"),
    ],
)
def test_a_wrong_answer_is_an_error(mode: str, message: str) -> None:
    with pytest.raises(EngineError, match=message), Oracle(fake(mode)) as oracle:
        oracle.rows("sin", np.ones((3, 1), np.float32))


def test_a_program_that_does_not_start() -> None:
    with pytest.raises(EngineError, match="does not start"):
        Oracle(Program(NATIVE, ("/nonexistent/oracle",), "", "none", ()))


def test_a_request_of_a_wrong_size_is_refused_by_the_program() -> None:
    with Oracle(build(NATIVE)) as oracle, pytest.raises(EngineError, match="wrong size"):
        oracle.ask(5, 3, np.zeros(2, np.float32))


def test_an_unknown_operation_is_refused_by_the_program() -> None:
    with Oracle(build(NATIVE)) as oracle, pytest.raises(EngineError, match="does not know the operation"):
        oracle.ask(999, 1, np.zeros(2, np.float32))


def test_a_kernel_that_does_not_compile_is_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "kernel"
    shutil.copytree(KERNEL, broken)
    (broken / "limb.c").write_text("this is no C;\n", encoding="utf-8")
    with pytest.raises(EngineError, match="the oracle native does not build") as caught:
        build(NATIVE, kernel=broken)
    assert "\n" not in str(caught.value)


def test_other_profiles_are_refused() -> None:
    with pytest.raises(EngineError, match="default candidates"):
        OracleEngine(build(NATIVE), PROFILES["max-2016-x64"])


def test_cl_needs_a_path_and_takes_a_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in takes cl.exe's options and runs gcc; it starts as cl.exe does, through a first word like wine."""
    need_x87()
    monkeypatch.delenv(CL_VARIABLE, raising=False)
    with pytest.raises(EngineError, match=r"cl\.exe is not set"):
        build(WINE_CL)
    wine, compiler = tmp_path / "wine", tmp_path / "cl"
    wine.write_text('#!/bin/sh\nexec "$@"\n', encoding="utf-8")
    compiler.write_text(STAND_IN, encoding="utf-8")
    for script in (wine, compiler):
        script.chmod(0o755)
    monkeypatch.setenv(CL_VARIABLE, f"{wine} {compiler}")
    monkeypatch.setenv("MAXIK_ORACLE_CACHE", str(tmp_path / "cache"))
    engine = open_oracle(WINE_CL, REFERENCE)
    assert engine.describe()["registers"] == "x87"
    assert engine.oracle.program.command[0] == str(wine)
    engine.close()


# ---- the gate ----


def test_the_gate_sees_one_changed_rounding(tmp_path: Path) -> None:
    """A copy of the kernel without one rounding of the limb solver is caught by the limb corpus."""
    changed = tmp_path / "kernel"
    shutil.copytree(KERNEL, changed)
    source = (changed / "limb.c").read_text(encoding="utf-8")
    rounding = "float elbow_num = F(R(L1) * L1 + R(L2) * L2 - R(d) * d);"
    assert rounding in source
    unrounded = source.replace(rounding, rounding.replace("float elbow_num = F(", "double elbow_num = ("))
    (changed / "limb.c").write_text(unrounded, encoding="utf-8")
    broken = OracleEngine(build(NATIVE, kernel=changed), REFERENCE)
    whole = OracleEngine(build(NATIVE), REFERENCE)
    found = gate.limb_batch({"whole": whole, "broken": broken}, 0, 300)
    assert found.differing
    assert all(line.endswith("broken") for line in found.differing)
    assert found.hashes["whole"] != found.hashes["broken"]
    same = gate.limb_batch({"whole": whole, "kernel": KernelEngine(REFERENCE)}, 0, 300)
    assert not same.differing
    broken.close()
    whole.close()


def test_a_small_gate_is_green_and_says_what_it_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert gate.main(["--target", NATIVE, "--limb", "40", "--spline", "2", "--processes", "1", "-o", "gate.json"]) == 0
    report = json.loads((tmp_path / "gate.json").read_text(encoding="utf-8"))
    assert report["green"]
    assert report["self_check"]
    assert report["engines"][NATIVE]["source"] == source_hash()
    assert len(set(report["limb"]["sha256"].values())) == 1
    assert set(report["spline"]["sha256"]) == {"native kernel", "native kernel, leap", NATIVE, "model"}


def test_the_command_line_builds_and_asks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "status", NATIVE]) == 0
    assert source_hash() in capsys.readouterr().out
    assert main(["oracle", "build", NATIVE, "-O", "0"]) == 0
    assert main(["oracle", "run", NATIVE]) == 2


@pytest.mark.shared
def test_the_command_line_runs_vectors(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "run", NATIVE, str(shared / "vectors" / "kernel" / "limb.solve.jsonl")]) == 0
    assert "150 passed, 0 failed" in capsys.readouterr().out
