"""Other pages in the same browser, and other names for this machine, get nothing."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.browser.conftest import FOREIGN, Visit


class Elsewhere(BaseHTTPRequestHandler):
    """An empty page; notes the cookies it is sent."""

    cookies: list[str] = []  # noqa: RUF012  (of the class, which is made anew by no one)

    def do_GET(self) -> None:
        self.cookies.append(self.headers.get("Cookie", ""))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><link rel=icon href=data:,><p>elsewhere")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def elsewhere() -> Iterator[int]:
    Elsewhere.cookies.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)  # a browser opens connections it does not use yet
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


TRIES = """(async () => {{
  const told = [];
  const root = {root!r};
  for (const options of [
    {{}}, {{credentials: "include"}}, {{mode: "no-cors", credentials: "include"}},
    {{method: "POST", mode: "no-cors", credentials: "include", body: '{{"memory": "x", "yes": true}}'}},
    {{method: "POST", credentials: "include", headers: {{"Content-Type": "application/json", "Memsyncd-Token": "x"}}, body: "{{}}"}},
  ]) for (const path of ["", "page.js", "api/overview", "api/forget"]) {{
    try {{
      const answer = await fetch(root + path, options);
      told.push(answer.type === "opaque" ? "" : `${{answer.status}} ${{await answer.text()}}`);
    }} catch {{ told.push(""); }}
  }}
  const script = document.createElement("script");
  script.src = root + "page.js";
  told.push(await new Promise((done) => {{ script.onload = () => done("ran"); script.onerror = () => done(""); document.head.append(script); }}));
  const image = new Image();
  told.push(await new Promise((done) => {{ image.onload = () => done("seen"); image.onerror = () => done(""); image.src = root + "icon.svg"; }}));
  return told.join("");
}})()"""


def test_another_sites_page_gets_nothing_from_it(visit: Visit, elsewhere: int) -> None:
    """Not even one on another port of this machine, which a browser takes for the same site, nor its cookie."""
    root = visit.browser.evaluate("location.href").partition("#")[0]
    for host in ("127.0.0.1", "localhost", FOREIGN):
        visit.browser.open(f"http://{host}:{elsewhere}/")
        assert visit.browser.evaluate(TRIES.format(root=root)) == ""
    assert set(Elsewhere.cookies) == {""}


def test_a_foreign_name_for_this_machine_gets_nothing(visit: Visit) -> None:
    """Neither with the secret path nor with a link's token: names can be pointed anywhere by their owners."""
    root = visit.browser.evaluate("location.pathname")
    for path in (root, f"{root}api/overview", "/?token=x"):
        visit.browser.open(f"{visit.origin.replace('127.0.0.1', FOREIGN)}{path}")
        assert visit.browser.text("body") == "" or "403" in visit.browser.text("body")  # the browser's own words
        assert "memsyncd" not in visit.browser.text("body")


def test_the_link_is_good_in_one_browser_once(visit: Visit) -> None:
    """And the page goes on where it was opened."""
    place = visit.browser.evaluate("location.href")
    visit.browser.open(visit.url)
    assert "memsyncd" not in visit.browser.text("body")
    visit.browser.open(place)
    visit.browser.until("document.querySelector('#overview').children.length")
