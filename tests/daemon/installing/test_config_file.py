"""Whose a file is, how it is replaced, and what keeps us from it."""

import grp
import os
import pwd
import resource
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.installing import config_file, hooks
from daemon.installing.change import Change
from daemon.installing.errors import CannotInstall, Unreachable, Unsafe, Unwritten
from daemon.installing.harnesses import HARNESSES
from daemon.installing.hooks import Around
from tests.daemon.installing.conftest import Write

CLAUDE = HARNESSES["claude-code"]
SETTINGS = ".claude/settings.json"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o444])
def test_the_mode_is_kept(mode: int, around: Around, write: Write) -> None:
    """The file and its backup have the mode the file had; no other file is left."""
    path = write(SETTINGS, "{}")
    path.chmod(mode)
    change = hooks.install(CLAUDE, around)
    assert change.backup == path.with_name("settings.json.before-memsyncd")
    assert change.backup.read_text() == "{}"
    assert sorted(path.parent.iterdir()) == [path, change.backup]
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {mode}


def test_a_link_is_followed_and_stays_one(around: Around, home: Path, write: Write) -> None:
    """A file kept elsewhere, as by people who keep their settings in git, is changed there."""
    real = write("dotfiles/claude.json", '{"a": 1}')
    (home / ".claude").mkdir()
    link = home / SETTINGS
    link.symlink_to(real)
    hooks.install(CLAUDE, around)
    assert link.is_symlink()
    assert "memsyncd" in real.read_text()
    assert os.listdir(real.parent) == ["claude.json"]
    hooks.uninstall(CLAUDE, around)
    assert link.is_symlink()
    assert real.read_text() == '{"a": 1}'


def test_a_link_into_nothing_gets_its_file_and_keeps_it_no_longer(around: Around, home: Path) -> None:
    """The file is made where the link leads, and taken away again; the link stays."""
    (home / ".claude").mkdir()
    (home / "elsewhere").mkdir()
    link = home / SETTINGS
    link.symlink_to(home / "elsewhere" / "s.json")
    hooks.install(CLAUDE, around)
    assert (home / "elsewhere" / "s.json").is_file()
    hooks.uninstall(CLAUDE, around)
    assert os.listdir(home / "elsewhere") == []
    assert link.is_symlink()


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("claude-code", '{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ("codex", "[[hooks]]", "line 1"),
        ("kimi", 'a = 1\nb = "x\n', "line 2"),
        ("kimi", "hooks = 5\n", "no array"),
        ("kimi", "[hooks]\na = 1\n", "no array"),
        ("claude-code", '{"hooks": []}', "no object"),
        ("claude-code", '{"hooks": {"Stop": {}}}', "no list"),
        ("claude-code", "[]", "no object"),
        ("antigravity", '{"memsyncd": {"Stop": [{"command": "x"}]}}', "did not write"),
        ("antigravity", "5", "no object"),
        ("antigravity", "{} // mine", "ignore all of it"),
        ("antigravity", "\ufeff{}", "ignore all of it"),
        ("antigravity", '{"enabled": true}', "enabled, which is no object"),
        ("antigravity", '{"a": null}', "a, which is no object"),
        ("antigravity", '{"a": {"enabled": 1}}', "neither true nor false"),
        ("antigravity", '{"a": {"Stop": {}}}', "a.Stop, which is no list"),
        ("antigravity", '{"a": {"PostToolUse": [{"matcher": "*", "hooks": {}}]}}', "a.PostToolUse, in which"),
        ("antigravity", '{"a": {"Stop": [{"command": "x", "timeout": 1.5}]}}', "a.Stop, which has a handler"),
        ("antigravity", '{"a": {"Stop": [{"type": "command", "command": "x", "model": "m"}]}}', "a.Stop, which has"),
        ("opencode", "export const mine = 1;", "did not write"),
    ],
)
def test_what_cannot_be_changed_is_left_alone(name: str, text: str, place: str, around: Around, write: Write) -> None:
    """The sentence names the file and the place in it, and every byte is as before."""
    path = write(str(HARNESSES[name].file(around.root, {}, is_project=False)), text)
    with pytest.raises(CannotInstall, match=place) as told:
        hooks.install(HARNESSES[name], around)
    assert str(path) in str(told.value)
    assert path.read_bytes() == text.encode()
    assert os.listdir(path.parent) == [path.name]


