"""A program that speaks the oracle's protocol, wrongly: the first argument says how."""

from __future__ import annotations

import struct
import sys

SOURCE = "0" * 32


def main(mode: str) -> None:
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    asked = 0
    while len(head := stdin.read(16)) == 16:
        _, op, rows, size = struct.unpack("<4I", head)
        stdin.read(size)
        source = "1" * 32 if mode == "other sources" else SOURCE
        protocol = 2 if mode == "other protocol" else 1
        registers = "binary64" if mode == "no x87" else "x87"
        text = f"protocol={protocol}\nsource={source}\nregisters={registers}\ncompiler=none\ncontrol_word=0x27f\nruntime=none\n"
        payload = text.encode() if op == 0 else struct.pack("<f", 1.0) * rows
        if op:
            asked += 1
            if mode == "crash":
                sys.exit(11)
        magic = 0 if mode == "no reply" and op else 0x3152584D
        status = 2 if mode == "refusal" and op else 0
        word = 0x37F if mode == "control word" and op else 0x27F
        if mode == "cut off" and op:
            stdout.write(struct.pack("<4I", magic, status, word, len(payload) + 4) + payload)
            stdout.flush()
            sys.exit(0)
        stdout.write(struct.pack("<4I", magic, status, word, len(payload)) + payload)
        stdout.flush()


main(sys.argv[1])
