"""Names and texts as somebody would choose them who wants to reach past the program that shows or keeps them."""

from pathlib import Path

ESCAPES = "\x1b[31mred\x1b]0;title\x07\x9b2J"
UNSEEN = "\u202egnp\u2066\u200b\U000e0041"
SHELL = "$(touch touched) `touch touched` 'q\" ; touch touched & | %s %n ${HOME}"
NAME = f"..{ESCAPES}{UNSEEN} {SHELL}"
"""A directory's name, without a slash."""

LINES = "first\nsecond\r\nthird\u2028fourth\x85fifth"


def tree(place: Path, *, config: str = "", head: str = "ref: refs/heads/main\n") -> Path:
    """Make what git takes for a repository, without git."""
    for name in ("objects", "refs"):
        (place / ".git" / name).mkdir(parents=True)
    (place / ".git" / "HEAD").write_text(head, encoding="utf-8")
    (place / ".git" / "config").write_text(config, encoding="utf-8")
    return place


def odd(text: str) -> str:
    """Return the characters of an output by which a terminal could be steered or a reader misled."""
    return "".join(sorted({letter for letter in text if not letter.isprintable() and letter != "\n"}))
