"""What the daemon does when the platform is slow, away, full, or refuses."""

import json
import signal
import time
from collections import Counter

import pytest

from daemon.settings.schema import Queue
from memsyncd.platforms.transport import DEFAULT_WRITE_SECONDS
from tests.end_to_end.conftest import Home
from tests.fakes import mem0_behaviours as behave
from tests.fakes.mem0_api import KEY

pytestmark = pytest.mark.usefixtures("uncounted")

COOLDOWN_SECONDS, WORKERS = 1.0, Queue().workers
PLATFORM_SETTINGS = f"[platform]\nmax_cooldown_seconds = {COOLDOWN_SECONDS}\n[retry]\nfirst_delay_seconds = 0.1\n"


@pytest.fixture
def hurried(hosted: Home) -> Home:
    """Give a home whose cooldowns are a second long."""
    hosted.places.data.mkdir(parents=True, mode=0o700)
    hosted.places.config_file.write_text(PLATFORM_SETTINGS)
    return hosted


def one_session(home: Home, name: str = "s1", turns: int = 1) -> None:
    for number in range(turns):
        home.exchange(name, number)
    home.end(name)


def batches_once(home: Home) -> int:
    assert home.api is not None
    count = Counter((packet, number) for packet, number, _ in home.api.accepted_batches())
    assert not count or max(count.values()) == 1
    return len(count)


@pytest.mark.parametrize(
    "trouble",
    [
        behave.busy(503),
        behave.busy(429, "1"),
        behave.busy(408),
        behave.html(),
        behave.redirect("/elsewhere"),
        behave.cut(),
    ],
    ids=["503", "429", "408", "html", "redirect", "cut"],
)
def test_a_passing_trouble_costs_no_attempt_and_no_packet(hurried: Home, trouble: behave.Behaviour) -> None:
    """Failures in a row (for one 429 more than an item has attempts), and the packet is delivered all the same."""
    assert hurried.api is not None
    hurried.api.script("add", *[trouble] * (8 if trouble.status == 429 else 2))
    hurried.start()
    one_session(hurried)
    hurried.until(lambda: batches_once(hurried) == 1 and hurried.is_quiet(), "not delivered")
    assert hurried.status()["jobs"]["dead"] == 0


def test_an_answer_that_never_came_is_looked_for_before_sending_again(hurried: Home) -> None:
    """The platform commits and the connection breaks: the batch is found there and not sent twice."""
    assert hurried.api is not None
    hurried.api.script("add", behave.commit_and_cut())
    hurried.start()
    one_session(hurried)
    hurried.until(lambda: batches_once(hurried) == 1 and hurried.is_quiet(), "not delivered")
    hurried.until(lambda: not list((hurried.spool() / "pending").iterdir()), "the handoff was kept")
    assert len(hurried.api.requests("add")) == 1


def test_a_poison_item_is_set_aside_and_delays_no_neighbour(hurried: Home) -> None:
    """A packet refused five times is a dead letter with its reason; another session's packet is long there."""
    api = hurried.api
    assert api is not None
    hurried.start()
    api.script("add", *[behave.reject(400, "messages too strange")] * 5)
    one_session(hurried, "poison")
    hurried.until(lambda: hurried.status()["jobs"]["dead"] == 2, "the packet was not given up")
    one_session(hurried, "fine")
    hurried.until(lambda: {run for _, _, run in api.accepted_batches()} == {"fine"}, "the neighbour was not delivered")
    reasons = [json.loads(path.read_text()) for path in (hurried.spool() / "dead").glob("*.reason.json")]
    assert len(reasons) == 1
    listed = json.loads(hurried.run("jobs", "list", "--state", "dead", "--json").stdout)["jobs"]
    assert any("messages too strange" in job["reason"] for job in listed)


def test_a_dead_letter_retried_by_a_person_is_delivered(hurried: Home) -> None:
    """`jobs retry --dead` brings a packet back once its cause is gone."""
    api = hurried.api
    assert api is not None
    hurried.start()
    api.script("add", *[behave.reject()] * 5)
    one_session(hurried)
    hurried.until(lambda: hurried.status()["jobs"]["dead"] == 2, "the packet was not given up")
    done = hurried.run("jobs", "retry", "--dead")
    assert done.returncode == 0, done.stderr
    hurried.until(lambda: batches_once(hurried) == 1 and hurried.is_quiet(), "not delivered")
    hurried.until(lambda: hurried.status()["jobs"]["dead"] == 0, "dead letters stayed")
    assert not list((hurried.spool() / "dead").glob("*.json"))


