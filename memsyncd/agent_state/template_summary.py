"""A summary of messages without a model: the last ones, shortened."""

from memsyncd.agent_state.records import MemoryMessage


class TemplateSummaryGenerator:
    """A SummaryGenerator: a line for each of the last `max_messages`, cut to `max_message_chars` characters.

    A line is `- [user]: text`, or `- [assistant]: text` for whoever is not the user. A bound below 0 is 0.
    """

    def __init__(self, max_messages: int = 20, max_message_chars: int = 200) -> None:
        self._max_messages = max(max_messages, 0)
        self._max_message_chars = max(max_message_chars, 0)

    def summarize(self, messages: list[MemoryMessage]) -> str:
        """Return the summary of `messages`, oldest first; empty where there is nothing to say."""
        first = max(len(messages) - self._max_messages, 0)
        return "\n".join(self._line(message) for message in messages[first:])

    def _line(self, message: MemoryMessage) -> str:
        speaker = "user" if message.role == "user" else "assistant"
        text = message.content
        if len(text) > self._max_message_chars:
            text = text[: self._max_message_chars] + "..."
        return f"- [{speaker}]: {text}"
