"""A host's own search, asked with a time limit: from a thread, or on the host's event loop.

Both come back when the time is over, whatever the search does. Time is monotonic seconds.
"""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable
from concurrent.futures import Future
from typing import Protocol

from memsyncd.lifecycle.found import Answer

MAX_IN_THE_AIR = 4
"""Searches of one `Slots` that may still run, abandoned ones included. A fifth is not begun: it would only pile up."""


class Search(Protocol):
    """Finds memories for a query, with the host's own client, scope and number of results.

    Returns memories as `memsyncd.Memory` or as the platforms' clients give them. May raise anything: that is a failed
    search.
    """

    def __call__(self, query: str, /) -> Answer:
        """Search; may block."""


class AsyncSearch(Protocol):
    """The same, awaited."""

    def __call__(self, query: str, /) -> Awaitable[Answer]:
        """Search without blocking the loop."""


class SearchBusy(Exception):
    """MAX_IN_THE_AIR searches have not come back yet."""


Slots = threading.Semaphore


def slots() -> Slots:
    """Return room for MAX_IN_THE_AIR searches."""
    return threading.Semaphore(MAX_IN_THE_AIR)


def ask(search: Search, query: str, *, seconds: float, room: Slots) -> object:
    """Return what `search` answers within `seconds`. Raises TimeoutError, SearchBusy, or what the search raised.

    It runs in a daemon thread of its own with the caller's context variables; one that is late goes on there, its
    answer is dropped, and it holds up neither the caller nor the end of the program.
    """
    if not room.acquire(blocking=False):
        raise SearchBusy("earlier searches have not come back yet")
    answer: Future[object] = Future()

    def run() -> None:
        try:
            answer.set_result(_settled(search(query)))
        except BaseException as error:  # noqa: BLE001  (an exit asked for in there is no exit of the host)
            answer.set_exception(error if isinstance(error, Exception) else RuntimeError(type(error).__name__))
        finally:
            room.release()

    try:
        threading.Thread(
            target=contextvars.copy_context().run, args=(run,), name="memsyncd-recall", daemon=True
        ).start()
    except RuntimeError:  # no thread to be had
        room.release()
        raise
    try:
        return answer.result(seconds)
    except TimeoutError:
        if answer.done():
            raise  # the search's own
        raise TimeoutError(_late(seconds)) from None


async def ask_async(search: AsyncSearch, query: str, *, seconds: float) -> object:
    """Return what `search` answers within `seconds`. Raises TimeoutError, or what the search raised.

    A late one is cancelled but not waited for. A cancelled caller cancels it too.
    """
    task = asyncio.ensure_future(search(query))
    try:
        done, _ = await asyncio.wait((task,), timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not done:
        task.cancel()
        task.add_done_callback(_forget)
        raise TimeoutError(_late(seconds))
    if task.cancelled():
        raise RuntimeError("the search was cancelled")  # and not its caller
    return task.result()


def _settled(result: object) -> object:
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()  # else it warns that nobody awaited it
        raise TypeError("the search is asynchronous: await recall_async")
    return result


def _late(seconds: float) -> str:
    return f"no answer within {seconds:g} s"


def _forget(task: asyncio.Future[Answer]) -> None:
    """Look at a late answer, so that the loop reports no error nobody asked for."""
    if not task.cancelled():
        task.exception()
