"""Secrets that stand in the names of branches and folders."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memsyncd.redaction import REPLACEMENT
from tests.daemon.intake.ingesting import Ingesting

SECRET = "Branch" + "Tide991"


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Ingesting]:
    made = Ingesting(tmp_path)
    yield made
    made.close()


def test_a_secret_in_a_branch_or_folder_is_not_recorded(at: Ingesting, tmp_path: Path) -> None:
    """What is pinned for the session has the mark in its place; the repository's identity is as ever."""
    tree = tmp_path / "shop"
    git = tree / ".git"
    for folder in (git / "objects", git / "refs", tree / f"token={SECRET}" / "x"):
        folder.mkdir(parents=True)
    (git / "HEAD").write_text(f"ref: refs/heads/feature/password={SECRET}\n")
    at.prompt("q", cwd=str(tree / f"token={SECRET}" / "x"))
    assert at.scan() == 1
    with closing(sqlite3.connect(at.spool.evidence)) as connection:
        row = connection.execute("SELECT branch, directory, app_id, repo_id FROM session_scopes").fetchone()
        dump = "\n".join(connection.iterdump())
    assert row == (f"feature/password={REPLACEMENT}", f"token={REPLACEMENT}/x", "shop", f"local:{tree}")
    assert SECRET not in dump