def test_newer_evidence_flows_on_after_a_packet_gave_up(hurried: Home) -> None:
    """The same session's later turns are delivered though an earlier packet is a dead letter (facts 2.11)."""
    api = hurried.api
    assert api is not None
    hurried.start()
    api.script("add", *[behave.reject()] * 5)
    one_session(hurried, "s", turns=1)
    hurried.until(lambda: hurried.status()["jobs"]["dead"] == 2, "the packet was not given up")
    hurried.exchange("s", 7, prompt="A later question?", answer="A later answer.")
    hurried.end("s")
    hurried.until(lambda: batches_once(hurried) == 1, "newer evidence did not flow")
    assert ("user", "A later question?") in [tuple(message) for message in api.delivered_messages()]


def test_a_failed_extraction_is_posted_again_and_nothing_else(hurried: Home) -> None:
    """The platform's own failure counts as an attempt, and the next one posts that batch alone."""
    assert hurried.api is not None
    hurried.api.script("add", behave.failing_extraction())
    hurried.start()
    one_session(hurried)
    hurried.until(lambda: len(hurried.api.requests("add")) == 2 and hurried.is_quiet(), "not tried again")  # type: ignore[union-attr]
    assert hurried.status()["jobs"]["dead"] == 0


def test_a_refused_key_parks_and_a_new_one_is_taken_up(hosted: Home) -> None:
    """A refused key is one problem with its remedy; a changed key file is taken up within 15 s, without a restart."""
    api = hosted.api
    assert api is not None
    key_file = hosted.root / "key"
    key_file.write_text("wrong-key")
    key_file.chmod(0o600)
    del hosted.environ["MEM0_API_KEY"]
    hosted.environ["MEMSYNCD_PLATFORM_API_KEY_FILE"] = str(key_file)
    hosted.start()
    one_session(hosted)
    hosted.until(lambda: any(p["code"] == "key-refused" for p in hosted.status()["problems"]), "no problem told")
    refused = len(api.requests("add"))
    assert refused <= 2
    key_file.write_text(KEY)
    began = time.monotonic()
    hosted.until(lambda: batches_once(hosted) == 1 and hosted.is_quiet(), "the new key was not taken up")
    assert time.monotonic() - began < 15 + 15  # of which the second is the machine's
    hosted.until(lambda: not hosted.status()["problems"], "the trouble is told still")


def test_an_outage_is_probed_once_at_a_time(hurried: Home) -> None:
    """Twenty sessions wait while the platform is away; it is asked a few times, not twenty times over."""
    api = hurried.api
    assert api is not None
    api.always("add", behave.busy(503))
    hurried.start()
    for number in range(8):
        one_session(hurried, f"s{number}")
    hurried.until(lambda: len(api.requests("add")) >= 3, "no probe came")
    probes = api.requests("add")
    assert len(probes) <= WORKERS + 1 + (probes[-1].at - probes[0].at) / COOLDOWN_SECONDS
    api.always("add", None)
    hurried.until(lambda: batches_once(hurried) == 8 and hurried.is_quiet(), "not delivered")
    assert hurried.status()["jobs"]["dead"] == 0


def test_the_platform_coming_back_on_its_port_is_noticed(hurried: Home) -> None:
    """Connections refused for a while: delivered by itself soon after the platform listens again."""
    api = hurried.api
    assert api is not None
    hurried.start()
    api.refuse_connections()
    one_session(hurried)
    hurried.until(lambda: any(p["code"] == "offline" for p in hurried.status()["problems"]), "no problem told")
    api.accept_connections()
    hurried.until(lambda: batches_once(hurried) == 1 and hurried.is_quiet(), "not delivered")


def test_sigterm_during_a_hanging_call_is_clean_and_quick(hosted: Home) -> None:
    """The call in the air is cancelled, the handoff given back, exit 0 within 5 s, and delivered once after a start."""
    api = hosted.api
    assert api is not None
    api.script("add", behave.hang())
    hosted.start()
    one_session(hosted)
    api.wait_for(lambda fake: len(fake.requests("add")) == 1)
    began = time.monotonic()
    assert hosted.stop(signal.SIGTERM) == 0
    assert time.monotonic() - began < DEFAULT_WRITE_SECONDS - 1.0
    assert not list((hosted.spool() / "pending").glob("*.running"))
    assert len(list((hosted.spool() / "pending").glob("*.json"))) == 1
    hosted.start()
    hosted.until(lambda: batches_once(hosted) == 1 and hosted.is_quiet(), "not delivered")
