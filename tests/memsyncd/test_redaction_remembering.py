"""Redaction that remembers finds what plain redaction finds."""

from memsyncd.redaction import REPLACEMENT, RememberingRedactor, redact, redact_value

KEY = "sk-" + "a1B2" * 8
TEXTS = (f"use {KEY} here", "nothing to hide", "", f"use {KEY} here", "password=" + "hunter2hunter2", REPLACEMENT)


def test_it_returns_what_plain_redaction_does_every_time() -> None:
    remembering = RememberingRedactor()

    assert [remembering(text) for text in TEXTS * 2] == [redact(text) for text in TEXTS * 2]


def test_a_value_is_redacted_by_it_too() -> None:
    value = {"tool": "Bash", "env": [{"name": "API_KEY", "value": "v" * 9}], "said": TEXTS[0], KEY: 1}

    assert redact_value(value, RememberingRedactor()) == redact_value(value) == redact_value(value)
    assert KEY not in str(redact_value(value, RememberingRedactor()))


def test_it_forgets_the_texts_as_they_came() -> None:
    remembering = RememberingRedactor()
    remembering(TEXTS[0])

    remembering.forget()

    assert KEY not in str(vars(remembering))
