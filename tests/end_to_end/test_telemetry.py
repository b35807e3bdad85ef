"""Telemetry with a real daemon, real hooks and an endpoint on loopback: what leaves the machine, and that nothing does
without the user's word."""

import json
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from daemon.cli.program import main
from daemon.cli.surroundings import Surroundings
from memsyncd.telemetry import lifecycle
from memsyncd.telemetry.posthog import LONGEST_SECONDS
from tests.end_to_end.conftest import Home
from tests.end_to_end.plugins import PluginSpool
from tests.fakes import mem0_behaviours as behave
from tests.fakes.posthog import PROJECT_KEY, FakePostHog

SECRET = "sk-" + "ant-" + "x9" * 24
EMAIL = "nobody@example.org"


@pytest.fixture
def posthog() -> Iterator[FakePostHog]:
    with FakePostHog() as fake:
        yield fake


def switch_on(home: Home, posthog: FakePostHog, **further: str) -> None:
    """Write a settings file that says yes; sendings follow each other by the second."""
    home.places.data.mkdir(parents=True, mode=0o700, exist_ok=True)
    settings = {"enabled": "true", "endpoint": f'"{posthog.url}"', "api_key": f'"{PROJECT_KEY}"', **further}
    lines = [f"{name} = {value}" for name, value in ({"interval_seconds": "1"} | settings).items()]
    home.places.config_file.write_text("\n".join(["[telemetry]", *lines, ""]))
    home.places.config_file.chmod(0o600)


def one_session(home: Home, name: str = "s1") -> None:
    home.hook("session-start", {"session_id": name, "cwd": str(home.project), "source": "startup"})
    home.exchange(name, 1, prompt=f"Why does {SECRET} fail?", answer="Because of the quokka.")
    home.end(name)


def line(name: str = "code.left_over", **extra: Any) -> bytes:
    event = {"event": name, "uuid": str(uuid.uuid4()), "timestamp": "2026-01-02T03:04:05Z", "properties": {"n": 1}}
    return json.dumps({**event, **extra}).encode() + b"\n"


def telemetry_files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*telemetry*") if path.is_file())


def is_lifecycle(file: str) -> bool:
    """Whether it only remembers which version was told of."""
    return Path(file).name.startswith((lifecycle.NAME, lifecycle.SENTINEL_PREFIX))


class Command:
    """`memsyncd telemetry …` as a person types it, in this process: starting one costs more than all it does."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, home: Home, *words: str) -> str:
        self._capsys.readouterr()
        assert main(["telemetry", *words], Surroundings(home.environ, home.root, os.getuid(), sys.platform)) == 0
        return self._capsys.readouterr().out


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


def until(home: Home, posthog: FakePostHog, holds: Callable[[FakePostHog], bool]) -> None:
    try:
        posthog.wait_for(holds, 60)
    except AssertionError:
        jobs = [job for job in home.client.get("/jobs")["jobs"] if job["kind"] == "telemetry"]
        pytest.fail(
            f"sent: {names(posthog)}; files: {telemetry_files(home.root)}; {jobs}; {home.status()['destinations']}"
        )


def names(posthog: FakePostHog) -> list[str]:
    """Return what was told, each event once: one whose answer a stop cut off is told again."""
    return list({event["uuid"]: event["event"] for event in posthog.events()}.values())


def properties(posthog: FakePostHog, name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(event["properties"] for event in posthog.events() if event["event"] == name)
    return found


def test_what_is_told_of_a_session(home: Home, posthog: FakePostHog) -> None:
    """Kinds, counts and seconds, each once, as one random id, with no text, name or place of anybody's in it."""
    switch_on(home, posthog)
    home.start()
    one_session(home)
    until(home, posthog, lambda fake: {"code.session_ended", "code.flush_delivered"} <= set(names(fake)))
    assert home.stop() == 0
    expected = {"install", "daemon_started", "session_started", "flush_delivered", "session_ended"}
    assert sorted(names(posthog)) == sorted(f"code.{name}" for name in expected)
    assert set(posthog.deliveries().values()) == {1}
    assert not posthog.dropped()
    ids = {event["distinct_id"] for event in posthog.events()}
    assert len(ids) == 1
    assert ids.pop().startswith("code-anon-")
    delivered = properties(posthog, "code.flush_delivered")
    assert (delivered["harness"], delivered["source"], delivered["batches"]) == ("claude-code", "MEMSYNCD", 1)
    assert delivered["seconds"] >= 0
    assert delivered["repository_hash"] == properties(posthog, "code.session_started")["repository_hash"]
    sent = b"".join(request.body for request in posthog.requests()).decode()
    for private in (SECRET, "quokka", "corner", "shop", "s1", str(home.root), "ada", "git.example"):
        assert f'"{private}"' not in sent
        assert len(private) < 5 or private not in sent


