"""The model as the daemon composes it: off unless its address is set."""

import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from daemon.extracting.running import UNUSED
from daemon.extracting.starting import at_start
from daemon.settings.schema import Extractor
from daemon.status.problems import problems
from jobs.job import JobState
from jobs.left_to_model import extract_job
from jobs.outcomes import Cool, Done
from jobs.queue.claims import JobContext
from memsyncd.platforms.platform import Batch, Message
from tests.daemon.composed import Composed, composed

KEY = "sk" + "-" + "0" * 12
SET_UP = {"MEMSYNCD_EXTRACTOR_URL": "http://localhost:9/v1", "MEMSYNCD_EXTRACTOR_MODEL": "tiny"}
DESTINATION = "extractor:http://localhost:9/v1"


def test_without_an_address_there_is_no_model(tmp_path: Path) -> None:
    """The rules make every memory, at once, and nothing is left to anybody."""
    with composed(tmp_path) as made:
        assert made.parts.model is None
        assert "extract" not in made.parts.handlers
        accepted = made.parts.platform.add(batch())
        assert made.parts.platform.extraction(accepted.event_id).memories == 1


@pytest.mark.parametrize("kind", ["mem0", "mem0-server"])
def test_another_platform_makes_its_memories_itself(tmp_path: Path, kind: str) -> None:
    """Nothing goes to the model besides."""
    variables = {"MEMSYNCD_PLATFORM_KIND": kind, "MEMSYNCD_PLATFORM_URL": "http://localhost:9"}
    with composed(tmp_path, **SET_UP, **variables) as made:
        assert made.parts.model is None


def test_with_an_address_an_accepted_batch_is_left_to_the_model(tmp_path: Path) -> None:
    """Its job stands in the queue under the endpoint's name."""
    with composed(tmp_path, **SET_UP) as made:
        accepted = made.parts.platform.add(batch())
        (job,) = made.jobs("extract")
        assert (job.destination, job.state) == (DESTINATION, JobState.READY)
        assert not made.parts.platform.extraction(accepted.event_id).state.is_terminal
        assert "extract" in made.parts.handlers
        assert made.parts.platform.longest_call_seconds == 80.0


def test_the_wait_ends_well_before_the_extractions(tmp_path: Path) -> None:
    """However long it is set, a flush does not run out of time for it."""
    variables = {"MEMSYNCD_EXTRACTOR_WAIT_SECONDS": "500", "MEMSYNCD_FLUSH_EXTRACTION_WAIT_SECONDS": "40"}
    with composed(tmp_path, **SET_UP, **variables) as made:
        assert made.parts.model is not None
        assert made.parts.model.extracting.wait_seconds == 30.0


def test_a_start_without_the_model_leaves_none_of_its_jobs(tmp_path: Path) -> None:
    """They would wait for a worker that knows their kind."""
    with composed(tmp_path) as made:
        job = extract_job("e1", DESTINATION)
        made.parts.queue.enqueue(job)
        at_start(made.parts.queue, made.parts.model)
        known = made.parts.queue.get(job.id)
        assert known is not None
        assert known.state is JobState.CANCELLED


def test_a_start_with_it_takes_up_what_waited(tmp_path: Path) -> None:
    """Also what was accepted before there was a model."""
    with composed(tmp_path, **SET_UP) as made:
        made.parts.platform.on_accepted = lambda _: None  # type: ignore[attr-defined]
        made.parts.platform.add(batch())
        assert made.jobs("extract") == []
        at_start(made.parts.queue, made.parts.model)
        assert len(made.jobs("extract")) == 1


def fail(made: Composed, code: str, *, parked: bool = False) -> None:
    made.parts.platform.add(batch())
    claim = made.parts.queue.claim()
    assert claim is not None
    assert claim.job.kind == "extract"
    made.parts.queue.finish(claim, Cool(DESTINATION, "nobody is there", code, parked=parked))


def told(made: Composed) -> Mapping[str, tuple[str, bool]]:
    return {each.code: (each.message, each.degrades) for each in problems(made.view.status_parts())}


def test_a_model_that_is_away_is_told_and_is_no_ill_health(tmp_path: Path) -> None:
    """The rules go on, and the status says where the model should be."""
    with composed(tmp_path, **SET_UP) as made:
        fail(made, "offline")
        message, degrades = told(made)["extractor-away"]
        assert "http://localhost:9/v1" in message
        assert "nobody is there" in message
        assert not degrades
        assert made.upkeep.is_all_done(lambda: 0), "`run --once` does not wait for it"


def test_a_model_that_is_no_help_is_told_until_it_is(tmp_path: Path) -> None:
    """With the reason, in one problem however often."""
    with composed(tmp_path, **SET_UP) as made:
        model = made.parts.model
        assert model is not None
        for _ in range(3):
            model.extracting.report("its answer cannot be used: it is no JSON")
        message, degrades = told(made)[UNUSED]
        assert "it is no JSON" in message
        assert not degrades
        model.extracting.report("")
        assert UNUSED not in told(made)


def test_a_changed_key_is_taken_up_by_itself(tmp_path: Path) -> None:
    """Without waiting for the rare probe of a refused key."""
    key = tmp_path / "key"
    key.write_text(KEY)
    key.chmod(0o600)
    with composed(tmp_path, **SET_UP, MEMSYNCD_EXTRACTOR_API_KEY_FILE=str(key)) as made:
        model = made.parts.model
        assert model is not None
        fail(made, "key-refused", parked=True)
        model.look()
        assert model.extracting.is_away()
        key.write_text(KEY + "1")
        model.look()
        assert not model.extracting.is_away()


def test_the_key_is_shown_nowhere(tmp_path: Path) -> None:
    """Neither the settings nor what holds them print it, nor the address with a password in it."""
    settings = Extractor(url=f"http://u:{KEY}@localhost:9", model="tiny", api_key=KEY)
    assert KEY not in repr(settings)
    with composed(tmp_path, **SET_UP, MEMSYNCD_EXTRACTOR_API_KEY=KEY) as made:
        assert KEY not in repr(made.parts.settings)
        assert KEY not in str(made.view.status())


def test_a_job_of_another_endpoint_asks_nobody(tmp_path: Path) -> None:
    """Its batch has, or will have, a job of the present one."""
    with composed(tmp_path, **SET_UP) as made:
        made.parts.queue.enqueue(extract_job("e1", "extractor:http://elsewhere"))
        claim = made.parts.queue.claim()
        assert claim is not None
        assert made.parts.model is not None
        outcome = made.parts.model.run(JobContext(claim.job, threading.Event()))
        assert outcome == Done("the settings name another model by now")


def test_none_of_its_code_is_loaded_without_it(tmp_path: Path) -> None:
    """It costs a daemon that has no model no memory."""
    script = (
        "import sys; from pathlib import Path; from tests.daemon.composed import composed\n"
        f"with composed(Path({str(tmp_path)!r})): pass\n"
        "print([name for name in sys.modules if name.startswith(('memsyncd.extracting', 'jobs.extract', 'jobs.left'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "['jobs.extractions']"


def batch() -> Batch:
    said = [
        Message("user", "From now on we always use PostgreSQL 16 for the orders service."),
        Message("assistant", "Noted."),
    ]
    return Batch("p1", 0, said, "ada", "team-tool", "team-tool-0123", "s1", {})
