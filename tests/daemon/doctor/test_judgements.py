"""Each judgement over measured values: what is well, what is not, and that whatever is not has a remedy."""

import stat
from typing import Any

import pytest

from daemon.clock_trust import Seen
from daemon.doctor import account, configuration, directories, machine, project, running, service
from daemon.doctor.check import Check
from daemon.doctor.database_file import Looked
from daemon.doctor.databases import KNOWN, LONG_LOG_BYTES, database
from daemon.doctor.directories import Place
from daemon.lock import Holder
from daemon.service.state import ServiceState
from daemon.status_socket import client
from memsyncd.evidence.event import Scope
from memsyncd.platforms.platform import (
    Busy,
    KeyRefused,
    NoAnswer,
    NotUnderstood,
    PlatformError,
    QuotaExceeded,
    Unreachable,
)
from memsyncd.version import __version__

NOW = 1_800_000_000.0
DIRECTORY, FILE, SOCKET = stat.S_IFDIR | 0o700, stat.S_IFREG | 0o600, stat.S_IFSOCK | 0o600
WELL, ILL, SKIPPED = (True, True), (False, True), (True, False)
RUNNING = ServiceState("systemd --user", "running", pid=7, enabled=True, linger=True)


def judged(check: Check) -> tuple[bool, bool]:
    assert check.message
    assert check.ok or check.remedy, check
    return check.ok, check.ran


def place(path: str = "/d", mode: int | None = DIRECTORY, **more: Any) -> Place:
    return Place(path, is_directory=True, mode=mode, **more)


def daemon_document(state: str, **more: Any) -> dict[str, Any]:
    return {"version": __version__, "state": state, "summary": "Nothing waits.", **more}


def configured(*, exists: bool = True, **told: Any) -> Check:
    return configuration.configuration("/c", exists=exists, **{"faults": (), "warnings": (), "cures": {}, **told})


