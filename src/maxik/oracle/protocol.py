"""The oracle's frames: a program asked over pipes, every reply checked (kernel/oracle_main.c has the other side).

A wrong magic, a short reply, another protocol, another source hash, another control word, a crash: each is an
EngineError. Nothing falls back to another engine.
"""

from __future__ import annotations

import contextlib
import struct
import subprocess
from collections.abc import Mapping
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from maxik.errors import EngineError
from maxik.oracle.build import NATIVE, Program

Float32s = NDArray[np.float32]

PROTOCOL = 1
CONTROL_WORD = 0x27F
_REQUEST, _REPLY = 0x3151584D, 0x3152584D
_WORDS = struct.Struct("<4I")
HELLO, LIMB, SPLINE, POSITION, ROWS = range(5)
_STATUS = {1: "it does not know the operation", 2: "the request has a wrong size", 3: "it has no memory left"}

ROW_OPS: Mapping[str, tuple[int, int, int]] = {
    name: (ROWS + place, taken, given)
    for place, (name, taken, given) in enumerate([
        ("acos_safe", 1, 1), ("cos_half", 1, 1), ("neg_sin_half", 1, 1), ("sin", 1, 1), ("cos", 1, 1), ("sqrt", 1, 1),
        ("atan2", 2, 1), ("point3_length_unify", 3, 4), ("point3_normalize", 3, 3), ("point3_cross", 6, 3),
        ("matrix3_multiply", 24, 12), ("matrix3_invert", 12, 12), ("matrix3_pre_rotate", 14, 12),
        ("matrix3_rotate", 14, 12), ("matrix3_rot_angle_axis", 4, 12), ("matrix3_vector_transform", 15, 3),
        ("matrix3_point_transform", 15, 3), ("matrix3_validate_flags", 12, 1), ("matrix3_to_euler", 12, 3),
        ("euler_matrix", 3, 12), ("quat_conjugate", 4, 4), ("quat_product", 8, 4), ("quat_from_ang_axis", 4, 4),
        ("quat_make_matrix", 4, 12), ("rotation_pre_apply", 16, 12), ("zero_map", 9, 3), ("initial_plane", 13, 6),
    ])
}  # fmt: skip
"""Row operations, in the program's order: operation number, floats in and out of a row."""


def request(op: int, rows: int, payload: Float32s) -> bytes:
    """Return a request as the program reads it."""
    floats = np.ascontiguousarray(payload, "<f4").tobytes()
    return _WORDS.pack(_REQUEST, op, rows, len(floats)) + floats


class Oracle:
    """A running oracle. Use it as a context, or `close` it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own build
                program.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            message = f"the oracle {program.target} does not start: {error}"
            raise EngineError(message) from error
        self.told = self._hello()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the program."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def rows(self, name: str, *columns: Float32s) -> Float32s:
        """Run a row operation over N rows; `columns` are (N, n) or (N, ...), side by side the floats of a row."""
        op, taken, given = ROW_OPS[name]
        count = len(columns[0])
        rows = np.concatenate([column.reshape(count, -1) for column in columns], axis=1)
        if rows.shape[1] != taken:
            message = f"{name} takes {taken} floats a row, not {rows.shape[1]}"
            raise ValueError(message)
        return self.ask(op, count, rows).reshape(count, given)

    def ask(self, op: int, rows: int, payload: Float32s) -> Float32s:
        """Send one request and return the reply's floats."""
        return np.frombuffer(self._ask(request(op, rows, payload)), "<f4")

    def _hello(self) -> dict[str, str]:
        text = self._ask(request(HELLO, 0, np.zeros(0, np.float32))).decode("utf-8", "replace")
        told = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        if told.get("protocol") != str(PROTOCOL):
            self._fail(f"it speaks protocol {told.get('protocol')}, not {PROTOCOL}")
        if told.get("source") != self.program.source:
            self._fail(f"it was built from other sources: {told.get('source')}, not {self.program.source}")
        if self.program.target != NATIVE and told.get("registers") != "x87":
            self._fail("it does not compute in x87 registers")
        return told

    def _ask(self, asked: bytes) -> bytes:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None  # noqa: S101 - both are pipes
        assert stdout is not None  # noqa: S101
        try:
            stdin.write(asked)
            stdin.flush()
            head = stdout.read(_WORDS.size)
        except OSError as error:
            self._fail(f"it broke off: {error}")
        if len(head) < _WORDS.size:
            self._fail(f"it ended without a reply, with exit code {self._process.wait(10)}")
        magic, status, control_word, size = _WORDS.unpack(head)
        if magic != _REPLY:
            self._fail("its reply is no reply")
        found = stdout.read(size)
        if len(found) < size:
            self._fail("its reply is cut off")
        if status:
            self._fail(_STATUS.get(status, f"status {status}"))
        if self.program.target != NATIVE and control_word != CONTROL_WORD:
            self._fail(f"its control word is {control_word:#x}, not {CONTROL_WORD:#x}")
        return found

    def _fail(self, what: str) -> None:
        self.close()
        message = f"the oracle {self.program.target}: {what}"
        raise EngineError(message, hint="rebuild it with: maxik oracle build")
