"""What is said of a machine on which nothing can be booted."""

import os

import pytest

from tests.booted import machine
from tests.booted.conftest import REQUIRED, cannot


def test_it_is_said_plainly_and_fails_where_it_must_not_be_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A skip with the reason; under `.ci/run` a failure with the same."""
    monkeypatch.delenv(REQUIRED, raising=False)
    with pytest.raises(pytest.skip.Exception, match="not root"):
        cannot("this is not root")
    monkeypatch.setenv(REQUIRED, "1")
    with pytest.raises(pytest.fail.Exception, match="not root"):
        cannot("this is not root")


def test_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another system, another user, no systemd, a missing program: each by its name."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "root" in machine.why_not()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(machine, "NEEDED", ("no-such-program",))
    monkeypatch.setattr(machine, "SYSTEMD", machine.Path("/"))
    assert "no-such-program" in machine.why_not()
    monkeypatch.setattr(machine, "SYSTEMD", machine.Path("/nowhere"))
    assert "systemd is not installed" in machine.why_not()
    monkeypatch.setattr(machine.sys, "platform", "darwin")
    assert "no Linux" in machine.why_not()
