"""What stands behind names that are also everyday words: `pass` of a test or of a person, `creds` told or spoken of."""

import re

from memsyncd.redaction.chance import is_duration, is_random_password
from memsyncd.redaction.literals import is_made_up, is_prose, is_reference
from memsyncd.redaction.names import PASS_OWNERS
from memsyncd.redaction.telling import Name, Secret

_USER = re.compile(
    r"(?i)(?:\b|_)(?:user(?:[_ -]?name)?|login|usr|account|e-?mail)[\"'`]?[ ]?[:=][ ]?[\"'`]?[\w.@+-]{1,40}[\"'`]?"
    r"\s{0,4}(?:[,;/|&]|and|with)?\s{0,8}(?:the )?\Z"
)
"""A name told right before: `user: admin, pass: …`."""

_OWNER = re.compile(r"(?i)\b(?:" + "|".join(sorted(PASS_OWNERS)) + r")[ ]\Z")
_LOOK_BACK = 100

_LOGIN = re.compile(
    r"\\{0,64}[\"'`]?\]?[ ]{0,4}(?P<sign>[:=]|is|are)?[ ]{0,4}\\{0,64}[\"'`]?"
    r"(?P<user>[\w.@+-]{1,64})(?P<between>:|[ ]?/[ ]?)(?P<secret>(?![:/])[^\s\"'`,;\\<>]{1,256})"
)
_CODE = re.compile(r"[\w-]+(?:\.[\w-]+)+|.*[(){}\[\]$]")

_MIN_WORD, _MIN_OWNED = 4, 6


def is_password(text: str, name: Name, value: str) -> bool:
    """Whether `value` behind a bare `pass`, `pwd` or `pw` is a password: it looks like one, or is somebody's."""
    word = value.rstrip(".,;:!?)") or value
    if is_random_password(word):
        return True
    if is_duration(word) or word[0] in "/~.":
        return False
    least = max(0, name.start - _LOOK_BACK)
    if _USER.search(text, least, name.start):
        return len(word) >= _MIN_WORD and not word.isdigit() and not is_prose(word)
    return len(word) >= _MIN_OWNED and is_made_up(word) and _OWNER.search(text, least, name.start) is not None


def login_after(text: str, name: Name) -> list[Secret]:
    """Return the password in `creds: admin:swordfish`."""
    found = _LOGIN.match(text, name.end)
    if found is None:
        return []
    word = found["secret"].rstrip(".!?:)") or found["secret"]
    tells = is_made_up(word)
    if found["between"] == ":" and found["sign"]:
        is_word = len(word) >= _MIN_WORD and not word.isdigit() and not is_prose(word)
        tells = tells or (is_word and _CODE.match(word) is None)
    if not tells or is_reference(word):
        return []
    return [Secret(found.start("secret"), found.start("secret") + len(word))]
