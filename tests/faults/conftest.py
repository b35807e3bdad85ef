"""Homes whose daemon meets faults, and what a machine has to let us do for it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import uncounted
from tests.end_to_end.conftest import Home, api, home, hosted
from tests.fakes.mem0_api import FakeMem0
from tests.faults.disks import FailingDisk, SmallDisk

__all__ = ("api", "home", "hosted")

REPOSITORY = Path(__file__).parents[2]
HURRIED = Path(__file__).with_name("hurried.py")

REQUIRED = "MEMSYNCD_REQUIRE_BOOT"
"""Set by `.ci/run`: what cannot be done there is a failure, not a skip."""

POWERS = "dac_override,dac_read_search,fowner,chown"
"""What lets root past owners and modes."""


def cannot(why: str) -> None:
    """Skip, and say why; or fail where the fault is required."""
    if os.environ.get(REQUIRED):
        pytest.fail(f"this fault cannot be made here, and {REQUIRED} is set: {why}")
    pytest.skip(f"this fault cannot be made here: {why}")


def need_root() -> None:
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        cannot("mounts and other users need root on Linux")


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every daemon here look often, uncounted, and keep what hooks leave in a run-time directory out of this machine's."""
    uncounted.leave_out(monkeypatch)
    plain = Home.__init__

    def made(self: Home, root: Path, api: FakeMem0 | None = None) -> None:
        plain(self, root, api)
        self.program = [sys.executable, str(HURRIED)]
        self.environ |= {"XDG_RUNTIME_DIR": str(root / "runtime"), "PYTHONPATH": str(REPOSITORY)}
        (root / "runtime").mkdir(mode=0o700)

    monkeypatch.setattr(Home, "__init__", made)


@pytest.fixture
def small_disk() -> Iterator[SmallDisk]:
    """Give a file system of its own, not yet mounted anywhere."""
    need_root()
    disk = SmallDisk()
    yield disk
    disk.close()


@pytest.fixture(scope="session")
def failing_disk_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile what stands between a process and the file system."""
    if not sys.platform.startswith("linux"):
        cannot("it is put before glibc's own functions")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        cannot("there is no C compiler")
        raise AssertionError
    library = tmp_path_factory.mktemp("failing") / "failing_disk.so"
    source = Path(__file__).with_name("failing_disk.c")
    done = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        cannot(f"the C compiler does not make it: {done.stderr[-500:]}")
    return library


@pytest.fixture
def failing_disk(failing_disk_library: Path, tmp_path: Path) -> FailingDisk:
    """Give a disk that is sound until it is told to fail."""
    return FailingDisk(failing_disk_library, tmp_path / "failing")


@pytest.fixture
def powerless(hosted: Home) -> Home:
    """Give a home whose daemon and hooks are held back by owners and modes, as those of any user are."""
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            cannot("setpriv is not installed")
        without = ",".join(f"-{power}" for power in POWERS.split(","))
        hosted.program = ["setpriv", f"--bounding-set={without}", *hosted.program]
    return hosted
