"""What a hook asks, taken from the same handoff and by the same adapter as what is recorded of it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from daemon.intake.document import TornError, handoff_from
from memsyncd.hooks import looking
from memsyncd.hooks.adapters import adapter_of, directory_of, harness_of, records_for, session_of
from memsyncd.hooks.dropping import MAX_HARNESS, NAME_CHARACTERS
from memsyncd.hooks.handoff import Handoff, NotAHandoffError
from memsyncd.hooks.record import UNKNOWN_SESSION, Record
from memsyncd.lifecycle.capture import prepare_user_text

PROMPT, SUBAGENT_START = "user-prompt", "subagent-start"


class NotAQuestion(ValueError):
    """The body cannot be asked with; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Question:
    """Whose prompt it is. `prompt` is a person's words as they may leave the machine, "" where there are none; then the
    session's transcript may hold them.

    With an `agent_id` a subagent asks; it may be told what its parent was shown. One without a type is none that a
    person's agent has begun but the harness's own (hooks-and-apis 1A): it gets nothing.
    """

    harness: str
    session_id: str
    prompt: str = ""
    cwd: str = ""
    agent_id: str = ""
    agent_type: str = ""
    transcript_path: str = ""

    @property
    def session(self) -> tuple[str, str]:
        """What tells the session from those of other harnesses."""
        return self.harness, self.session_id


def question_from(body: bytes) -> Question:
    """Return the question in a JSON body: a handoff, of which `harness` and `hook_input` are enough.

    Raises NotAQuestion.
    """
    try:
        handoff = handoff_from(body, stem="")
    except (TornError, NotAHandoffError) as error:
        raise NotAQuestion(f"The body is no handoff with harness and hook_input: {error}.") from error
    harness = handoff.harness
    if not 0 < len(harness) <= MAX_HARNESS or harness[0] == "-" or not NAME_CHARACTERS.issuperset(harness):
        raise NotAQuestion("harness is up to 40 small letters, digits and hyphens, such as claude-code.")
    if handoff.action not in (PROMPT, SUBAGENT_START):
        handoff = replace(handoff, action=PROMPT)
    if harness_of(handoff, harness) != harness:
        # another harness ran the hook: it would not take this one's form, and its own hook asks for itself
        return Question(harness, UNKNOWN_SESSION)
    return _question(handoff, records_for(handoff, harness))


def _question(handoff: Handoff, records: Sequence[Record]) -> Question:
    record = records[0] if records else _of_nothing(handoff)
    agent_type = handoff.hook_input.get("agent_type")
    prompt = record.payload.get("prompt")
    return Question(
        handoff.harness,
        record.session_id,
        prepare_user_text(prompt) if isinstance(prompt, str) and handoff.action == PROMPT else "",
        record.cwd,
        record.agent_id,
        agent_type if isinstance(agent_type, str) else "",
        record.transcript_path,
    )


def _of_nothing(handoff: Handoff) -> Record:
    """Return a record of whose hook it was that tells nothing by itself."""
    hook, at = handoff.hook_input, adapter_of(handoff.harness).fields
    transcript = looking.text(hook, at.transcript)
    return Record("", session_of(handoff), cwd=directory_of(handoff), transcript_path=transcript)