def test_show_prints_exactly_what_is_sent(home: Home, posthog: FakePostHog, command: Command) -> None:
    """With the daemon up and down, and changes nothing: what it printed is what arrives later."""
    switch_on(home, posthog, interval_seconds="3600")
    home.start()
    until(home, posthog, lambda fake: set(names(fake)) == {"code.install", "code.daemon_started"})
    one_session(home)
    home.until(lambda: home.status()["telemetry"]["spooled"] == 3, "not recorded")
    told = home.status()["telemetry"]
    assert (told["enabled"], told["endpoint"], told["dropped"]) == (True, posthog.url, 0)
    up = json.loads(command(home, "show", "--json"))
    assert home.stop() == 0
    before = telemetry_files(home.root)
    down = json.loads(command(home, "show", "--json"))
    lines = command(home, "show").splitlines()
    assert "3 events" in command(home)
    assert telemetry_files(home.root) == before
    shown = {event["uuid"]: event for request in down["requests"] for event in request["body"]["batch"]}
    assert shown == {event["uuid"]: event for request in up["requests"] for event in request["body"]["batch"]}
    assert shown == {event["uuid"]: event for event in map(json.loads, lines)}
    assert {request["body"]["api_key"] for request in down["requests"]} == {"(set)"}
    assert {request["url"] for request in down["requests"]} == {f"{posthog.url}/batch/"}
    switch_on(home, posthog)
    home.start()
    until(home, posthog, lambda fake: shown.keys() <= fake.deliveries().keys())
    assert {event["uuid"]: event for event in posthog.events() if event["uuid"] in shown} == shown


OFF: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "file": ({"enabled": "false"}, {}),
    "default": ({"enabled": ""}, {}),
    "MEMSYNCD_TELEMETRY_ENABLED": ({}, {"MEMSYNCD_TELEMETRY_ENABLED": "no"}),
    "MEM0_TELEMETRY": ({}, {"MEM0_TELEMETRY": "false"}),
    "DO_NOT_TRACK": ({}, {"DO_NOT_TRACK": "1"}),
    "no endpoint": ({"endpoint": '""'}, {}),
    "no key": ({"api_key": '""'}, {}),
}
"""Every documented place: what the file says instead, and the environment."""

WITH_A_SESSION = {"file", "DO_NOT_TRACK"}
"""Where something is delivered, too; the others meet the same decision (tests/daemon/telemetry)."""


@pytest.mark.parametrize("place", OFF)
def test_off_means_no_file_and_no_connection_and_what_was_spooled_is_gone(
    home: Home, posthog: FakePostHog, command: Command, place: str
) -> None:
    """From each documented place alike; an existing plugin's file is not ours and stays (never-again 76 to 78)."""
    said, environ = OFF[place]
    switch_on(home, posthog, **said)
    text = home.places.config_file.read_text().replace("enabled = \n", "")
    home.places.config_file.write_text(text)
    home.environ |= environ
    plugin = PluginSpool(home.root)
    (plugin.path / "telemetry.jsonl").write_bytes(line())
    for directory in (home.spool(), home.places.data):
        directory.mkdir(parents=True, mode=0o700, exist_ok=True)
        for name in ("telemetry.jsonl", "telemetry-9-deadbeef-a1.sending", "telemetry-9-deadbeef-a1.corrupt"):
            (directory / name).write_bytes(line())
        (directory / "telemetry-identity.json").write_text("{}")
    if place in WITH_A_SESSION:
        one_session(home)
    done = home.run("run", "--once")
    assert done.returncode == 0, done.stderr
    assert ("1 delivered" in done.stdout) is (place in WITH_A_SESSION)
    assert telemetry_files(home.root) == [".mem0/claude-code-plugin/telemetry.jsonl"]
    assert posthog.connections == 0
    shown = command(home, "show")
    assert "nothing is or would be sent" in shown
    assert place in shown or not place.isupper()


def test_a_no_in_the_file_counts_without_a_restart(home: Home, posthog: FakePostHog, command: Command) -> None:
    """The running daemon discards what it spooled, sends nothing more and records nothing more."""
    switch_on(home, posthog)
    home.start()
    until(home, posthog, lambda fake: "code.daemon_started" in names(fake))
    switch_on(home, posthog, enabled="false")
    sent = len(posthog.requests())
    home.until(lambda: not home.status()["telemetry"]["enabled"], "the no was not heard")
    one_session(home)
    home.until(home.is_quiet, "not delivered")
    assert len(posthog.requests()) == sent
    home.until(lambda: not [each for each in telemetry_files(home.root) if not is_lifecycle(each)], "files are left")
    assert "nothing is or would be sent" in command(home, "show")


