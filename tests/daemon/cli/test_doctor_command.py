"""`memsyncd doctor` as it is typed: lines and codes for people, JSON for programs."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.cli.program import main
from daemon.cli.surroundings import Surroundings
from daemon.doctor.check import failed, passed, unchecked
from tests.daemon.composed import composed


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    with composed(tmp_path) as made:
        made.spool()
        made.upkeep.refresh()
        yield tmp_path


def around(home: Path, **environ: str) -> Surroundings:
    whole = {"MEMSYNCD_HOME": str(home / "m"), "HOME": str(home), "USER": "ada", **environ}
    return Surroundings(environ=whole, home=home, uid=os.geteuid(), platform="linux")


def test_all_well_is_0_and_json_is_the_contract_s(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """{"ok", "checks": [{"name", "ok", "message", "remedy"}]}, and nothing else on standard output."""
    assert main(["doctor", "--json", "--cwd", str(home)], around(home)) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is True
    names = {check["name"] for check in document["checks"]}
    assert {
        "python",
        "clock",
        "configuration",
        "directories",
        "modes",
        "disk",
        "database queue",
        "lock",
        "socket",
    } <= names
    assert {"daemon", "service", "lingering", "hooks", "user id", "key", "authentication", "repository"} <= names
    for check in document["checks"]:
        assert {"name", "ok", "message", "remedy"} <= set(check)


def test_one_failure_is_1_with_its_remedy(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A FAIL line, what was measured, and what to type; the others are told all the same."""
    monkeypatch.setenv("COLUMNS", "200")  # so that no path is broken
    (home / "m" / "spools").chmod(0o755)
    assert main(["doctor"], around(home)) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert f"FAIL modes: others can get at what is private: {home}/m/spools has mode 0755" in told
    assert f"→ `chmod 700 {home}/m/spools`" in told or f"-> `chmod 700 {home}/m/spools`" in told
    assert "PASS python: Python 3" in told
    assert "1 failed" in told


def test_deep_makes_more_checks(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On request a marker goes where hooks write and where memories live."""
    main(["doctor", "--deep", "--json"], around(home))
    names = {check["name"] for check in json.loads(capsys.readouterr().out)["checks"]}
    assert {"write data", "write claude-code", "memory"} <= names


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    """Verdict, message and remedy are broken, and each line of a check but its first is set in."""
    from daemon.cli.doctor import lines

    for check in (passed("a", "word " * 60), failed("b", "word " * 60, "do " * 60), unchecked("c", "x")):
        texts = [line.text for line in lines(check, columns)]
        assert all(len(text) <= columns for text in texts)
        assert texts[0].startswith("PASS  " if check.ok else "FAIL  ")
        assert all(text.startswith("      ") for text in texts[1:])
