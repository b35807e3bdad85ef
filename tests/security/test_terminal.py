"""What a terminal is given: words, whatever a project, a session, a file or a memory is called."""

import os
import shlex
import stat
from pathlib import Path

import pytest

from daemon.doctor import directories, project
from daemon.doctor.directories import Place
from daemon.installing import config_file
from daemon.installing.errors import Unsafe
from memsyncd.evidence.event import Scope
from tests.end_to_end.conftest import Home
from tests.security.hostile import ESCAPES, NAME, UNSEEN, odd, tree

SESSION = f"s{ESCAPES}{UNSEEN}"


def test_no_command_passes_on_what_steers_a_terminal(home: Home) -> None:
    """A project, a branch, a session, a waiting file, a memory and an argument all hold escapes and unseen characters;
    what is printed holds none, and nothing was run."""
    home.project = tree(home.root / NAME, head="ref: refs/heads/b\u202e\u2066x\n")
    home.start()
    common = {"session_id": SESSION, "cwd": str(home.project), "prompt_id": "p"}
    memory = f"We decided that the zanzibar {ESCAPES} bucket {UNSEEN} holds the invoices."
    home.hook("user-prompt", {**common, "prompt": memory})
    home.hook("stop", {**common, "last_assistant_message": f"Noted. {ESCAPES}"})
    home.hook("flush", common, reason="session-end")
    home.until_quiet()
    os.mkfifo(home.spool() / "pending" / f"{ESCAPES}.json")
    (home.spool() / "pending" / f"x{ESCAPES}.json").write_text("{")
    here = str(home.project)
    found = home.run("search", "zanzibar bucket", "--cwd", here)
    assert "zanzibar" in found.stdout
    shown = [
        found,
        *(
            home.run(*arguments, cwd=here)
            for arguments in (
                ("status",),
                ("doctor",),
                ("jobs", "list"),
                ("jobs", "show", f"x{ESCAPES}"),
                ("pause", "--project", here),
                ("status",),
                ("resume", "--project", here),
                ("forget", "--cwd", here),
                ("forget", "--session", SESSION),
                ("hooks", "install", "--harness", "claude-code", "--project", here),
                ("hooks", "list", "--project", here),
                ("export",),
                ("flush", "--session", SESSION),
                ("import", f"x{ESCAPES}"),
                (f"x{ESCAPES}",),
            )
        ),
    ]
    assert [each.args for each in shown if odd(each.stdout + each.stderr)] == []
    assert odd(home.logged()) == ""
    assert not any(path.name == "touched" for path in home.root.rglob("*"))


def test_a_command_to_be_typed_has_a_path_as_one_word(tmp_path: Path) -> None:
    """Whoever could name a directory could else have a command of his own typed along."""
    path = f"/srv/{NAME}"
    closed, opened = stat.S_IFREG | 0o600, stat.S_IFDIR | 0o755
    told = [
        directories.modes([Place(path, is_directory=True, mode=opened)], 0),
        directories.directories([Place(path, is_directory=True, mode=closed)], 0),
        directories.directories([Place(path, is_directory=True, mode=opened, writable=False)], 0),
        directories.directories([Place(path, is_directory=True, mode=opened, uid=1)], 0),
        directories.directories([Place(path, is_directory=True, error="no")], 0),
    ]
    for check in told:
        assert shlex.quote(path) in check.remedy
    broken = project.repository(
        path, Scope(f"local:{path}", "x"), broken=f"{path}/.git", is_repository=False, held=None
    )
    assert shlex.quote(f"{path}/.git") in broken.remedy
    assert "git -C" not in broken.remedy  # which would run what the repository says


def test_a_refused_directory_is_quoted_in_the_command_that_mends_it(tmp_path: Path) -> None:
    """It may be a stranger's project."""
    place = tmp_path / NAME
    place.mkdir()
    place.chmod(0o777)
    with pytest.raises(Unsafe) as refused:
        config_file.read(place / "settings.json", os.geteuid(), is_private=True)
    assert shlex.quote(str(place)) in str(refused.value)
