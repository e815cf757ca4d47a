"""The two sides of the oracle's protocol have one table: what the C program lists is what Python asks for."""

from __future__ import annotations

import re

from maxik.oracle.build import KERNEL
from maxik.oracle.protocol import ROW_OPS, ROWS


def test_the_program_s_table_is_ours() -> None:
    source = (KERNEL / "oracle_main.c").read_text(encoding="utf-8")
    table = re.findall(r'\{"(\w+)", (\d+), (\d+), row_(\w+)\}', source)
    assert [(name, int(taken), int(given)) for name, taken, given, _ in table] == [
        (name, taken, given) for name, (_, taken, given) in ROW_OPS.items()
    ]
    assert all(name == function for name, _, _, function in table)
    assert [op for op, _, _ in ROW_OPS.values()] == list(range(ROWS, ROWS + len(ROW_OPS)))
