"""The seven tools: arguments in, a text out. They know nothing of the protocol that carries them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memsyncd.notes import answers, arguments, catalogue, rendering
from memsyncd.notes.answers import Document
from memsyncd.notes.arguments import shown
from memsyncd.notes.errors import NoteError, NoteMissing
from memsyncd.notes.limits import DEFAULT_NAMESPACE, DEFAULT_RESULTS
from memsyncd.notes.store import NoteStore

ELSEWHERE = 5
"""Namespaces named that have a note of the key asked for."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool answers: the text, at most MAX_ANSWER_CHARS long, the document it was made of, and whether it is an
    error."""

    text: str
    document: Document
    is_error: bool


class NoteTools:
    """The tools over one store. Safe from any thread; nothing is raised but for a fault of ours.

    Arguments are checked though they have types: what a model sends is not bound by them.
    """

    def __init__(self, store: NoteStore) -> None:
        self._store = store
        self._by_name: Mapping[str, Callable[..., ToolAnswer]] = {
            name: getattr(self, name) for name in catalogue.BY_NAME
        }

    def call(self, name: str, given: Mapping[str, Any]) -> ToolAnswer:
        """Call a tool by its name with arguments as they came. A tool or an argument that there is not is an error
        answer that names what there is."""
        tool = catalogue.BY_NAME.get(name)
        if tool is None:
            return _failed(f"there is no tool {shown(name)}; there are {', '.join(catalogue.BY_NAME)}", "markdown")
        try:
            known = arguments.known(tool, given)
        except NoteError as error:
            return _failed(str(error), given.get("format"))
        return self._by_name[name](**known)

    def memory_remember(
        self,
        key: str,
        value: str,
        namespace: str = DEFAULT_NAMESPACE,
        ttl_seconds: int | None = None,
        format: str = "markdown",  # noqa: A002  (the argument's name)
    ) -> ToolAnswer:
        """Keep a text under a key; see NoteStore.remember."""

        def act() -> Document:
            ttl = arguments.ttl_seconds(ttl_seconds)
            names = arguments.namespace(namespace), arguments.key(key)
            return answers.remembered(self._store.remember(*names, arguments.value(value), ttl), ttl)

        return _answered(act, format)

    def memory_recall(
        self,
        key: str,
        namespace: str = DEFAULT_NAMESPACE,
        format: str = "markdown",  # noqa: A002  (the argument's name)
    ) -> ToolAnswer:
        """Return a note; writes nothing."""

        def act(answer_format: str) -> tuple[Document, str]:
            names = arguments.namespace(namespace), arguments.key(key)
            try:
                return rendering.fitting_note(self._store.recall(*names), answer_format)
            except NoteMissing as error:
                raise self._missing(*names) from error

        return _fitted(act, format)

    def memory_forget(
        self,
        key: str,
        namespace: str = DEFAULT_NAMESPACE,
        format: str = "markdown",  # noqa: A002  (the argument's name)
    ) -> ToolAnswer:
        """Delete a note for good."""

        def act() -> Document:
            names = arguments.namespace(namespace), arguments.key(key)
            try:
                self._store.forget(*names)
            except NoteMissing as error:
                raise self._missing(*names) from error
            return answers.forgotten(*names)

        return _answered(act, format)

    def memory_search(
        self,
        query: str,
        namespace: str | None = None,
        limit: int = DEFAULT_RESULTS,
        format: str = "markdown",  # noqa: A002  (the argument's name)
    ) -> ToolAnswer:
        """Find notes, the best first; writes nothing."""

        def act(answer_format: str) -> tuple[Document, str]:
            asked, most = arguments.query(query), arguments.limit(limit)
            within = None if namespace is None else arguments.namespace(namespace)
            return rendering.fitting_search(asked, self._store.search(asked, within, most), answer_format)

        return _fitted(act, format)

    def memory_list_namespaces(self, format: str = "markdown") -> ToolAnswer:  # noqa: A002  (the argument's name)
        """List the namespaces that have notes; writes nothing."""
        return _fitted(lambda answer_format: rendering.fitting_list(self._store.namespaces(), answer_format), format)

    def memory_clear_namespace(self, namespace: str, format: str = "markdown") -> ToolAnswer:  # noqa: A002  (the argument's name)
        """Delete all notes of a namespace for good; nothing where there are none."""

        def act() -> Document:
            name = arguments.namespace(namespace)
            return answers.cleared(name, self._store.clear(name))

        return _answered(act, format)

    def memory_stats(self, format: str = "markdown") -> ToolAnswer:  # noqa: A002  (the argument's name)
        """Return the store's figures; writes nothing."""
        return _answered(lambda: answers.figures(self._store.stats(), str(self._store.path)), format)

    def _missing(self, namespace: str, key: str) -> NoteMissing:
        return NoteMissing(answers.missing(namespace, key, self._store.namespaces_with(key, limit=ELSEWHERE)))


def _answered(act: Callable[[], Document], answer_format: object) -> ToolAnswer:
    def fitted(checked: str) -> tuple[Document, str]:
        document = act()
        return document, rendering.rendered(document, checked)

    return _fitted(fitted, answer_format)


def _fitted(act: Callable[[str], tuple[Document, str]], answer_format: object) -> ToolAnswer:
    try:
        document, text = act(arguments.answer_format(answer_format))
    except NoteError as error:
        return _failed(str(error), answer_format)
    return ToolAnswer(text, document, is_error=False)


def _failed(message: str, answer_format: object) -> ToolAnswer:
    document = answers.failed(message)
    text = rendering.rendered(document, "json" if answer_format == "json" else "markdown")
    return ToolAnswer(text, document, is_error=True)
