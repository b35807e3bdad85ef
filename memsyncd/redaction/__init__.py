"""Takes secrets out of text before anything is stored, sent or logged (facts 6; DESIGN promise 8)."""

from memsyncd.redaction.redactor import bounded, redact, redact_value
from memsyncd.redaction.remembering import RememberingRedactor
from memsyncd.redaction.replacement import REPLACEMENT

__all__ = ["REPLACEMENT", "RememberingRedactor", "bounded", "redact", "redact_value"]
