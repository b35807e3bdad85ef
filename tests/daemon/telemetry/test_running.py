"""Telemetry composed with the other parts: on with the user's word, and off as if it did not exist."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.app import STOP_SECONDS
from daemon.intake.ingest_thread import IngestThread
from daemon.places import resolve
from daemon.rounds import Rounds
from daemon.settings import load
from daemon.telemetry import running
from daemon.telemetry.starting import KIND, sampled
from jobs.job import JobState
from jobs.outcomes import Cool, Ended, Outcome, Snooze
from jobs.queue.claims import JobContext
from jobs.queue.workers import Workers
from jobs.telemetry import REFUSED, TELEMETRY, telemetry_job
from memsyncd.platforms.platform import Cancelled
from memsyncd.telemetry import identity, lifecycle
from tests.clocks import HandClock
from tests.daemon.composed import Composed, composed
from tests.daemon.telemetry.switched_on import ENDPOINT, KEY, ON, line
from tests.fakes import mem0_behaviours as behave
from tests.fakes.posthog import FakePostHog

JOB = f"telemetry:{ENDPOINT}"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path, **ON) as made:
        yield made


def run(home: Composed, name: str = JOB) -> Outcome:
    """Run the job's handler once."""
    job = home.parts.queue.get(name)
    assert job is not None and home.parts.telemetry is not None
    return home.parts.telemetry.run(JobContext(job, threading.Event()))


def files(home: Composed) -> list[str]:
    return sorted(path.name for path in home.root.rglob("telemetry*"))


def spooled(home: Composed, *names: str) -> None:
    for directory in (home.spool(), home.places.data):
        for name in names or ("telemetry.jsonl",):
            (directory / name).write_bytes(line())


def test_the_kind_is_the_jobs_own() -> None:
    """It is named without loading its module."""
    assert KIND == TELEMETRY


def test_switched_on_its_one_job_stands(home: Composed) -> None:
    """And the start is told of, an installation once."""
    home.upkeep.start()
    home.upkeep.start()
    assert [job.id for job in home.jobs(KIND)] == [JOB]
    content = (home.places.data / "telemetry.jsonl").read_text()
    assert content.count("code.daemon_started") == 2
    assert content.count("code.install") + content.count("code.upgrade") == 1


def test_an_endpoint_nobody_listens_at_cools_alone(home: Composed) -> None:
    """Nothing is lost, and the platform's jobs are not held."""
    home.upkeep.start()
    outcome = run(home)
    assert isinstance(outcome, Cool)
    assert (outcome.destination, outcome.code) == (JOB, "offline")
    status = home.view.status()
    assert status["telemetry"]["spooled"] == 2
    assert status["telemetry"]["endpoint"] == ENDPOINT


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[telemetry]\nendpoint = 'http://h'\n", "its settings were changed"),
        ("[telemetry", "its settings were changed"),
    ],
)
def test_changed_settings_hold_back_and_keep(home: Composed, text: str, why: str) -> None:
    """They count from the next start; what was agreed to is no more."""
    home.upkeep.start()
    home.places.config_file.write_text(text)
    outcome = run(home)
    assert isinstance(outcome, Snooze) and outcome.why.startswith(why)
    assert "telemetry.jsonl" in files(home)


def test_a_pause_holds_it_too(home: Composed) -> None:
    """Whoever pauses everything means everything."""
    home.upkeep.start()
    (home.places.data / "paused").touch()
    outcome = run(home)
    assert isinstance(outcome, Snooze) and outcome.why == "paused"


def test_a_no_while_it_runs_discards_and_stays(home: Composed) -> None:
    """Until the next start, even where the file says yes again: nobody can tell what was meant in between."""
    home.spool()
    home.upkeep.start()
    spooled(home, "telemetry.jsonl", "telemetry-9-deadbeef-a1.sending")
    home.places.config_file.write_text("[telemetry]\nenabled = false\n")
    outcome = run(home)
    assert isinstance(outcome, Snooze) and outcome.why == "switched off in the settings file"
    home.places.config_file.unlink()
    spooled(home)
    run(home)
    assert [name for name in files(home) if not name.startswith((lifecycle.NAME, lifecycle.SENTINEL_PREFIX))] == []
    assert home.view.status()["telemetry"]["enabled"] is False


