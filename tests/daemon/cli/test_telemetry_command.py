"""`telemetry` from the files: what it says while off and while on. With a daemon: test_daemon_commands."""

import json
import os
from pathlib import Path

import pytest

from daemon.cli import telemetry as command
from daemon.cli.program import main
from daemon.cli.surroundings import Surroundings
from tests.daemon.telemetry.switched_on import ENDPOINT, KEY, ON, line

NOW = 1_800_000_000.0


def around(home: Path, **environ: str) -> Surroundings:
    given = {"MEMSYNCD_HOME": str(home / "m"), **environ}
    return Surroundings(environ=given, home=home, uid=1000, platform="linux", wall=lambda: NOW)


def spooled(home: Path) -> None:
    spool = home / "m/spools/codex"
    spool.mkdir(parents=True)
    (spool / "telemetry.jsonl").write_bytes(line() + line("code.flush_delivered"))


@pytest.mark.parametrize("words", [[], ["show"]])
@pytest.mark.parametrize(
    ("environ", "why"),
    [
        ({}, "telemetry.enabled is false (default)"),
        ({**ON, "DO_NOT_TRACK": "1"}, "telemetry.enabled is false (DO_NOT_TRACK)"),
        ({**ON, "MEM0_TELEMETRY": "off"}, "telemetry.enabled is false (MEM0_TELEMETRY)"),
        ({**ON, "MEMSYNCD_TELEMETRY_ENDPOINT": ""}, "telemetry.endpoint is empty"),
        ({**ON, "MEMSYNCD_TELEMETRY_API_KEY": ""}, "telemetry.api_key is empty"),
    ],
)
def test_while_it_is_off_nothing_is_or_would_be_sent(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    environ: dict[str, str],
    why: str,
) -> None:
    """And it says where the no is from; what still lies in a spool is shown as nothing that would go."""
    spooled(tmp_path)
    assert main(["telemetry", *words], around(tmp_path, **environ)) == 0
    told = capsys.readouterr().out
    assert command.OFF in told
    assert why in told
    assert main(["telemetry", *words, "--json"], around(tmp_path, **environ)) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["enabled"], document["reason"]) == (False, why)
    assert not document.get("requests")


def test_while_it_is_on_it_says_what_waits_and_for_whom(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the daemon, from the files, and without the key."""
    spooled(tmp_path)
    assert main(["telemetry"], around(tmp_path, **ON)) == 0
    told = capsys.readouterr().out
    assert f"Telemetry is on, every 5 min, to {ENDPOINT}." in told
    assert "2 events, 0 parked files, 0 dropped" in told
    assert main(["telemetry", "--json"], around(tmp_path, **ON)) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["enabled"], document["spooled"], document["account"]) == (True, 2, False)
    assert KEY not in told + json.dumps(document)


def test_what_will_never_be_sent_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An endpoint that refuses every batch is seen by its files, and an account not known yet is announced."""
    spooled(tmp_path)
    (tmp_path / "m/spools/codex/telemetry-9-deadbeef-a1.rejected").write_bytes(line())
    environ = {**ON, "MEMSYNCD_TELEMETRY_ACCOUNT": "yes", "MEMSYNCD_PLATFORM_KIND": "mem0"}
    assert main(["telemetry"], around(tmp_path, **environ)) == 0
    told = capsys.readouterr().out
    assert "aside    1 file of what the endpoint refused" in told
    assert "until the platform tells the account's e-mail" in told


def test_show_prints_an_event_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything else goes to standard error, so that the lines can be read by a program."""
    spooled(tmp_path)
    claim = tmp_path / "m/spools/codex/telemetry-9-deadbeef-a1.sending"
    claim.write_bytes(b"no event\n")
    os.utime(claim, (NOW - 200, NOW - 200))
    assert main(["telemetry", "show"], around(tmp_path, **ON)) == 0
    printed = capsys.readouterr()
    assert [json.loads(each)["event"] for each in printed.out.splitlines()] == ["code.recall", "code.flush_delivered"]
    assert f"2 events in 1 request to {ENDPOINT}/batch/" in printed.err
    assert "1 line never sent: corrupt" in printed.err
    assert main(["telemetry", "show", "--json"], around(tmp_path, **ON)) == 0
    document = json.loads(capsys.readouterr().out)
    (request,) = document["requests"]
    assert (request["method"], request["body"]["api_key"]) == ("POST", "(set)")
    assert document["never_sent"] == {"corrupt": 1}


def test_a_wrong_configuration_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 78, as for every command."""
    assert main(["telemetry"], around(tmp_path, MEMSYNCD_TELEMETRY_ENDPOINT="ftp://h")) == 78
    assert "telemetry.endpoint" in capsys.readouterr().err
