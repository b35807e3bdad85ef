"""Private keys that are cut off, on one line, or have words beside them. No real one: lines put together here."""

import pytest

from memsyncd.redaction import REPLACEMENT, redact

B = "-" * 5
BEGIN, END = f"{B}BEGIN OPENSSH PRIVATE KEY{B}", f"{B}END OPENSSH PRIVATE KEY{B}"
ONE = "iuItEnuj+hlrWB8gpj7ktsjs" + "0sW5uqSVZu9kK1V1miDZU4XcXF8cVGROoX9YE17s"
TWO = "b3BlbnNzaC1rZXktdjEAAAAA" + "BG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz"
LAST = "wJaevAszj0OvE" + "mM="

KEYS = [
    ("{BEGIN}\n{ONE}{ONE} in x", "{R} in x"),
    ("{BEGIN} {ONE} in x", "{R} in x"),
    ("{BEGIN}{ONE} in x", "{R} in x"),
    ("{BEGIN} {ONE} {TWO} {LAST} is the key", "{R} is the key"),
    ("{BEGIN}\n{ONE}\n{TWO}\n{LAST} and so on", "{R} and so on"),
    ("{BEGIN}\n{ONE}\n{TWO} is it\nmore", "{R} is it\nmore"),
    ("{BEGIN}\r\n{ONE}\r\n{LAST}, then", "{R}, then"),
    ("{BEGIN}\n{TWO}...", "{R}..."),
    ("{BEGIN}\n\n{ONE} in x", "{R} in x"),
    ("1: {BEGIN}\n2: {ONE} x\n", "1: {R} x\n"),
    ("{BEGIN}\nDEK-Info: x\n\n{ONE} in x", "{R} in x"),
    ("`{BEGIN} {ONE} {LAST}` ok", "`{R}` ok"),
    ('{{"a": "{BEGIN}\\n{ONE}\\n{TWO} in x"}}', '{{"a": "{R} in x"}}'),
    ("{BEGIN} {ONE} {TWO} {LAST} {END} x", "{R} x"),
    ("x {ONE} {TWO} {LAST} {END} y", "x {R} y"),
    ("{ONE}\n{TWO} {END}", "{R}"),
    ("it is\nthis {ONE}\n{END}", "it is\nthis {R}"),
    ("{ONE}{END}", "{R}"),
]

WORDS = [
    "{BEGIN} is how a key begins",
    "{BEGIN}\nis how a key begins",
    "look for {BEGIN} or the authentication fails",
    "{BEGIN}\ninternationalization is another matter",
    "grep '{BEGIN}' /home/bob/projects/thing/src/main.py",
    "{BEGIN}, AnotherNameOfCode and more",
    "it ends in {END}",
    "a file of version v1.2b {END}",
]


@pytest.mark.parametrize(("text", "expected"), KEYS)
def test_a_keys_lines_go_and_the_words_beside_them_stay(text: str, expected: str) -> None:
    """Whichever end is missing, and wherever the lines are broken."""
    redacted = redact(text.format(BEGIN=BEGIN, END=END, ONE=ONE, TWO=TWO, LAST=LAST))
    assert redacted == expected.format(R=REPLACEMENT)
    assert redact(redacted) == redacted


@pytest.mark.parametrize("text", WORDS)
def test_words_beside_a_marker_stay(text: str) -> None:
    """Sentences and code that only name the markers."""
    told = text.format(BEGIN=BEGIN, END=END)
    assert redact(told) == told