def test_a_no_is_heard_while_the_endpoint_refuses_the_key(home: Composed) -> None:
    """No run comes then for a quarter of an hour and more: the daemon's rounds hear it all the same."""
    home.spool()
    home.upkeep.start()
    home.upkeep.tick()
    refuse_key(home)
    spooled(home)
    assert "telemetry.jsonl" in files(home)
    assert "telemetry-refused" in str(home.view.status()["problems"])
    home.places.config_file.write_text("[telemetry]\nenabled = false\n")
    home.upkeep.tick()
    assert [job.state for job in home.jobs(KIND)] == [JobState.CANCELLED]
    assert "telemetry" not in str(home.view.status()["problems"])
    assert [name for name in files(home) if not name.startswith((lifecycle.NAME, lifecycle.SENTINEL_PREFIX))] == []
    assert home.view.status()["telemetry"]["enabled"] is False


def refuse_key(home: Composed) -> None:
    """Let the endpoint be parked, as after a 401."""
    claims = [home.parts.queue.claim(), home.parts.queue.claim()]
    claim = next(claim for claim in claims if claim and claim.job.kind == KIND)
    home.parts.queue.finish(claim, Cool(JOB, "the key was refused", REFUSED, parked=True))


def test_switched_off_at_a_start_its_endpoints_trouble_is_over(tmp_path: Path) -> None:
    """No note stays about an endpoint nobody sends to, nor about the one before."""
    for environ in ({}, {**ON, "MEMSYNCD_TELEMETRY_ENDPOINT": "http://127.0.0.1:8"}):
        with composed(tmp_path, **ON) as home:
            home.upkeep.start()
            refuse_key(home)
            home.parts.close()
            with composed(tmp_path, **environ) as after:
                assert JOB in [each.name for each in after.parts.queue.destinations()]
                after.upkeep.start()
                assert "telemetry" not in str(after.view.status()["problems"])


def sending(home: Composed, posthog: FakePostHog) -> threading.Thread:
    """Send what is spooled, on a thread of its own, and wait until the request is in the air."""
    home.upkeep.start()
    thread = threading.Thread(target=run, args=(home, f"telemetry:{posthog.url}"))
    thread.start()
    posthog.wait_for(lambda fake: len(fake.requests()) == 1)
    return thread


@pytest.fixture
def posthog() -> Iterator[FakePostHog]:
    with FakePostHog(keys={KEY}) as fake:
        yield fake


def test_a_stop_waits_for_an_answer_that_is_near(
    tmp_path: Path, posthog: FakePostHog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that what has arrived is written down, and not sent again by the next daemon."""
    monkeypatch.setattr(running, "ANSWER_SECONDS", 60.0)
    posthog.script(behave.commit_and_answer_late(0.3))
    with composed(tmp_path, **{**ON, "MEMSYNCD_TELEMETRY_ENDPOINT": posthog.url}) as home:
        thread = sending(home, posthog)
        assert home.parts.telemetry is not None
        home.parts.telemetry.cancel()
        thread.join(60)
        assert posthog.deliveries()
        assert home.view.status()["telemetry"]["spooled"] == 0


def test_a_stop_does_not_wait_for_an_answer_that_does_not_come(tmp_path: Path, posthog: FakePostHog) -> None:
    """The call is ended after a moment, well within a stop's time, and its events stay."""
    assert running.ANSWER_SECONDS < STOP_SECONDS
    posthog.script(behave.hang())
    with composed(tmp_path, **{**ON, "MEMSYNCD_TELEMETRY_ENDPOINT": posthog.url}) as home:
        thread = sending(home, posthog)
        began = time.monotonic()
        assert home.parts.telemetry is not None
        home.parts.telemetry.cancel()
        thread.join(60)
        assert time.monotonic() - began < running.ANSWER_SECONDS + 8
        assert home.view.status()["telemetry"]["spooled"] == 2


def test_a_stop_between_sendings_makes_no_thread(home: Composed) -> None:
    """And nothing is sent after it."""
    threads = {*threading.enumerate()}
    assert home.parts.telemetry is not None
    home.parts.telemetry.cancel()
    assert {*threading.enumerate()} <= threads
    with pytest.raises(Cancelled):
        home.parts.telemetry.endpoint.send([])


def test_an_id_that_cannot_be_kept_sends_nothing(home: Composed) -> None:
    """It would be another one each time."""
    home.upkeep.start()
    (home.places.data / "telemetry-identity.json").mkdir()
    with pytest.raises(Ended) as ended:
        run(home)
    assert isinstance(ended.value.outcome, Snooze)
    assert "id cannot be kept" in ended.value.outcome.why


def test_a_platform_that_does_not_answer_leaves_the_random_id(tmp_path: Path) -> None:
    """The account is asked for within the leave that was given, and not waited for."""
    environ = {"MEMSYNCD_TELEMETRY_ACCOUNT": "yes", "MEM0_API_KEY": "k" * 20, "MEM0_API_URL": "http://127.0.0.1:9"}
    with composed(tmp_path, **ON, **environ) as home:
        home.upkeep.start()
        assert isinstance(run(home), Cool)
        state = json.loads((home.places.data / identity.NAME).read_text())
        assert state["anonymous_id"].startswith(identity.ANONYMOUS_PREFIX)
        assert not state["email"]
        assert home.view.status()["telemetry"]["account"] is True


def test_a_jump_of_the_clock_drops_its_connections_too(home: Composed) -> None:
    """It may have been a sleep (never-again 148)."""
    hands = HandClock()
    object.__setattr__(home.parts, "clock", hands.clock())
    thread = IngestThread(home.parts.ingest, home.upkeep.maintain, home.upkeep.has_new_spools, home.upkeep.refresh)
    workers = Workers(home.parts.queue, {}, 1, clock=home.parts.clock, counters=home.parts.counters)
    rounds = Rounds(home.parts, home.upkeep, thread, workers)
    hands.wall_now += 7_200.0
    rounds.look_around()
    assert "clock-jumped" in home.codes()


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {**ON, "MEMSYNCD_TELEMETRY_ENABLED": "no"},
        {**ON, "MEM0_TELEMETRY": "off"},
        {**ON, "DO_NOT_TRACK": "1"},
        {**ON, "MEMSYNCD_TELEMETRY_ENDPOINT": ""},
        {**ON, "MEMSYNCD_TELEMETRY_API_KEY": ""},
    ],
)
def test_switched_off_nothing_is_made_and_nothing_is_left(tmp_path: Path, environ: dict[str, str]) -> None:
    """No parts, no handler, no job, no file; what an earlier yes had spooled is discarded at the start."""
    with composed(tmp_path, **ON) as home:
        home.parts.queue.enqueue(telemetry_job(JOB))
        home.parts.close()
        with composed(tmp_path, **environ) as off:
            spooled(off, "telemetry.jsonl", "telemetry-9-deadbeef-a1.sending", "telemetry-salt")
            parts = off.parts
            assert parts.telemetry is None
            assert parts.ingest.on_stored is None
            assert KIND not in parts.handlers
            threads = {*threading.enumerate()}
            off.upkeep.start()
            assert {*threading.enumerate()} <= threads
            assert files(off) == []
            (job,) = off.jobs(KIND)
            assert job.state is JobState.CANCELLED
            assert off.view.status()["telemetry"]["enabled"] is False
            assert not [each for each in off.view.status()["problems"] if "telemetry" in str(each)]


