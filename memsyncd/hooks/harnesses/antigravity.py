"""Google Antigravity (1E): camelCase, no event's name, no prompt and no answer: both are read from the transcript.

PreInvocation comes before each call of the model; only its command line says which event it is. No event tells a
session's end, and a subagent is a conversation of its own.
"""

from memsyncd.hooks.adapter import Adapter, Ending, Fields, Meaning, kept, keys, names

ADAPTER = Adapter(
    name="antigravity",
    events={
        "SessionStart": Meaning("session-start"),  # of some builds
        "PreInvocation": Meaning("user-prompt"),
        "Stop": Meaning("stop"),
        **kept("PostInvocation PreToolUse PostToolUse"),
    },
    fields=Fields(
        session=keys("conversationId"),
        turn=(),
        project=(("workspacePaths", 0), ("cwd",)),
        transcript=keys("transcriptPath"),
        model=keys("modelName"),
        tool=(("toolCall", "name"),),
        tool_input=(("toolCall", "args"),),
        tool_id=(),
        agent_id=(),
        agent_type=(),
    ),
    ending=Ending(default_seconds=30, silence_denies=frozenset({"PreToolUse"})),
    familiar=names(
        "artifactDirectoryPath agentName invocationNum initialNumSteps stepIdx executionNum terminationReason fullyIdle"
    ),
    printed={"user-prompt": "injectSteps"},
    tells_end=False,
)
