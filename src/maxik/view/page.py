r"""The page: one HTML file that carries its data, its script, its style and plotly's own JavaScript, and asks for nothing.

Text from files reaches the page as JSON inside a script element, every "<" written \\u003c, and from there as text nodes
only, so that no name is ever read as markup. Needs plotly, the extra `view`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

from maxik.errors import UsageError
from maxik.scene.motion import BakedScene
from maxik.view.data import page_data


def render_page(baked: BakedScene, certificate: Mapping[str, Any]) -> bytes:
    """Return the page of a baked scene; UsageError where plotly is not installed."""
    data = page_data(baked, certificate)
    parts = files(__package__)
    page = parts.joinpath("page.html").read_text(encoding="utf-8")
    for mark, text in (
        ("{{title}}", escape(f"{data['title']} - maxik")),
        ("{{style}}", parts.joinpath("page.css").read_text(encoding="utf-8")),
        ("{{data}}", script_safe(data)),
        ("{{script}}", parts.joinpath("page.js").read_text(encoding="utf-8")),
        ("{{plotly}}", _plotly()),
    ):
        before, _, after = page.partition(mark)
        page = before + text + after
    return page.encode()


def script_safe(data: Any) -> str:  # noqa: ANN401 - JSON
    """Return JSON that no text inside can end the script element of; NaN is refused."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = "a page needs plotly, which is not installed"
        raise UsageError(message, hint="pip install 'maxik[view]'") from error
    script: str = get_plotlyjs()
    return script
