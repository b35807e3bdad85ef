"""Redaction that remembers a text for a while: a tool's output passes when it is cut and when it is stored."""

from memsyncd.redaction.redactor import redact

LONGEST = 4_096
MOST = 2_000
"""Characters of a text that is remembered, and how many are: 16 MB at the worst, until `forget`."""


class RememberingRedactor:
    """Called like `redact`, with the same results. Not for several threads at once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """Return `text` redacted."""
        known = self._known.get(text)
        if known is None:
            known = redact(text)
            if len(text) <= LONGEST and len(self._known) < MOST:
                self._known[text] = self._known[known] = known
        return known

    def forget(self) -> None:
        """Remember nothing any more: the texts are as they came, secrets and all."""
        self._known.clear()
