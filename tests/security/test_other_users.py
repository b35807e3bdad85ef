"""What somebody with another account on the same machine may do: nothing. Root stands for both, and becomes the other
in a process of its own."""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Home

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

NOBODY = 65534
PRIVATE = "quokkas" + "gather"
"""What was said, put together so that it stands nowhere else."""

ATTEMPTS = """
import json, os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
root, got = sys.argv[1], []
paths = json.loads(sys.stdin.read())
for path in paths:
    for what, flags in (("read", os.O_RDONLY), ("written", os.O_WRONLY), ("made", os.O_WRONLY | os.O_CREAT)):
        try:
            os.close(os.open(path, flags | os.O_NONBLOCK))
            got.append([what, path])
        except OSError:
            pass
    for what, act in (("listed", os.listdir), ("removed", os.unlink), ("linked", lambda p: os.link(p, "/tmp/l-%d" % os.getpid())),
                      ("renamed", lambda p: os.rename(p, p + "x")), ("planted", lambda p: os.symlink("/etc", p + ".planted"))):
        try:
            act(path)
            got.append([what, path])
        except OSError:
            pass
    connected = socket.socket(socket.AF_UNIX)
    try:
        connected.connect(path)
        got.append(["connected", path])
    except OSError:
        pass
for entry in os.listdir("/proc"):
    for name in ("cmdline", "environ"):
        try:
            got.append(["told", open(f"/proc/{entry}/{name}").read()]) if entry.isdigit() else None
        except OSError:
            pass
print(json.dumps(got))
"""


def attempt(home: Home, paths: list[Path]) -> list[list[str]]:
    """Try everything on each path as somebody else; return what was possible."""
    done = subprocess.run(
        [sys.executable, "-c", ATTEMPTS, str(home.root)],
        input=json.dumps([str(path) for path in paths]),
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    found: list[list[str]] = json.loads(done.stdout)
    return found


def test_nothing_of_ours_is_read_written_listed_or_planted_beside(home: Home) -> None:
    """With a home that everybody may enter: no file, no directory, no FIFO, no socket, while the daemon runs; and no
    command line or environment that is told to everybody holds the key or a word that was said."""
    key = home.root / "key"
    key.write_text("m0-" + PRIVATE)
    key.chmod(0o600)
    home.root.chmod(0o755)
    home.environ["MEMSYNCD_PLATFORM_API_KEY_FILE"] = str(key)
    home.environ["MEMSYNCD_PLATFORM_KIND"] = "local"
    home.start()
    home.exchange("s", 1, prompt=f"Where do the {PRIVATE}?", answer="By the lighthouse.")
    home.end("s")
    home.until_quiet()
    paths = [home.places.data, *home.places.data.rglob("*"), key]
    assert home.places.status_socket in paths and home.places.nudge in paths
    got = attempt(home, paths)
    assert [each for each in got if each[0] != "told"] == []
    told = "".join(text for what, text in got if what == "told")
    assert "daemon" in told  # it was looked at
    assert PRIVATE not in told


@pytest.fixture
def planted() -> Iterator[Path]:
    """Give a directory as /tmp is: everybody's to write, sticky."""
    place = Path(tempfile.mkdtemp(prefix="m-", dir="/tmp"))
    place.chmod(0o1777)
    yield place
    shutil.rmtree(place)


def _theirs(path: Path, mode: int = 0o777) -> Path:
    path.mkdir()
    path.chmod(mode)
    os.chown(path, NOBODY, NOBODY)
    return path


def _left(path: Path) -> set[str]:
    return {str(each.relative_to(path)) for each in path.rglob("*")}


@pytest.mark.parametrize("what", ["", "spools", "spools/claude-code", "spools/claude-code/pending", "run"])
@pytest.mark.parametrize("how", ["directory", "link"])
def test_a_place_that_another_user_made_first_gets_nothing(home: Home, planted: Path, what: str, how: str) -> None:
    """In a directory that everybody may write: the hook leaves nothing there and harms no agent, the daemon says 78
    and what is in the way, and nothing behind the link is touched."""
    data = planted / "m"
    trap = _theirs(planted / "trap")
    for part in Path(what).parents if what else ():
        (data / part).mkdir(parents=True, exist_ok=True, mode=0o700)
    place = data / what
    if how == "link":
        place.symlink_to(trap)
        os.lchown(place, NOBODY, NOBODY)
    else:
        _theirs(place)
    before = _left(planted)
    home.environ["MEMSYNCD_HOME"] = str(data)
    home.exchange("s", 1, prompt=PRIVATE)
    done = home.run("run", "--once", timeout=60)
    assert _left(trap) == set()
    if what in ("", "run", "spools"):
        assert done.returncode == 78
        assert str(place) in done.stderr
    theirs = {name for name in _left(planted) - before if (planted / name).is_relative_to(place)}
    assert theirs == set()


def test_a_command_in_another_user_s_settings_is_not_run(home: Home, planted: Path) -> None:
    """A home under /tmp that another user made first, with a settings file of his own: nothing that it says is done."""
    data = _theirs(planted / "m", 0o755)
    mark = planted / "mark"
    settings = data / "config.toml"
    settings.write_text(f'[platform]\nkind = "mem0"\napi_key_command = "touch {mark}"\n')
    os.chown(settings, NOBODY, NOBODY)
    home.environ["MEMSYNCD_HOME"] = str(data)
    for arguments in (("run", "--once"), ("doctor",), ("status",), ("search", "x"), ("config", "check"), ("export",)):
        done = home.run(*arguments)
        assert "Traceback" not in done.stderr
    assert not mark.exists()
    assert home.run("config", "check").returncode == 78


def test_what_lies_in_a_spool_by_another_user_s_link_is_not_followed(home: Home, planted: Path) -> None:
    """A configured spool may be everybody's: what is no plain file there is neither opened nor waited for."""
    spool = planted / "codex-plugin"
    (spool / "pending").mkdir(parents=True)
    for place in (spool, spool / "pending"):
        place.chmod(0o1777)
    secret = home.root / "secret.json"
    secret.write_text(json.dumps({"hook_input": {"session_id": "s", "prompt": PRIVATE}, "action": "user-prompt"}))
    (spool / "pending" / "a.json").symlink_to(secret)
    os.mkfifo(spool / "pending" / "b.json")
    os.mkfifo(spool / "pending" / "c.running")
    (spool / "pending" / "d.running").symlink_to("/dev/zero")
    (spool / "pending" / "e.json").symlink_to("/dev/zero")
    for path in (spool / "pending").iterdir():
        os.lchown(path, NOBODY, NOBODY)
    home.environ["MEM0_CODE_DATA_DIR"] = str(spool)
    home.start()
    home.exchange("ours", 1)
    home.end("ours")
    home.until(lambda: home.status()["counters"].get("packets_delivered"), "ours was not delivered")
    held = b"".join(path.read_bytes() for path in home.places.data.rglob("*.sqlite3*"))
    assert PRIVATE.encode() not in held
    assert stat.S_ISLNK((spool / "pending" / "a.json").lstat().st_mode)