@pytest.mark.parametrize(
    ("check", "verdict", "words"),
    [
        (machine.python((3, 11, 7), "/p", "3.40", has_full_text=True), WELL, "3.11.7"),
        (machine.python((3, 10, 1), "/p", "3.40", has_full_text=True), ILL, "3.10.1"),
        (machine.python((3, 12, 0), "/p", "3.40", has_full_text=False), ILL, "FTS5"),
        (machine.clock(NOW, None), WELL, "2027"),
        (machine.clock(0.0, None), ILL, "1970"),
        (machine.clock(NOW, ("/q", NOW + 86_400 * 3)), ILL, "/q was written 3 days in the future"),
        (machine.clock(NOW, ("/q", NOW + 10)), WELL, ""),
        (machine.clock(NOW, None, Seen(NOW - 86_400.0)), WELL, ""),
        (machine.clock(NOW, None, Seen(NOW - 30 * 86_400.0)), WELL, "30 days after"),
        (machine.clock(NOW, None, Seen(NOW - 3_652 * 86_400.0)), ILL, "3,652 days after"),
        (configured(), WELL, "/c is right"),
        (configured(exists=False, warnings=("w",)), WELL, "w"),
        (configured(warnings=("w", "/p is no directory."), cures={"/p is no directory.": "Take it out."}), ILL, "/p"),
        (configured(faults=("line 3: no.",)), ILL, "line 3"),
        (configured(warnings=("/c can be read.",), cures={"/c can be read.": "`chmod 600 /c`"}), ILL, "can be read"),
        (directories.directories([], 1), SKIPPED, "none yet"),
        (directories.directories([place(uid=1)], 1), WELL, "1 directories"),
        (directories.directories([place(uid=1, mode=None), place(uid=1)], 1), WELL, ""),
        (directories.directories([place(uid=0)], 1), ILL, "belongs to root"),
        (directories.directories([place(uid=1, mode=FILE)], 1), ILL, "no directory"),
        (directories.directories([place(uid=1, writable=False)], 1), ILL, "cannot be written"),
        (directories.directories([place(mode=None, error="Input/output error")], 1), ILL, "Input/output"),
        (directories.modes([place(uid=1)], 1), WELL, ""),
        (directories.modes([place(uid=1, mode=stat.S_IFDIR | 0o755)], 1), ILL, "/d has mode 0755"),
        (directories.modes([place(uid=1, mode=stat.S_IFLNK | 0o777)], 1), SKIPPED, ""),
        (directories.modes([place(uid=2, mode=stat.S_IFDIR | 0o755)], 1), SKIPPED, ""),
        (directories.modes([place(str(n), uid=1, mode=stat.S_IFDIR | 0o770) for n in range(5)], 1), ILL, "and 2 more"),
        (directories.disk("/d", kind="ext4", free=1 << 40, free_inodes=10_000), WELL, "ext4"),
        (directories.disk("/d", kind="", free=1 << 40, free_inodes=None), WELL, ""),
        (directories.disk("/d", kind="nfs4", free=1 << 40, free_inodes=10_000), ILL, "nfs4"),
        (directories.disk("/d", kind="ext4", free=1 << 20, free_inodes=10_000), ILL, "1 MB free"),
        (directories.disk("/d", kind="ext4", free=1 << 40, free_inodes=3), ILL, "3 inodes"),
        (database("d", "queue", Looked("/q", exists=False)), SKIPPED, "no /q yet"),
        (database("d", "queue", Looked("/q", unreadable="Permission denied")), SKIPPED, "Permission"),
        (database("d", "queue", Looked("/q", error="file is not a database")), ILL, "not a database"),
        (database("d", "queue", Looked("/q", versions={"queue": 99})), ILL, "of version 99"),
        (database("d", "memory", Looked("/m", versions={"memories": 1, "notes": 99})), ILL, "notes"),
        (database("d", "memory", Looked("/m", versions={"memories": 1})), WELL, "brought to"),
        (database("d", "evidence", Looked("/e", faults=("row 7 missing",))), ILL, "row 7"),
        (database("d", "evidence", Looked("/e", versions={"evidence": KNOWN["evidence"]["evidence"]}, log_bytes=LONG_LOG_BYTES + 1)), ILL, "write-ahead"),
        (database("d", "evidence", Looked("/e", is_whole=False)), SKIPPED, "too large"),
        (database("d", "foreign", Looked("/e", bytes=2048)), WELL, "2.0 KB"),
        (running.lock_file("/l", None, None, is_held=False), WELL, "free"),
        (running.lock_file("/l", FILE, Holder(7, "r", ""), is_held=True), WELL, "pid 7"),
        (running.lock_file("/l", FILE, None, is_held=True), WELL, "did not say"),
        (running.lock_file("/l", stat.S_IFLNK | 0o777, None, is_held=False), ILL, "in the way"),
        (running.socket("/s", is_held=True, mode=SOCKET, failure=None, seconds=0.004, note=" (n)"), WELL, "4 ms (n)"),
        (running.socket("/s", is_held=False, mode=None, failure=client.NotRunning("x"), seconds=0), SKIPPED, "no daemon runs"),
        (running.socket("/s", is_held=False, mode=SOCKET, failure=client.NotRunning("x"), seconds=0), SKIPPED, "the next replaces it"),
        (running.socket("/s", is_held=True, mode=None, failure=client.NotRunning("x"), seconds=0), ILL, "holds the lock"),
        (running.socket("/s", is_held=False, mode=FILE, failure=client.NotRunning("x"), seconds=0), ILL, "no socket"),
        (running.socket("/s", is_held=True, mode=SOCKET, failure=client.TimedOut("slow"), seconds=3), ILL, "slow"),
        (running.socket("/s", is_held=True, mode=SOCKET, failure=client.OtherProtocol("v2"), seconds=0), ILL, "v2"),
        (running.socket("/s", is_held=True, mode=SOCKET, failure=client.NotOurs("bob's"), seconds=0), ILL, "bob's"),
        (running.socket("/s", is_held=True, mode=SOCKET, failure=client.ClientError("odd"), seconds=0), ILL, "odd"),
        (running.progress(daemon_document("ok")), WELL, "ok: Nothing waits."),
        (running.progress(daemon_document("paused")), WELL, "paused"),
        (running.progress(daemon_document("degraded", problems=[{"message": "It is stuck.", "remedy": "Pull."}])), ILL, "stuck"),
        (running.progress(daemon_document("degraded")), ILL, "does not say why"),
        (running.progress({"version": "0.0.1", "state": "ok"}), ILL, "version 0.0.1 runs"),
        (running.left_alone(0, 0, is_paused=False), SKIPPED, "nothing waits"),
        (running.left_alone(0, 0, is_paused=False, unsent=2), SKIPPED, "but 2 recorded events"),
        (running.left_alone(2, 10, is_paused=False), SKIPPED, ""),
        (running.left_alone(2, 7200, is_paused=False), ILL, "2 handoffs wait, the oldest for 2 h"),
        (running.left_alone(2, 7200, is_paused=True), SKIPPED, ""),
        (project.repository("/w", Scope("git.example.org/a", "a"), broken="", is_repository=True, held=None), WELL, "git.example.org/a is kept as a"),
        (project.repository("/w", Scope("local:/w", "w"), broken="", is_repository=True, held=None), WELL, "no remote"),
        (project.repository("/w", Scope("local:/w", "w"), broken="", is_repository=False, held=None), WELL, "in no repository"),
        (project.repository("/w", Scope("local:/w", "w"), broken="", is_repository=False, held="paused"), WELL, "paused"),
        (project.repository("/w", Scope("local:/w", "w"), broken="/w/.git", is_repository=False, held=None), ILL, "/w/.git"),
        (project.repository("/w", Scope("a", "team-a"), broken="", is_repository=True, held=None, named="*"), ILL, "team-a is used instead"),
    ],
)  # fmt: skip
def test_what_was_measured_is_judged_and_told(check: Check, verdict: tuple[bool, bool], words: str) -> None:
    """The verdict fits the values, the message says what was measured, and a failure says what to do."""
    assert judged(check) == verdict
    assert words in check.message


