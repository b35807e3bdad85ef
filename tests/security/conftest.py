"""The homes of the end-to-end tests: real daemons, real hooks."""

import pytest

from tests import uncounted
from tests.end_to_end.conftest import api, home, hosted

__all__ = ["api", "home", "hosted"]


@pytest.fixture(autouse=True)
def _uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the counting of what a daemon runs to the end-to-end tests."""
    uncounted.leave_out(monkeypatch)