def test_bytes_that_are_no_text_are_left_alone(around: Around, write: Write) -> None:
    """A file in another encoding is not guessed at; the place is told."""
    path = write(SETTINGS, "")
    path.write_bytes(b'{\n "a": "\xe9"}')
    with pytest.raises(CannotInstall, match="line 2, column 8: not UTF-8"):
        hooks.install(CLAUDE, around)
    assert hooks.look(CLAUDE, around).state == "unreadable"


def test_another_user_s_file_is_refused(home: Path, write: Write) -> None:
    """As under sudo: the file keeps its owner and its content."""
    path = write(SETTINGS, "{}")
    path.parent.chmod(0o755)
    other = Around(home, {}, os.geteuid() + 1)
    with pytest.raises(Unsafe, match="belongs to user"):
        hooks.install(CLAUDE, other)
    assert path.read_text() == "{}"


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o757])
def test_a_directory_that_others_can_write_is_refused(mode: int, around: Around, write: Write) -> None:
    """Whoever can put a file there chooses what the agent runs."""
    path = write(SETTINGS, "{}")
    path.parent.chmod(mode)
    with pytest.raises(Unsafe, match="chmod go-w"):
        hooks.install(CLAUDE, around)
    assert path.read_text() == "{}"


def test_a_user_s_own_group_may_write(around: Around, write: Write) -> None:
    """Many systems give each user a group, and a umask that lets it write: nobody else is in it."""
    user = pwd.getpwuid(os.geteuid())
    if grp.getgrgid(user.pw_gid).gr_name != user.pw_name:
        pytest.skip("this user has no group alone")
    path = write(SETTINGS, "{}")
    os.chown(path.parent, -1, user.pw_gid)
    path.parent.chmod(0o770)
    assert hooks.install(CLAUDE, around).changed


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a directory away")
@pytest.mark.parametrize(("owner", "group", "mode"), [(-1, 54321, 0o770), (54321, -1, 0o755)])
def test_a_directory_that_is_somebody_else_s_is_refused(
    owner: int, group: int, mode: int, around: Around, write: Write
) -> None:
    """By its owner, or by a group that may write there."""
    path = write(SETTINGS, "{}")
    path.parent.chmod(mode)
    os.chown(path.parent, owner, group)
    with pytest.raises(Unsafe, match=r"go-w|user 54321"):
        hooks.install(CLAUDE, around)


def test_a_missing_directory_is_judged_by_the_one_above(around: Around, home: Path) -> None:
    """The first directory that is there decides, and nothing is made where it is refused."""
    home.chmod(0o777)
    with pytest.raises(Unsafe, match="chmod go-w"):
        hooks.install(CLAUDE, around)
    assert os.listdir(home) == []


def test_what_is_no_file_is_refused(around: Around, home: Path) -> None:
    """A directory, or a pipe that would keep us waiting, is in the way."""
    (home / ".claude").mkdir()
    os.mkfifo(home / SETTINGS)
    with pytest.raises(Unsafe, match="no ordinary file"):
        hooks.install(CLAUDE, around)
    (home / SETTINGS).unlink()
    (home / SETTINGS).mkdir()
    with pytest.raises(Unsafe, match=r"settings\.json is no ordinary file"):
        hooks.install(CLAUDE, around)


@pytest.mark.parametrize("name", [SETTINGS, ".claude"])
def test_what_cannot_be_reached_is_named(name: str, around: Around, home: Path) -> None:
    """Links that go in a circle, in the file's place and in its directory's: the sentence has the file and the reason."""
    path = home / name
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(path.name)
    for work in (hooks.install, hooks.uninstall):
        with pytest.raises(Unreachable, match="symbolic links") as told:
            work(CLAUDE, around)
        assert str(home / SETTINGS) in str(told.value)
    found = hooks.look(CLAUDE, around)
    assert found.state == "unreadable"
    assert "Errno" not in found.problems[0]


def test_a_harness_that_is_not_there_is_absent_whoever_s_home_it_is(around: Around, home: Path) -> None:
    """Ten harnesses that nobody has are no faults of a home; one that is there, and another's to change, is."""
    home.chmod(0o777)
    assert hooks.look(CLAUDE, around).state == "absent"
    with pytest.raises(Unsafe):
        hooks.install(CLAUDE, around)
    (home / ".claude").mkdir(mode=0o777)
    (home / ".claude").chmod(0o777)
    assert hooks.look(CLAUDE, around).state == "unreadable"