@pytest.mark.parametrize(
    ("state", "more", "verdict"),
    [
        (RUNNING, {}, WELL),
        (ServiceState("systemd --user", "starting", enabled=True), {}, WELL),
        (ServiceState("systemd --user", "not installed"), {}, SKIPPED),
        (ServiceState("systemd --user", "failed", why="exit 78", remedy="`x`"), {}, ILL),
        (ServiceState("systemd --user", "stopped", enabled=True), {}, ILL),
        (ServiceState("systemd --user", "running", enabled=False), {}, ILL),
        (RUNNING, {"other_failed": ["memsyncd.path"]}, ILL),
        (RUNNING, {"only_in_shell": ["platform.url is set here."]}, ILL),
    ],
)
def test_a_service_is_judged_by_how_it_stands(
    state: ServiceState, more: dict[str, Any], verdict: tuple[bool, bool]
) -> None:
    """None is no fault; one that failed, was stopped, does not come back or sees too little is."""
    whole: dict[str, Any] = {"only_in_shell": (), "is_held": False, "other_failed": (), **more}
    assert judged(service.service(state, **whole)) == verdict


@pytest.mark.parametrize(
    ("active", "linger", "verdict"),
    [("running", True, WELL), ("running", False, ILL), ("running", None, SKIPPED), ("not installed", False, SKIPPED)],
)
def test_a_service_that_ends_with_the_logout_is_told(
    active: str, linger: bool | None, verdict: tuple[bool, bool]
) -> None:
    """A user's service without lingering delivers nothing once nobody is logged in."""
    check = service.lingering(ServiceState("systemd --user", active, linger=linger), "ada")
    assert judged(check) == verdict
    assert check.ok or "enable-linger ada" in check.remedy


