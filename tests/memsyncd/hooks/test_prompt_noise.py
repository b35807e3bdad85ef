"""A person's words are told from what a harness puts into a prompt."""

import pytest

from memsyncd.hooks.prompt_noise import persons_words


@pytest.mark.parametrize(
    ("prompt", "words", "element"),
    [
        ("fix <b>it</b>", "fix <b>it</b>", ""),
        ("  indented\n", "  indented\n", ""),
        ("<task-notification>done</task-notification>", "", "task-notification"),
        ("<local-command-stdout>x</local-command-stdout>\n", "", "local-command-stdout"),
        ("<local-command-caveat>Caveat: y", "", "local-command-caveat"),
        ("<command-name>/go</command-name>\n<command-args>now</command-args>", "", "command-name"),
        ("<system-reminder>a</system-reminder>\n\nmy words", "my words", "system-reminder"),
        ('<system-reminder id="1">a</system-reminder>my words', "my words", "system-reminder"),
        ("my words <system-reminder>a</system-reminder>", "my words <system-reminder>a</system-reminder>", ""),
        ("<system-reminders> are what?", "<system-reminders> are what?", ""),
        ("<!-- attach: notes.txt -->\nread this", "read this", ""),
        ("<!-- a comment of mine --> why?", "<!-- a comment of mine --> why?", ""),
        ("", "", ""),
    ],
)
def test_elements_at_the_head_go_and_the_rest_stays(prompt: str, words: str, element: str) -> None:
    """The harness's own elements at the head of a prompt go, what a person wrote stays as it is."""
    assert persons_words(prompt) == (words, element)


def test_many_elements_take_no_time() -> None:
    """A prompt of a hundred thousand elements is looked through once."""
    assert persons_words("<system-reminder>a</system-reminder>" * 100_000 + "x") == ("x", "system-reminder")