def test_what_a_plugin_spooled_goes_under_the_same_consent(home: Home, posthog: FakePostHog) -> None:
    """Its own file and a claim its sender left behind; a distinct id it wrote itself is kept."""
    plugin = PluginSpool(home.root)
    (plugin.path / "telemetry.jsonl").write_bytes(line("code.recall", distinct_id="code-anon-plugin"))
    claim = plugin.path / "telemetry-9-deadbeef-a1.sending"
    claim.write_bytes(line("code.older"))
    old = time.time() - 3_600
    os.utime(claim, (old, old))
    switch_on(home, posthog)
    home.start()
    until(home, posthog, lambda fake: {"code.recall", "code.older"} <= set(names(fake)))
    ids = {event["event"]: event["distinct_id"] for event in posthog.events()}
    assert ids["code.recall"] == "code-anon-plugin"
    assert ids["code.older"] == ids["code.daemon_started"]
    home.until(lambda: not telemetry_files(plugin.path), "the plugin's files are left")


@pytest.mark.parametrize(
    ("trouble", "code"), [(behave.refuse_key(401), "telemetry-refused"), (behave.busy(503), "telemetry-waits")]
)
def test_an_endpoint_in_trouble_makes_nothing_ill(
    home: Home, posthog: FakePostHog, trouble: behave.Behaviour, code: str
) -> None:
    """One note with what to do, health stays green, and nothing of it is in anybody's way (never-again 76)."""
    switch_on(home, posthog)
    posthog.always(trouble)
    home.start()
    home.until(lambda: [each["code"] for each in home.status()["problems"]] == [code], "no note")
    one_session(home)
    home.until(lambda: home.is_quiet() and home.counted("packets_delivered") == 1, "not delivered")
    status = home.status()
    assert (status["state"], [each["degrades"] for each in status["problems"]]) == ("ok", [False])
    assert home.run("status").returncode == 0
    assert len(posthog.requests()) <= 2
    events = [each for each in home.logged().splitlines() if each.startswith("{")]
    assert events and not [each for each in events if "telemetry" in each]


def test_an_endpoint_that_hangs_holds_up_no_delivery_no_once_and_no_stop(
    home: Home, posthog: FakePostHog, command: Command
) -> None:
    """`run --once` ends when the work is done; a daemon of one worker delivers while the call is in the air; SIGTERM ends
    it. Nothing spooled is lost by it."""
    home.environ["MEMSYNCD_QUEUE_WORKERS"] = "1"
    switch_on(home, posthog)
    posthog.always(behave.hang())
    one_session(home)
    done = home.run("run", "--once")
    assert done.returncode == 0, done.stderr
    assert "1 delivered" in done.stdout
    home.start()
    until(home, posthog, lambda fake: len(fake.requests()) >= 2)
    one_session(home, "s2")
    home.until(lambda: home.status()["counters"].get("packets_delivered"), "not delivered")
    assert time.time() - posthog.requests()[1].at < LONGEST_SECONDS, "it waited for telemetry"
    began = time.monotonic()
    assert home.stop(signal.SIGTERM) == 0
    assert time.monotonic() - began < LONGEST_SECONDS - 1.0
    posthog.always(None)
    assert json.loads(command(home, "show", "--json"))["requests"]


def test_the_account_is_told_only_where_it_is_allowed(hosted: Home, posthog: FakePostHog) -> None:
    """With telemetry.account the e-mail that the platform tells, its alias once; taken back, a new random id."""
    switch_on(hosted, posthog, account="true")
    hosted.start()
    until(hosted, posthog, lambda fake: "code.daemon_started" in names(fake) and "$create_alias" in names(fake))
    assert {event["distinct_id"] for event in posthog.events()} == {EMAIL}
    alias = properties(posthog, "$create_alias")["alias"]
    assert alias.startswith("code-anon-")
    assert {event["properties"]["$process_person_profile"] for event in posthog.events()} == {True}
    assert hosted.stop() == 0
    switch_on(hosted, posthog)
    hosted.start()
    until(hosted, posthog, lambda fake: names(fake).count("code.daemon_started") == 2)
    last = posthog.events()[-1]
    assert last["distinct_id"].startswith("code-anon-") and last["distinct_id"] != alias
    assert names(posthog).count("$create_alias") == 1
    assert hosted.stop() == 0
    stored = (hosted.places.data / "telemetry-identity.json").read_text()
    assert EMAIL not in stored
