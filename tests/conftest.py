"""What all tests share: the reference data at ../shared, skipped with a plain message where it is absent.

MAXIK_REQUIRE_SHARED=1 (set by .ci/run) turns such a skip into a failure.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of the reference data."""
    if not SHARED.is_dir():
        message = f"the reference data are not at {SHARED}"
        if os.environ.get("MAXIK_REQUIRE_SHARED"):
            pytest.fail(message)
        pytest.skip(message)
    return SHARED
