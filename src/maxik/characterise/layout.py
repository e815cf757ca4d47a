"""Tables, as text for a terminal and as a page of HTML that needs nothing but itself."""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 140
"""Columns of a text table."""

_WHOLE = ("item", "candidate", "verdict", "status")
"""Columns of names, which are not broken."""

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0 2rem; width: 100%; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem; border-bottom: 1px solid #8884; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.good td:first-child { border-left: .4rem solid #2a8a4a; }
tr.fair td:first-child { border-left: .4rem solid #c79a1b; }
tr.open td:first-child { border-left: .4rem solid #8888; }
tr.bad td:first-child { border-left: .4rem solid #c0392b; }
.bar { display: flex; height: 1.2rem; border-radius: .3rem; overflow: hidden; margin: 1rem 0; }
.bar .good { background: #2a8a4a; } .bar .fair { background: #c79a1b; } .bar .open { background: #8888; }
"""


@dataclass(frozen=True)
class Table:
    """A table: `rows` of cells under `columns`, those of `numbers` to the right.

    `marks`: good, fair, open or bad, one a row. A cell may hold several lines.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Collection[str] = ()
    marks: Sequence[str] = ()


def text_table(table: Table) -> str:
    """Return a table as text of WIDTH columns."""
    from rich import box  # noqa: PLC0415 - heavy imports are lazy
    from rich.console import Console  # noqa: PLC0415 - heavy imports are lazy
    from rich.table import Table as RichTable  # noqa: PLC0415 - heavy imports are lazy
    from rich.text import Text  # noqa: PLC0415 - heavy imports are lazy

    drawn = RichTable(title=table.title, title_justify="left", box=box.SIMPLE_HEAD)
    for column in table.columns:
        whole = column in _WHOLE
        drawn.add_column(column, justify="right" if column in table.numbers else "left", no_wrap=whole, overflow="fold")
    for row in table.rows:
        drawn.add_row(*map(Text, row))
    text = io.StringIO()
    Console(file=text, width=WIDTH, color_system=None).print(drawn)
    return "\n".join(line.rstrip() for line in text.getvalue().strip("\n").splitlines())


def html_page(title: str, parts: Sequence[str | Table]) -> str:
    """Return a page of paragraphs and tables; text that starts with "<" stands as it is, all other text is escaped."""
    body = "\n".join(
        _html_table(part) if isinstance(part, Table) else part if part.startswith("<") else f"<p>{escape(part)}</p>"
        for part in parts
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n{body}\n</body></html>\n"
    )


def html_bar(shares: Sequence[tuple[str, int]]) -> str:
    """Return a bar of (mark, count) shares."""
    parts = "".join(f'<div class="{mark}" style="flex:{count}"></div>' for mark, count in shares if count)
    return f'<div class="bar" role="img">{parts}</div>'


def _html_table(table: Table) -> str:
    classes = [' class="number"' if column in table.numbers else "" for column in table.columns]
    head = "".join(f"<th{cls}>{escape(column)}</th>" for column, cls in zip(table.columns, classes, strict=True))
    rows = []
    for place, row in enumerate(table.rows):
        mark = f' class="{table.marks[place]}"' if table.marks else ""
        cells = "".join(f"<td{cls}>{_lines(cell)}</td>" for cell, cls in zip(row, classes, strict=True))
        rows.append(f"<tr{mark}>{cells}</tr>")
    joined = "\n".join(rows)
    return f"<table><caption>{escape(table.title)}</caption><thead><tr>{head}</tr></thead><tbody>\n{joined}\n</tbody></table>"


def _lines(cell: str) -> str:
    return "<br>".join(map(escape, cell.split("\n")))
