"""What becomes of hook input that is not one plain JSON object in UTF-8: kept, as well as it can be.

Loaded only then, so it may use `json`. It runs from Python 3.9 on (`drop.py`).
"""

import json

from memsyncd.hooks import standard_input

MAX_RAW = 1 << 16
"""Characters of text kept where it is no JSON object (issue 2, item 2)."""

BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
REPAIRED = ', "repaired": true'


class OversizedInputError(ValueError):
    """More came than is kept."""


class NotAJSONObjectError(ValueError):
    """What came is no JSON object."""


def document(raw: bytes, size: int, oddities: list[BaseException]) -> tuple[bytes, str]:
    """Return the value of `hook_input`, in UTF-8, and further members of the handoff, each behind a comma.

    `size` is how many bytes came, of which `raw` may be the head. A byte-order mark goes, UTF-16 becomes UTF-8, half
    surrogates and undecodable bytes become U+FFFD; the member `repaired` says that they did (never-again 113). Text
    that is no JSON object becomes the member `raw`.
    """
    text, repaired = decode(raw)
    if size > len(raw):
        oddities.append(OversizedInputError())
        head = {"memsyncd_oversized": True, "bytes": size, "head": text[: standard_input.HEAD]}
        return json.dumps(head).encode("ascii"), ""
    if not text.strip():
        return b"{}", ""
    plain = text.strip(standard_input.SPACE).encode("utf-8")
    if standard_input.is_plain(plain):
        return plain, REPAIRED if repaired else ""
    try:
        # Line breaks inside strings pass here, and numbers that JSON does not know become null.
        value = json.loads(text, strict=False, parse_constant=lambda _name: None)
        if isinstance(value, dict):
            inner, halves = without_halves(json.dumps(value, ensure_ascii=False, allow_nan=False))
            return inner.encode("utf-8"), REPAIRED if repaired or halves else ""
    except (ValueError, RecursionError):
        pass
    oddities.append(NotAJSONObjectError())
    return b"{}", ', "raw": ' + json.dumps(text[:MAX_RAW])


def decode(raw: bytes) -> tuple[str, bool]:
    """Return the text of `raw`, and whether something in it had to be replaced."""
    encoding = "utf-8"
    for mark, named in BYTE_ORDER_MARKS:
        if raw.startswith(mark):
            raw, encoding = raw[len(mark) :], named
            break
    else:
        if raw[1:2] == b"\0":
            encoding = "utf-16-le"
        elif raw[:1] == b"\0":
            encoding = "utf-16-be"
    try:
        return without_halves(raw.decode(encoding, "surrogatepass"))
    except UnicodeDecodeError:
        return raw.decode(encoding, "replace"), True


def without_halves(text: str) -> tuple[str, bool]:
    """Return `text` with each pair of surrogates joined and each half replaced, and whether there was a half."""
    units = text.encode("utf-16-le", "surrogatepass")
    try:
        return units.decode("utf-16-le"), False
    except UnicodeDecodeError:
        return units.decode("utf-16-le", "replace"), True
