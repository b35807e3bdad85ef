"""The recorded session of the demo, through the real hook, into a real daemon, to a fake of the hosted platform."""

import sqlite3
from collections import Counter
from contextlib import closing

from daemon.demo.recording import SECRET, steps
from tests.end_to_end.conftest import Home


def play(home: Home) -> None:
    for step in steps(home.project):
        home.hook(step.action, step.hook_input, reason=step.reason)


def packets(home: Home) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(home.spool() / "evidence.sqlite3")) as connection:
        return connection.execute("SELECT packet_id, status FROM flushes ORDER BY event_start").fetchall()


def spoken(home: Home) -> list[str]:
    """Return what the recording's user and agent say, in order."""
    return [
        str(step.hook_input.get("prompt") or step.hook_input["last_assistant_message"])
        for step in steps(home.project)
        if step.action in ("user-prompt", "stop")
    ]


def until_delivered(home: Home) -> None:
    api = home.api
    assert api is not None
    expected = len(spoken(home))
    home.until(
        lambda: len(api.delivered_messages()) >= expected and home.is_quiet(), "the session was not delivered", 40
    )


def assert_delivered_once(home: Home) -> None:
    """Every prompt and answer of the recording is on the platform once, in order, and nothing else is."""
    assert home.api is not None
    batches = home.api.accepted_batches()
    assert max(Counter((packet, number) for packet, number, _ in batches).values()) == 1
    said = spoken(home)
    delivered = home.api.delivered_messages()
    assert len(delivered) == len(said)
    for (_, content), words in zip(delivered, said, strict=True):
        assert content.startswith(words.replace(SECRET, "[REDACTED]")[:120])
    assert {status for _, status in packets(home)} == {"semantic-succeeded"}


def test_every_turn_arrives_once_and_in_order(hosted: Home) -> None:
    """A whole session goes from hooks to the platform's confirmed extractions, and the spool is empty afterwards."""
    hosted.start()
    play(hosted)
    until_delivered(hosted)
    assert_delivered_once(hosted)
    assert not list((hosted.spool() / "pending").iterdir())


def test_the_planted_secret_is_nowhere(hosted: Home) -> None:
    """A key pasted into a prompt reaches neither disk nor platform nor log."""
    hosted.start()
    play(hosted)
    until_delivered(hosted)
    assert hosted.stop() == 0
    for path in hosted.root.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path
    assert hosted.api is not None
    assert all(SECRET not in str(request.body) for request in hosted.api.requests())


def test_what_was_dropped_while_the_daemon_was_down_is_delivered_later(hosted: Home) -> None:
    """Hooks need no daemon: a session recorded without one is delivered when one starts."""
    play(hosted)
    hosted.start()
    until_delivered(hosted)
    assert_delivered_once(hosted)


def test_run_once_does_all_that_is_due_and_ends(hosted: Home) -> None:
    """`run --once` delivers what waits, sees it confirmed, and exits 0."""
    play(hosted)
    done = hosted.run("run", "--once")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Packets: 1 delivered.\n"
    assert_delivered_once(hosted)
