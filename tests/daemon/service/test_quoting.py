"""Paths and values as systemd reads them back; a real one reads them in tests/booted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.service import quoting
from daemon.service.quoting import Unquotable

SHELL = '/bin/sh -c "exec \\"$$0\\" \\"$$@\\"" '
"""Starts its arguments; systemd itself takes no such path for a program, as tests/booted has seen."""


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("/usr/bin/python3", "-P", "run"), "/usr/bin/python3 -P run"),
        (("/opt/my env/python", "run"), '"/opt/my env/python" run'),
        (("/opt/100%/python", "a;b", ""), '/opt/100%%/python "a;b" ""'),
        (("/opt/$HOME/python", "$x"), SHELL + "/opt/$$HOME/python $$x"),
        (('/opt/"q"\\/python',), SHELL + '"/opt/\\"q\\"\\\\/python"'),
    ],
)
def test_a_command_line(words: tuple[str, ...], line: str) -> None:
    """Blanks, quotes, percent and dollar signs come out as they went in."""
    assert quoting.command(words) == line


def test_an_assignment_is_quoted_whole_and_knows_no_dollar() -> None:
    """Only ExecStart= has variables."""
    assert quoting.assignment("A", 'x $y "z" 5%') == '"A=x $y \\"z\\" 5%%"'


@pytest.mark.parametrize("text", ["a\nExecStart=/bin/evil", "tab\t", "\x7f", "\udcff"])
def test_what_a_unit_cannot_hold_is_refused(text: str) -> None:
    """A line feed would begin a setting of its own."""
    with pytest.raises(Unquotable):
        quoting.command((text,))


@given(
    st.lists(
        st.text(st.characters(min_codepoint=32, blacklist_categories=["Cs"], blacklist_characters="\x7f")), min_size=1
    )
)
def test_a_command_reads_back(words: list[str]) -> None:
    """By the rules of systemd.syntax(7), for any words."""
    words[0] = "/" + words[0]
    assert _read(quoting.command(words))[-len(words) :] == words


def _read(line: str) -> list[str]:
    """Split and unescape as systemd does: quotes, backslashes, %% and $$."""
    words, at = [], 0
    while at < len(line):
        if line[at] == " ":
            at += 1
            continue
        word, is_quoted = "", line[at] == '"'
        at += is_quoted
        while at < len(line) and line[at] != ('"' if is_quoted else " "):
            pair = line[at : at + 2]
            if is_quoted and line[at] == "\\":
                word, at = word + line[at + 1], at + 2
            elif pair in ("%%", "$$"):
                word, at = word + line[at], at + 2
            else:
                word, at = word + line[at], at + 1
        at += is_quoted
        words.append(word)
    return words
