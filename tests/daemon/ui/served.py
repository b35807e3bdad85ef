"""The page served for real, over something that notes what it is asked."""

import http.client
import threading
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from daemon.ui.asking import Asking, NotDone
from daemon.ui.serving import Serving
from memsyncd.clock import Clock


class Answers:
    """Stands in for the daemon."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def overview(self) -> Mapping[str, Any]:
        return {"status": {"state": "ok"}}

    def sessions(self) -> Mapping[str, Any]:
        return {"sessions": []}

    def history(self, minutes: int) -> Mapping[str, Any]:
        return {"minutes": minutes}

    def jobs(self, state: str) -> Mapping[str, Any]:
        return {"state": state}

    def namespaces(self) -> Mapping[str, Any]:
        raise NotDone("The daemon is not running.", 503)

    def search(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._note("search", asked)

    def forget(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._note("forget", asked)

    def pin(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._note("pin", asked)

    def change(self, verb: str, job_id: str) -> Mapping[str, Any]:
        return self._note(verb, job_id)

    def _note(self, *what: Any) -> Mapping[str, Any]:
        self.asked.append(what)
        return {"outcome": "done"}


class Served:
    """One page in a loop of its own thread. `port` and `token` are those of its link."""

    def __init__(self) -> None:
        self.answers = Answers()
        self.told: list[str] = []
        self.serving = Serving(cast("Asking", self.answers), Clock(), self.told.append, 60.0, signals=())
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        assert self._ready.wait(60)
        link = urlsplit(self.url)
        self.port = int(link.port or 0)
        self.token = link.query.partition("=")[2]

    def _run(self) -> None:
        import asyncio

        def ready(url: str) -> None:
            self.url = url
            self._loop = asyncio.get_running_loop()
            self._ready.set()

        asyncio.run(self.serving.until_over(ready))

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self.serving.stopped.set)
        self._thread.join(60)
        assert not self._thread.is_alive()

    def ask(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        host: str = "",
    ) -> tuple[int, Mapping[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            whole = {"Host": host or f"127.0.0.1:{self.port}", **(headers or {})}
            if body is not None:
                whole["Content-Length"] = str(len(body))
            for name, value in whole.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        finally:
            connection.close()


class Visitor:
    """A browser that has exchanged the token."""

    def __init__(self, served: Served) -> None:
        self.served = served
        status, headers, body = served.ask("GET", f"/?token={served.token}")
        assert (status, body) == (303, b"")
        self.root = headers["location"]
        self.set_cookie = headers["set-cookie"]
        self.headers = {"Cookie": self.set_cookie.partition(";")[0], "Sec-Fetch-Site": "same-origin"}
        _, _, page = self.get("")
        self.acting = page.decode().partition('name="memsyncd-token" content="')[2].partition('"')[0]

    def get(self, name: str, **more: str) -> tuple[int, Mapping[str, str], bytes]:
        return self.served.ask("GET", self.root + name, {**self.headers, **more})

    def post(self, name: str, body: bytes, **more: str) -> tuple[int, Mapping[str, str], bytes]:
        acting = {
            "Origin": f"http://127.0.0.1:{self.served.port}",
            "Memsyncd-Token": self.acting,
            "Content-Type": "application/json",
        }
        return self.served.ask("POST", self.root + name, {**self.headers, **acting, **more}, body)
