"""A file's content is read, and nothing that is none is waited for or followed."""

import errno
import os
from pathlib import Path

import pytest

from memsyncd.regular_file import content


def test_the_content_up_to_a_limit(tmp_path: Path) -> None:
    """More is left unread."""
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    assert content(path, 100) == b"0123456789"
    assert content(path, 4) == b"0123"
    assert content(path, 0) == b""


@pytest.mark.timeout(10)
@pytest.mark.parametrize("kind", ["pipe", "directory", "device", "endless device"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    """A pipe without a writer, and a device without an end, would hold their reader for ever."""
    path = tmp_path / "file"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/null")
        case _:
            path.symlink_to("/dev/zero")
    with pytest.raises(OSError) as refused:
        content(path, 1 << 30)
    assert refused.value.errno in (errno.EINVAL, errno.EISDIR)


def test_a_link_is_followed_where_that_is_wanted(tmp_path: Path) -> None:
    """A person's own configuration may be one; what another may have put in a spool is not looked through."""
    (tmp_path / "real").write_bytes(b"x")
    link = tmp_path / "link"
    link.symlink_to("real")
    assert content(link, 10) == b"x"
    with pytest.raises(OSError) as refused:
        content(link, 10, follow=False)
    assert refused.value.errno == errno.ELOOP


def test_what_is_not_there_says_so(tmp_path: Path) -> None:
    """Its class is the usual one."""
    with pytest.raises(FileNotFoundError):
        content(tmp_path / "none", 10)
