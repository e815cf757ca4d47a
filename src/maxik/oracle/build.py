"""Builds kernel/oracle_main.c for a target and says what a build is: its sources' hash, compiler and flags.

    program = build("x87-gcc")      a Program: how to start it, what it was built from

Targets:
    native       the host's compiler, registers spelled as binary64
    x87-gcc      gcc -m32 -mfpmath=387 -fexcess-precision=standard at control word 0x27F (Debian: gcc-multilib)
    wine-mingw   MinGW's x87 code under Wine, 64-bit where there is no 32-bit Wine (Debian: mingw-w64, wine, wine64)
    wine-cl      cl.exe of VS2008 under Wine, /fp:precise /O2; the user says where it is (docs/oracle.md)

A build lies in the cache folder under the hash of sources, compiler and flags, so that another source is another build.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from maxik.errors import EngineError

NATIVE, X87_GCC, WINE_MINGW, WINE_CL = TARGETS = ("native", "x87-gcc", "wine-mingw", "wine-cl")
KERNEL = Path(__file__).resolve().parents[3] / "kernel"
CL_VARIABLE = "MAXIK_CL"
"""Environment variable: the command that runs cl.exe, as "wine /opt/vc9/bin/cl.exe" (docs/oracle.md)."""
_LITERAL = ("-ffp-contract=off", "-fno-fast-math", "-fno-tree-vectorize", "-fno-math-errno")
_X87 = ("-mfpmath=387", "-DMAXIK_X87_REGISTERS")
_TIMEOUT = 300


@dataclass(frozen=True)
class Program:
    """A built oracle: `command` starts it; `source` is the hash that it must answer with."""

    target: str
    command: tuple[str, ...]
    source: str
    compiler: str
    flags: tuple[str, ...]


def source_hash(folder: Path = KERNEL) -> str:
    """Return the SHA-256 over the names and contents of the kernel's sources, shortened to 32 hex digits."""
    digest = hashlib.sha256()
    for path in sorted([*folder.glob("*.c"), *folder.glob("*.h")]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:32]


def cache_folder() -> Path:
    """Return where builds lie: MAXIK_ORACLE_CACHE, else the user's cache folder."""
    given = os.environ.get("MAXIK_ORACLE_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given) if given else Path(base) / "maxik" / "oracle"


def build(target: str, *, optimisation: str = "-O2", kernel: Path = KERNEL) -> Program:
    """Build a target, or find it built. Raises EngineError, which says what to install, where that cannot be done."""
    if not (kernel / "oracle_main.c").is_file():
        message = f"the kernel's sources are not at {kernel}"
        raise EngineError(message, hint="oracles are built from a checkout of maxik")
    compiler, flags, runner = toolchain(target, optimisation)
    source = source_hash(kernel)
    version = _version(compiler)
    key = hashlib.sha256("\0".join([source, *compiler, version, *flags]).encode()).hexdigest()[:16]
    program = cache_folder() / f"{target}{optimisation}-{key}" / ("oracle.exe" if runner else "oracle")
    built = Program(target, (*runner, str(program)), source, version, flags)
    if not program.is_file():
        _compile(built, compiler, kernel, program)
    return built


def toolchain(target: str, optimisation: str = "-O2") -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return (compiler command, flags, command that runs its programs); EngineError where a part is missing."""
    if target == NATIVE:
        return (_found(("cc", "gcc", "clang"), "a C compiler"),), (optimisation, *_LITERAL), ()
    if target == X87_GCC:
        gcc = _found(("gcc",), "gcc with 32-bit libraries (Debian: apt-get install gcc-multilib)")
        return (gcc,), (optimisation, "-m32", *_X87, "-fexcess-precision=standard", "-std=c99", *_LITERAL), ()
    if target == WINE_MINGW:
        wine = _found(("wine64", "wine", "wine-stable"), "Wine (Debian: apt-get install wine wine64)")
        mingw = _found(("x86_64-w64-mingw32-gcc",), "MinGW (Debian: apt-get install gcc-mingw-w64-x86-64)")
        return (mingw,), (optimisation, *_X87, "-std=c99", *_LITERAL), (wine,)
    if target == WINE_CL:
        command = os.environ.get(CL_VARIABLE, "").split()
        if not command:
            message = f"cl.exe is not set: {CL_VARIABLE} is empty"
            raise EngineError(message, hint="docs/oracle.md says how to put VS2008's compiler under Wine")
        level = "/Od" if optimisation == "-O0" else optimisation.replace("-O", "/O").replace("/O3", "/O2")
        return tuple(command), (level, "/fp:precise", "/DMAXIK_X87_REGISTERS", "/nologo"), tuple(command[:1])
    message = f"there is no oracle {target!r}; there are {', '.join(TARGETS)}"
    raise EngineError(message)


def _found(names: Sequence[str], what: str) -> str:
    for name in names:
        path = shutil.which(name)
        if path is not None:
            return path
    message = f"{what} is not installed"
    raise EngineError(message)


def _version(compiler: Sequence[str]) -> str:
    """Return the first line that a compiler tells of itself."""
    ran = _run([*compiler, "--version"] if "cl" not in Path(compiler[-1]).stem.lower() else [*compiler])
    lines = (ran.stdout + ran.stderr).strip().splitlines()
    return lines[0].strip() if lines else "unknown"


def _compile(built: Program, compiler: Sequence[str], kernel: Path, program: Path) -> None:
    program.parent.mkdir(parents=True, exist_ok=True)
    beside = program.with_name(f"{program.name}.{os.getpid()}.part")
    main = str(kernel / "oracle_main.c")
    if built.target == WINE_CL:
        arguments = [*built.flags, f"/DMAXIK_SOURCE_HASH={built.source}", f"/Fe{beside}", f"/Fo{program.parent}/", main]
    else:
        arguments = [*built.flags, f"-DMAXIK_SOURCE_HASH={built.source}", main, "-o", str(beside), "-lm"]
    ran = _run([*compiler, *arguments])
    if ran.returncode or not beside.is_file():
        told = (ran.stderr or ran.stdout).strip().splitlines()
        message = f"the oracle {built.target} does not build: {told[0] if told else 'the compiler says nothing'}"
        raise EngineError(message, hint=_HINTS.get(built.target))
    beside.replace(program)


_HINTS: Mapping[str, str] = {
    X87_GCC: "Debian: apt-get install gcc-multilib",
    WINE_MINGW: "Debian: apt-get install gcc-mingw-w64-x86-64 wine wine64",
}


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT, check=False)  # noqa: S603 - compilers
    except (OSError, subprocess.TimeoutExpired) as error:
        message = f"{command[0]} does not run: {error}"
        raise EngineError(message) from error