def test_switched_off_none_of_its_code_is_loaded() -> None:
    """A daemon without telemetry pays nothing for it."""
    code = (
        "import sys, daemon.app, daemon.status.offline\n"
        "loaded = [name for name in sys.modules if name.startswith(('memsyncd.telemetry', 'jobs.telemetry'))]\n"
        "assert not loaded and 'daemon.telemetry.running' not in sys.modules, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])


@pytest.mark.parametrize(("environ", "is_on"), [(ON, True), ({}, False)])
def test_an_installation_is_looked_for_only_with_consent(tmp_path: Path, environ: dict[str, str], is_on: bool) -> None:
    """A run without it uses nothing up (facts 12.26)."""
    places = resolve({"MEMSYNCD_HOME": str(tmp_path / "m")}, tmp_path, 1, "linux")
    found = sampled(places, load(places, environ, {}).settings)
    assert (found is not None) is is_on
    assert found is None or found.sample()
    assert not places.data.exists()


def test_another_endpoint_ends_the_job_of_the_one_before(tmp_path: Path) -> None:
    """Nothing goes to where it is not wanted any more."""
    with composed(tmp_path, **ON) as home:
        home.parts.queue.enqueue(telemetry_job("telemetry:http://127.0.0.1:8"))
        home.upkeep.start()
        states = {job.id: job.state for job in home.jobs(KIND)}
        assert states.pop("telemetry:http://127.0.0.1:8") is JobState.CANCELLED
        assert list(states) == [JOB]


def test_run_once_does_not_wait_for_it(home: Composed) -> None:
    """While it is sending, its job is none that is waited for; another is."""
    telemetry = home.parts.telemetry
    assert telemetry is not None
    home.upkeep.start()
    claims = [home.parts.queue.claim(), home.parts.queue.claim()]
    assert {claim.job.kind for claim in claims if claim} == {"poll", KIND}
    assert not home.upkeep.is_all_done(lambda: 0)
    poll = next(claim for claim in claims if claim and claim.job.kind == "poll")
    home.parts.queue.finish(poll, Snooze(60.0, "nothing open"))
    assert not home.upkeep.is_all_done(lambda: 0)
    telemetry.run_under_way = 1
    assert home.upkeep.is_all_done(lambda: 0)
