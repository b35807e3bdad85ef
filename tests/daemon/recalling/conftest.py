"""What is asked here is answered however busy the machine is."""

import pytest

from daemon.recalling import limit

PATIENCE = 60.0


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an answer take as long as it must: only what is said to be late is."""
    monkeypatch.setattr(limit, "ANSWER_SECONDS", PATIENCE)
