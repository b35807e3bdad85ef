"""What is to be known of a harness to read what its hooks send, as data. `reading.py` interprets it.

A harness is one `Adapter`, in a file of its own under `harnesses/`: a new one is a new file and a line in its table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum

Path = tuple[str | int, ...]
"""Where a value lies in the hook's JSON: keys and places in lists, from the outside in."""

Paths = tuple[Path, ...]
"""Where a value may lie; the first place that holds one counts."""


def keys(*names: str) -> Paths:
    """Return the paths of fields that lie at the top."""
    return tuple((name,) for name in names)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an event of a harness is: CONTRACT's action and reason."""

    action: str
    reason: str = ""


KEPT = Meaning("")
"""An event that is known and means nothing here: should one come it is kept as it is."""


def kept(text: str) -> Mapping[str, Meaning]:
    """Return the events named in `text`, to be kept."""
    return dict.fromkeys(text.split(), KEPT)


def names(text: str) -> frozenset[str]:
    """Return the names in `text`."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Fields:
    """Where what we look for lies. By default it is where Claude Code has it, whose names most share (section 0)."""

    event: Paths = (("hook_event_name",),)
    session: Paths = (("session_id",), ("conversation_id",))
    turn: Paths = (("prompt_id",),)
    project: Paths = (("cwd",),)
    transcript: Paths = (("transcript_path",),)
    source: Paths = (("source",),)
    model: Paths = (("model",),)
    prompt: Paths = (("prompt",),)
    answer: Paths = (("last_assistant_message",),)
    tool: Paths = (("tool_name",),)
    tool_input: Paths = (("tool_input",),)
    tool_response: Paths = (("tool_response",), ("tool_output",))
    tool_id: Paths = (("tool_use_id",),)
    error: Paths = (("error",),)
    duration_ms: Paths = (("duration_ms",),)
    interrupted: Paths = (("is_interrupt",),)
    agent_id: Paths = (("agent_id",),)
    agent_type: Paths = (("agent_type",),)
    agent_answer: Paths = (("last_assistant_message",),)
    agent_transcript: Paths = (("agent_transcript_path",),)


@dataclass(frozen=True, slots=True)
class Tools:
    """What a harness's tools are called and where they have what may be kept of them (facts 9.1 to 9.7).

    `files` touch one file, `edits` of them change it, `searches` look for something, `shells` run a command. `texts`
    are the keys of an edit's new text. `outputs` are keys of a response that hold what others call `output`. With
    `is_json_text` a response may be a text that holds JSON. `verdicts` are words of a response's `verdict_keys` that
    say whether it failed; `exit_told` is a pattern whose group is the exit code, at the end of one of the `outputs`;
    `verdicts_told` are patterns of how one of these, or a response that is a text, begins or ends where the tool has
    failed or has not; with `has_error_key` it has where its `error` says something. `success_event` comes only after
    success. `by_event` names the tool where the payload does not. `handback` is the tool by which a subagent hands over
    its report, in `message`.
    """

    files: frozenset[str] = frozenset({"Read", "Write", "Edit", "MultiEdit", "NotebookEdit"})
    edits: frozenset[str] = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
    searches: frozenset[str] = frozenset({"Grep", "Glob", "WebSearch", "WebFetch"})
    shells: frozenset[str] = frozenset({"Bash"})
    commands: tuple[str, ...] = ("command",)
    paths: tuple[str, ...] = ("file_path", "notebook_path", "path")
    texts: tuple[str, ...] = ("content", "new_string", "new_source")
    sought: tuple[str, ...] = ("pattern", "path", "query", "url")
    outputs: tuple[str, ...] = ()
    is_json_text: bool = False
    verdict_keys: tuple[str, ...] = ()
    verdicts: Mapping[str, bool] = field(default_factory=dict)
    exit_told: str = ""
    verdicts_told: Mapping[str, bool] = field(default_factory=dict)
    success_event: str = ""
    has_error_key: bool = False
    by_event: Mapping[str, str] = field(default_factory=dict)
    handback: str = ""


class ExitTwo(StrEnum):
    """What a harness makes of a hook that exits with 2, on at least one event."""

    BLOCKS = "blocks"
    WARNS = "warns"
    UNKNOWN = "unknown"
    NO_PROCESS = "no process"


@dataclass(frozen=True, slots=True)
class Ending:
    """What a harness does with a hook's end. Ours exit 0 and are quick; this says what would happen otherwise.

    `units_per_second` is of the time limit in its configuration: 1 for seconds, 1000 for milliseconds, 0 where there is
    no such setting. `default_seconds` is the limit of an entry without one, 0 where it is not known. `end_seconds` is
    what hooks have at a session's end where that is less. `silence_denies` and `failure_denies` are events at which no
    answer, or a failed hook, forbids what the agent was about to do: no hook of ours is registered there.
    """

    exit_two: ExitTwo = ExitTwo.BLOCKS
    units_per_second: int = 1
    default_seconds: float = 0.0
    end_seconds: float = 0.0
    silence_denies: frozenset[str] = frozenset()
    failure_denies: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Signature:
    """By what a payload is told to be this harness's though another's hook brought it: all fields of `has` are there
    and none of `lacks`. `hooks_of` are the harnesses whose hooks it is known to run."""

    hooks_of: frozenset[str]
    has: tuple[str, ...]
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Adapter:
    """One harness. `events` has every event that is known of it; `failures` those whose text is an error's.

    `familiar` are further fields known to hold nothing for us, so that new ones stand out: they are kept. `printed`
    tells for an action the form in which a context may be printed back (`context_output.FORMS`, which the drop reads);
    where there is none nothing is. `tells_end` says whether a hook tells a session's end at all. `known` are the
    fields that are no news; `texts` are those of them, and `inner_texts` the places further in, that hold a text.
    """

    name: str
    events: Mapping[str, Meaning]
    fields: Fields = field(default_factory=Fields)
    tools: Tools = field(default_factory=Tools)
    ending: Ending = field(default_factory=Ending)
    failures: frozenset[str] = frozenset()
    familiar: frozenset[str] = frozenset()
    printed: Mapping[str, str] = field(default_factory=dict)
    signatures: tuple[Signature, ...] = ()
    tells_end: bool = True
    known: frozenset[str] = field(init=False)
    texts: frozenset[str] = field(init=False)
    inner_texts: Paths = field(init=False)

    def __post_init__(self) -> None:
        read = {each.name: getattr(self.fields, each.name) for each in fields(self.fields)}
        others = {path for name in _OF_ANY_TYPE for path in read[name]}
        texts = {path for paths in read.values() for path in paths} - others
        known = self.familiar | {str(path[0]) for paths in read.values() for path in paths}
        object.__setattr__(self, "known", known)
        object.__setattr__(self, "texts", frozenset(str(path[0]) for path in texts if len(path) == 1))
        object.__setattr__(self, "inner_texts", tuple(sorted((path for path in texts if len(path) > 1), key=str)))


_OF_ANY_TYPE = frozenset({"tool_input", "tool_response", "error", "duration_ms", "interrupted"})
