"""procrastinate on PostgreSQL: the server is the benchmark's own, on a Unix socket, every commit on its disk."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import procrastinate

from bench.rivals.rival import Act


class ProcrastinateQueue:
    """One application on one database, which has its schema already where `url` was used before."""

    def __init__(self, url: str, *, is_new: bool = True) -> None:
        self._url = url
        self._act: Act = lambda _: None
        self._app = self._made(procrastinate.SyncPsycopgConnector(conninfo=url))
        self._app.open()
        if is_new:
            self._app.schema_manager.apply_schema()

    def _made(self, connector: procrastinate.BaseConnector) -> procrastinate.App:
        app = procrastinate.App(connector=connector)

        @app.task(name="work", queue="work")
        def work(number: int) -> None:
            self._act(number)

        return app

    def put(self, number: int) -> None:
        """See Rival."""
        self._app.configure_task("work", queue="work").defer(number=number)

    def fill(self, numbers: range) -> None:
        """See Rival."""
        self._app.configure_task("work", queue="work").batch_defer(*({"number": number} for number in numbers))

    @contextmanager
    def work(self, workers: int, act: Act) -> Iterator[None]:
        """See Rival."""
        self._act = act
        loop = asyncio.new_event_loop()
        started = threading.Event()
        running: list[asyncio.Task[None]] = []

        async def main() -> None:
            app = self._made(procrastinate.PsycopgConnector(conninfo=self._url))
            async with app.open_async():
                running.append(
                    asyncio.ensure_future(
                        app.run_worker_async(concurrency=workers, install_signal_handlers=False, listen_notify=True)
                    )
                )
                started.set()
                await asyncio.wait(running)

        thread = threading.Thread(target=lambda: loop.run_until_complete(main()))
        thread.start()
        started.wait()
        try:
            yield
        finally:
            loop.call_soon_threadsafe(running[0].cancel)
            thread.join()
            loop.close()

    def close(self) -> None:
        """See Rival."""
        self._app.close()
