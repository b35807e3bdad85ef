"""A tool's file, told relative to the repository."""

from pathlib import PurePosixPath, PureWindowsPath

from hypothesis import example, given
from hypothesis import strategies as st

from memsyncd.packets.tool_use import relative

PARTS = st.sampled_from(["", ".", "..", "~", "~ada", "a", "b.py", "C:", "x\\y", "ünï", "...", "a b", ".git"])
PATHS = st.lists(PARTS, max_size=5).map("/".join)


def as_the_path_library_has_it(path: str, root: str) -> str:
    """Say the same part by part, with nothing taken for granted."""
    kind = PureWindowsPath if PureWindowsPath(path).drive or PureWindowsPath(root).drive else PurePosixPath
    place, base = kind(path), kind(root)
    if place.is_absolute():
        if not root or not place.is_relative_to(base):
            return ""
        place = place.relative_to(base)
    text = place.as_posix()
    return "" if text == "." or text.startswith("~") or ".." in place.parts else text


@given(path=PATHS, root=PATHS, below=st.booleans())
@example(path="src/a.py", root="/w/shop", below=True)
@example(path="/w/shopping/a.py", root="/w/shop", below=False)
def test_a_path_is_relative_whatever_way_it_is_told(path: str, root: str, *, below: bool) -> None:
    path = f"{root}/{path}" if below else path

    assert relative(path, root) == as_the_path_library_has_it(path, root)


def test_outside_the_repository_there_is_nothing_to_tell() -> None:
    assert relative("/w/shop/src/a.py", "/w/shop") == "src/a.py"
    assert relative("/w/shopping/a.py", "/w/shop") == ""
    assert relative("/w/shop/../secret", "/w/shop") == ""
    assert relative("C:\\w\\shop\\a.py", "C:\\w\\shop") == "a.py"