def test_a_disk_that_takes_no_more_leaves_nothing_behind(around: Around, write: Write) -> None:
    """The file is as it was, and no backup of it is left beside it; the sentence names the file, not our own of the
    moment."""
    path = write(SETTINGS, "{}")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(Unreachable, match=r"settings\.json cannot be changed: File too large"):
            hooks.install(CLAUDE, around)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_text() == "{}"
    assert os.listdir(path.parent) == [path.name]


def test_a_path_that_is_no_text_is_refused(around: Around, write: Write) -> None:
    """A home named in another encoding cannot be written into such a file."""
    path = write(SETTINGS, "{}")
    with pytest.raises(CannotInstall, match=r"settings\.json: .* no UTF-8"):
        hooks.install(CLAUDE, replace(around, data="/home/\udcff"))
    assert path.read_text() == "{}"


def test_a_change_by_another_program_is_not_overwritten(around: Around, write: Write) -> None:
    """What the harness wrote between our reading and our writing stays."""
    path = write(SETTINGS, "{}")
    file = config_file.read(path, around.uid, is_private=True)
    path.write_text('{"new": 1}')
    with pytest.raises(Unwritten, match="another program"):
        config_file.write(file, b"ours")
    with pytest.raises(Unwritten, match="another program"):
        config_file.delete(file)
    assert path.read_text() == '{"new": 1}'
    assert os.listdir(path.parent) == ["settings.json"]


@pytest.mark.parametrize("before", ["{}", None])
def test_what_does_not_read_as_written_is_put_back(
    before: str | None, around: Around, home: Path, write: Write
) -> None:
    """On a disk that loses what it is given, the file is as it was."""
    path = home / SETTINGS if before is None else write(SETTINGS, before)
    file = config_file.read(path, around.uid, is_private=True)
    with pytest.raises(Unwritten, match="put back"):
        config_file.write(file, b"ours", look=lambda _: b"")
    assert config_file.content_of(path) == (None if before is None else before.encode())


def test_a_backup_is_the_file_before_the_first_of_ours(around: Around, write: Write) -> None:
    """Installing over an older version of ours keeps the backup from before it."""
    path = write(SETTINGS, '{"a": 1}')
    backup = hooks.install(CLAUDE, around).backup
    assert backup is not None
    path.write_text(path.read_text().replace('"timeout": 5', '"timeout": 7'))
    assert hooks.install(CLAUDE, around).backup == backup
    assert backup.read_text() == '{"a": 1}'


@pytest.mark.parametrize("before", ['{"a": 1}', None])
def test_of_several_at_the_same_time_one_changes_the_file(
    before: str | None, around: Around, home: Path, write: Write
) -> None:
    """The others find it done, none fails, and the backup is what was there before all of them."""
    for _ in range(5):
        path = home / SETTINGS if before is None else write(SETTINGS, before)
        together = threading.Barrier(6)

        def one(together: threading.Barrier = together) -> Change:
            together.wait(60)
            return hooks.install(CLAUDE, around)

        with ThreadPoolExecutor(6) as pool:
            changes = [each.result() for each in [pool.submit(one) for _ in range(6)]]
        assert sum(change.changed for change in changes) == 1
        backup = path.with_name(f"{path.name}.before-memsyncd")
        assert config_file.content_of(backup) == (None if before is None else before.encode())
        with ThreadPoolExecutor(6) as pool:
            assert sum(each.changed for each in pool.map(lambda _: hooks.uninstall(CLAUDE, around), range(6))) == 1
        assert config_file.content_of(path) == (None if before is None else before.encode())
        assert not backup.exists()


def test_a_change_that_does_not_end_is_told(around: Around, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was stopped half-way keeps nobody for ever."""
    path = write(SETTINGS, "{}")
    monkeypatch.setattr(config_file, "LOCK_SECONDS", 0.05)
    with config_file.alone(path, around.uid, is_private=True), pytest.raises(Unwritten, match="try again"):
        hooks.install(CLAUDE, around)
    assert path.read_text() == "{}" and hooks.install(CLAUDE, around).changed


def test_a_backup_that_holds_ours_is_not_what_was_before(around: Around, write: Write) -> None:
    """One that somebody copied there from an installed file would bring ours back; it is not believed."""
    path = write(SETTINGS, '{"a": 1}')
    hooks.install(CLAUDE, around)
    path.with_name("settings.json.before-memsyncd").write_bytes(path.read_bytes())
    hooks.uninstall(CLAUDE, around)
    assert path.read_text() == '{"a": 1}'
