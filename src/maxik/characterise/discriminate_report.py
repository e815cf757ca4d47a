"""Discriminating inputs as text and as JSON (format maxik-discriminate/1)."""

from __future__ import annotations

import json
import math
from typing import Any

from maxik.characterise.discriminate import Asked, Discrimination, encoded
from maxik.characterise.layout import Table, text_table
from maxik.characterise.maxscript import can_ask, reach
from maxik.numerics.float32 import from_hex

JSON_FORMAT = "maxik-discriminate/1"


def render(found: Discrimination) -> str:
    """Return a table of the inputs with every candidate's outputs, and what is not separated."""
    tables = [discrimination_table(found), *([widest_table(found)] if found.widest else [])]
    return "\n\n".join([*map(text_table, tables), *remarks(found)])


def to_json(found: Discrimination) -> str:
    """Return the result as JSON: operands and outputs as bit patterns, groups of candidates with the same bits."""
    return json.dumps(
        {
            "format": JSON_FORMAT,
            "item": found.item,
            "environment": found.environment,
            "asked": found.asked,
            "candidates": found.candidates,
            "inputs": [
                {
                    "in": _given(entry),
                    "candidates": entry.outputs,
                    "groups": entry.groups,
                }
                for entry in found.inputs
            ],
            "widest": [
                {"candidate": entry.candidate, "in": _given(entry.asked), "difference": _finite(entry.difference)}
                for entry in found.widest
            ],
            "not_separated": found.alike,
            "tried": found.tried,
            "note": found.note,
            "maxscript": can_ask(found.item),
        },
        indent=2,
        ensure_ascii=False,
    )


def discrimination_table(found: Discrimination) -> Table:
    """Return a row for each group of candidates that an input gives the same bits."""
    rows = []
    for place, entry in enumerate(found.inputs):
        for number, group in enumerate(entry.groups):
            shown = _operands(entry) if number == 0 else ""
            rows.append((str(place) if number == 0 else "", shown, ", ".join(group), _words(entry.outputs[group[0]])))
    title = f"{found.item} in {found.environment}: {len(found.inputs)} of {found.tried} inputs tried, asked of {found.asked}"
    return Table(title, ("input", "operands", "candidates", "output"), rows)


def widest_table(found: Discrimination) -> Table:
    """Return a row for each other candidate: the input that shows it best."""
    rows = [(entry.candidate, f"{entry.difference:.3g}", _operands(entry.asked)) for entry in found.widest]
    title = f"Where each candidate is farthest from {found.candidates[0]}"
    return Table(title, ("candidate", "difference", "operands"), rows, numbers=("difference",))


def remarks(found: Discrimination) -> list[str]:
    """Return what is not separated, why, and whether MAXScript can ask."""
    lines = [f"not separated by {found.tried} inputs: {a} and {b}" for a, b in found.alike]
    if found.note:
        lines.append(f"note: {found.note}")
    lines.append(reach(found.item))
    return lines


def _given(entry: Asked) -> dict[str, Any]:
    return {name: encoded(value) for name, value in entry.operands.items()}


def _finite(x: float) -> float | str:
    return x if math.isfinite(x) else "inf"


def _operands(entry: Asked) -> str:
    return "\n".join(f"{name} = {numbers(value)}" for name, value in entry.operands.items())


def numbers(value: Any) -> str:  # noqa: ANN401 - operands of any kind
    """Return an operand's numbers with their bits, matrices row by row."""
    return _words(encoded(value))


def _words(value: Any) -> str:  # noqa: ANN401 - operands or outputs of any kind
    """Return numbers with their bits; matrices row by row."""
    if isinstance(value, dict):
        return "\n".join(f"{name} {_words(entry)}" for name, entry in value.items())
    if isinstance(value, list):
        parts = [_words(entry) for entry in value]
        nested = any(isinstance(entry, (list, dict)) for entry in value)
        if nested:
            return "\n".join(parts)
        rows = [", ".join(parts[row : row + 3]) for row in range(0, len(parts), 3)] if len(parts) == 12 else [", ".join(parts)]  # noqa: PLR2004
        return "\n".join(rows)
    try:
        return f"{from_hex(str(value)):.9g} [{value}]"
    except ValueError:
        return str(value)