@pytest.mark.parametrize(
    ("check", "verdict", "words"),
    [
        (account.user_id("ada", "MEM0_USER_ID", {"MEM0_USER_ID": "ada"}, ()), WELL, "ada, from MEM0_USER_ID"),
        (account.user_id("ada", "USER", {"MEM0_CODE_USER_ID": "*", "USER": "ada"}, ()), ILL, "ada, from USER is used instead"),
        (account.user_id("ada", "the account's name", {"MEM0_USER_ID": " ** "}, ()), ILL, "MEM0_USER_ID is a wildcard"),
        (account.user_id("ada", "MEM0_CODE_USER_ID", {"MEM0_CODE_USER_ID": "ada", "MEM0_USER_ID": "*"}, ()), WELL, ""),
        (account.user_id("default", "default", {}, ()), ILL, "everybody's"),
        (account.user_id("ada", "", {}, ("platform.user_id (c:3) is a wildcard.",)), ILL, "c:3"),
    ],
)  # fmt: skip
def test_a_user_id_is_one_users(check: Check, verdict: tuple[bool, bool], words: str) -> None:
    """A wildcard fails and the fallback is named (facts 14.5); so does the last resort, which is everybody's."""
    assert judged(check) == verdict
    assert words in check.message


EXPOSED = "api_key_file /k can be read by other users: `chmod 600 /k`."


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (account.key("local", "", (), is_found=False, mode=None, is_service=False), WELL),
        (account.key("mem0", "api_key_file /k", (), is_found=True, mode=FILE, is_service=True), WELL),
        (account.key("mem0", "", (), is_found=False, mode=None, is_service=False), ILL),
        (account.key("mem0", "", ("api_key_file /k: no.",), is_found=False, mode=None, is_service=False), ILL),
        (account.key("mem0", "api_key_file /k", (EXPOSED,), is_found=True, mode=None, is_service=False), ILL),
        (account.key("mem0", "MEM0_API_KEY", (), is_found=True, mode=None, is_service=False), WELL),
        (account.key("mem0", "MEM0_API_KEY", (), is_found=True, mode=None, is_service=True), ILL),
        (account.key("mem0", "", (), is_found=False, mode=None, is_service=True, is_edge=True), WELL),
        (
            account.key(
                "mem0", "", ("api_key_file /k: no.",), is_found=False, mode=None, is_service=False, is_edge=True
            ),
            ILL,
        ),
        (account.key("mem0-server", "", (), is_found=False, mode=None, is_service=False), WELL),
    ],
)
def test_a_key_is_judged_by_where_it_is(check: Check, verdict: tuple[bool, bool]) -> None:
    """No key, one that others can read, and one that only this shell has."""
    assert judged(check) == verdict


@pytest.mark.parametrize(
    "failure",
    [KeyRefused("no", status=401), QuotaExceeded("no"), Unreachable("no"), NoAnswer("no"), Busy("no", status=503), NotUnderstood("no"), PlatformError("no" * 900)],
)  # fmt: skip
def test_every_way_a_round_trip_fails_has_a_remedy_and_is_short(failure: PlatformError) -> None:
    """Error detail is at most 300 characters (facts 14.4)."""
    check = account.authentication("mem0", "https://api.example.org", failure, 0.1)
    assert judged(check) == ILL
    assert len(check.message) < 360


def test_a_round_trip_tells_where_and_how_long() -> None:
    """Its message says what was measured."""
    check = account.authentication("mem0", "https://api.example.org", None, 0.0421)
    assert check.message == "mem0 at https://api.example.org took the key and answered in 42 ms"


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/home/ada/x", "nfs"), ("/home/adam", "ext4"), ("/mnt/my disk/x", "cifs"), ("/x", "ext4"), ("/home/ada", "nfs")],
)
def test_the_file_system_is_that_of_the_nearest_mount(path: str, kind: str) -> None:
    """Blanks in mount points are octal, and a name that only begins alike is another place."""
    table = "/dev/a / ext4 rw 0 0\nsrv:/h /home/ada nfs rw 0 0\nsrv:/m /mnt/my\\040disk cifs rw 0 0\nbroken\n"
    assert directories.mounted(table, path) == kind
