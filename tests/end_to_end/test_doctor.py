"""The doctor beside a real daemon: well, hung, killed, refused."""

import json
import os
import signal
import time
from typing import Any

from tests.end_to_end.conftest import Home
from tests.standing_still import stand_still


def examined(home: Home, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = home.run("doctor", "--json", "--cwd", str(home.project), *arguments)
    assert done.stderr == ""
    return done.returncode, {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def failures(checks: dict[str, Any]) -> list[str]:
    return [name for name, check in checks.items() if not check["ok"]]


def test_beside_a_daemon_that_is_well(home: Home) -> None:
    """Every check passes, the deep ones too, and the daemon delivers as before."""
    home.start()
    home.exchange("s", 1)
    home.end("s")
    home.until_quiet()
    code, checks = examined(home, "--deep")
    assert (code, failures(checks)) == (0, [])
    assert "answers in" in checks["socket"]["message"]
    assert checks["memory"]["ran"]
    assert "is kept as shop" in checks["repository"]["message"]
    home.exchange("s", 2)
    home.end("s")
    home.until_quiet()


def test_a_daemon_that_hangs_is_told_in_time(home: Home) -> None:
    """Its lock is held and it does not answer: that is told within the bound, and no check waits for it."""
    daemon = home.start()
    stand_still(daemon.pid)
    try:
        begun = time.monotonic()
        code, checks = examined(home)
        assert time.monotonic() - begun < 45
    finally:
        os.kill(daemon.pid, signal.SIGCONT)
    assert (code, failures(checks)) == (1, ["socket"])
    assert f"pid {daemon.pid}" in checks["lock"]["message"]


def test_without_a_daemon_what_waits_is_told(home: Home) -> None:
    """After a kill the socket is debris and no fault; a handoff that lies for long fails, with what to type."""
    home.start()
    home.stop(signal.SIGKILL)
    code, checks = examined(home)
    assert (code, failures(checks)) == (0, [])
    assert "the next replaces it" in checks["socket"]["message"]
    home.exchange("s", 1)
    long_ago = time.time() - 600
    for path in (home.spool() / "pending").glob("*.json"):
        os.utime(path, (long_ago, long_ago))
    code, checks = examined(home)
    assert (code, failures(checks)) == (1, ["daemon"])
    assert "2 handoffs wait" in checks["daemon"]["message"]


def test_the_hosted_platform_and_a_wrong_key(hosted: Home) -> None:
    """The round trip passes with the key, deep too, and fails with another; the key is never shown."""
    code, checks = examined(hosted, "--deep")
    assert (code, failures(checks)) == (0, [])
    assert "took the key" in checks["authentication"]["message"]
    assert "deleted" in checks["memory"]["message"]
    hosted.environ["MEM0_API_KEY"] = secret = "m0-" + "wrong" * 6
    code, checks = examined(hosted)
    assert (code, failures(checks)) == (1, ["authentication"])
    assert secret not in json.dumps(checks)
