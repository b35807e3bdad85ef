"""What was forgotten cannot be read: one problem with a cure, live and from the files, and no spool is blamed."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from daemon.doctor import forgotten
from daemon.exchange.importing import import_from
from daemon.exchange.lines import ImportFailed
from daemon.forgetting.tombstones import NAME
from daemon.settings import Settings
from daemon.status.offline import offline_parts
from daemon.status.report import Phase, status_document
from tests.daemon.composed import Composed, composed
from tests.daemon.doctor.examined import examine_home, found
from tests.daemon.exchange.test_importing_lines import ROW

NEWER = b'{"v": 2, "tombstones": {}, "unfinished": []}'
KINDS = [(b"{torn", "forgotten-unreadable"), (b"", "forgotten-unreadable"), (NEWER, "forgotten-newer")]
"""What the file holds, and the problem's code."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        made.spool()
        made.upkeep.maintain()
        made.view.phase = Phase.RUNNING
        yield made


def told(home: Composed) -> list[str]:
    return [problem["code"] for problem in home.view.status()["problems"]]


@pytest.mark.parametrize(("content", "code"), KINDS)
def test_it_is_told_alone_until_it_is_over(home: Composed, content: bytes, code: str) -> None:
    """The handoff that waits is in its place, nothing else is wrong, and the log has one line."""
    path = home.places.data / NAME
    waiting = home.spool() / "pending" / "a.json"
    path.write_bytes(content)
    document = {"action": "user-prompt", "hook_input": {"session_id": "s", "cwd": "/w", "prompt": "hello"}}
    waiting.write_text(json.dumps(document))
    with capture_logs() as logged:
        home.parts.ingest.scan()
        home.upkeep.maintain()
        home.parts.ingest.scan()
    assert [line["event"] for line in logged if line["log_level"] == "error"] == [code]
    assert told(home) == [code]
    assert home.codes() == {code: str(path)}
    assert waiting.exists()
    path.rename(f"{path}.old")
    home.upkeep.maintain()
    home.parts.ingest.scan()
    assert told(home) == []
    assert not waiting.exists()


@pytest.mark.parametrize(("content", "code"), KINDS)
def test_without_a_daemon_status_and_doctor_tell_it(home: Composed, content: bytes, code: str) -> None:
    """In the same words, which name the file."""
    path = home.places.data / NAME
    environ = {"MEMSYNCD_HOME": str(home.places.data)}
    assert found(forgotten.probes(examine_home(home.root)))["forgotten"].ok
    path.write_bytes(content)
    [problem] = status_document(offline_parts(home.places, environ, now=home.parts.clock.wall()))["problems"]
    assert (problem["code"], problem["degrades"]) == (code, True)
    check = found(forgotten.probes(examine_home(home.root)))["forgotten"]
    assert (check.ok, check.message, check.remedy) == (False, problem["message"], problem["remedy"])
    assert str(path) in check.message
    assert path.read_bytes() == content


def test_a_closed_file_is_told_with_the_systems_word(home: Composed) -> None:
    """What lies there is no file at all: its owner has to look."""
    os.mkdir(home.places.data / NAME)
    check = found(forgotten.probes(examine_home(home.root)))["forgotten"]
    assert f"{home.places.data / NAME} cannot be read (Is a directory)" in check.message
    assert not found(forgotten.probes(examine_home(home.root, uid=os.getuid() + 1)))["forgotten"].ran


def test_an_import_names_the_file_that_keeps_it_from_going_on(home: Composed, tmp_path: Path) -> None:
    """And not the export, which is sound."""
    path = home.places.data / NAME
    path.write_bytes(b"{torn")
    export = tmp_path / "export.jsonl"
    export.write_text(json.dumps(ROW))
    with pytest.raises(ImportFailed, match=f"{path} is damaged; `memsyncd doctor`"):
        import_from(export, home.places, Settings())
