"""A throw-away home to install into."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from daemon.installing.hooks import Around


@pytest.fixture
def home(tmp_path: Path) -> Path:
    directory = tmp_path / "home"
    directory.mkdir(mode=0o700)
    return directory


@pytest.fixture
def around(home: Path) -> Around:
    return Around(home, {}, os.geteuid())


Write = Callable[[str, str], Path]


@pytest.fixture
def write(home: Path) -> Write:
    """Write a file below the home, to the byte, and return its path."""

    def writing(name: str, text: str) -> Path:
        path = home / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    return writing
