"""A secret that inputs carry and no output may. It is put together at run time; in files stands a mark in its place."""

MARK = b"@PLANTED@"

BODY = "Zq7" + "Vn4kR9w" * 5
SECRET = "ghp" + "_" + BODY

TELLTALE = BODY[:20]
"""What must be nowhere: a part is a leak too."""


def into(content: bytes) -> bytes:
    """Return `content` with the secret in place of each mark, behind a blank: a prefix within a word is no secret's."""
    return content.replace(MARK, b" " + SECRET.encode())


def assert_absent(*outputs: object) -> None:
    """Raise AssertionError where the secret is in one of the outputs, whatever they are."""
    for output in outputs:
        text = output if isinstance(output, str) else repr(output)
        if TELLTALE in text:
            at = text.index(TELLTALE)
            raise AssertionError(f"a secret got out: …{text[max(0, at - 80) : at + 12]!r}…")
