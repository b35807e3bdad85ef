"""Without PostgreSQL its tests are skipped with a sentence; where it is required they fail."""

import pytest

from tests.fakes import postgres_server


def test_where_it_is_not_installed_tests_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer without it has the rest of the suite, and is told what to install."""
    monkeypatch.setattr(postgres_server, "programs", lambda: None)
    monkeypatch.delenv("MEMSYNCD_REQUIRE_POSTGRES", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install postgresql"):
        postgres_server.installed()


def test_where_it_is_required_they_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is to test it does not pass untested."""
    monkeypatch.setattr(postgres_server, "programs", lambda: None)
    monkeypatch.setenv("MEMSYNCD_REQUIRE_POSTGRES", "1")
    with pytest.raises(pytest.fail.Exception, match="not installed"):
        postgres_server.installed()
