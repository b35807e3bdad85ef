"""A person walks through the pages of `memsyncd ui`."""

import json
import sqlite3
import time
from pathlib import Path

from daemon.status.history import MINUTE_SECONDS, NAME, History, Sample
from tests.browser.conftest import Visit

MARKUP = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


def dead_handoff(visit: Visit, name: str, session: str) -> None:
    """Leave a dead letter whose reason is markup, as a file by hand."""
    dead = visit.home.spool() / "dead"
    dead.mkdir(mode=0o700, exist_ok=True)
    handoff = {
        "v": 1,
        "id": name,
        "harness": "claude-code",
        "action": "user-prompt",
        "captured_at": "2026-11-30T10:00:00Z",
        "hook_input": {"session_id": session, "cwd": str(visit.home.project), "prompt": f"{MARKUP} hello"},
    }
    (dead / f"{name}.json").write_text(json.dumps(handoff))
    (dead / f"{name}.reason.json").write_text(json.dumps({"reason": f"{name} {MARKUP}"}))


def notes(visit: Visit) -> str:
    answer = visit.home.run("export")
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_a_person_walks_through_the_pages(visit: Visit, tmp_path: Path) -> None:
    """From the overview to a memory that is pinned, another that is forgotten, and dead letters that are seen to."""
    browser = visit.browser
    assert "token=" not in browser.evaluate("location.href")
    look_around(visit)
    pinned = find_and_pin(visit)
    forget(visit, pinned)
    see_to_dead_letters(visit)
    assert browser.errors == []
    assert {url.startswith(visit.origin) for _, url in browser.requests} == {True}
    browser.screenshot(tmp_path / "last.png")
    assert (tmp_path / "last.png").stat().st_size > 10_000


def look_around(visit: Visit) -> None:
    browser = visit.browser
    assert "Nothing waits" in browser.text("#overview") and "local" in browser.text("#overview")
    assert browser.text("#state") == "ok"

    visit.go("Sessions")
    assert "shop" in browser.text("#sessions") and "claude-code" in browser.text("#sessions")
    browser.click("#sessions summary")
    browser.until("document.querySelector('#sessions details').open")
    assert "delivered" in browser.text("#sessions") and "session-end" in browser.text("#sessions")


def find_and_pin(visit: Visit) -> str:
    browser = visit.browser
    browser.press("3", text="3")
    browser.until("location.hash === '#memories'")
    browser.until("document.querySelector('#cwd').options.length")
    browser.press("/", text="/")
    browser.until("document.activeElement.id === 'query'")
    browser.write("where are the tax rates kept")
    browser.press("Enter", text="\r")
    browser.until("document.querySelector('.memory')")
    pinned = browser.text(".memory .said")
    assert "config/tax" in pinned

    browser.click(".memory button", "Pin")
    browser.until("document.querySelector('#pin').open")
    browser.evaluate("document.querySelector('#pin-namespace').value = 'shop'")
    browser.press("Enter", text="\r")
    browser.until("!document.querySelector('#pin').open")
    assert "Remembered" in browser.evaluate("document.querySelector('#toast').textContent")  # it may be hidden again
    kept = notes(visit)
    assert '"namespace": "shop"' in kept and "config/tax" in kept
    return pinned


def forget(visit: Visit, pinned: str) -> None:
    browser = visit.browser
    number = browser.evaluate("document.querySelectorAll('.memory').length")
    browser.click(".memory button", "Forget")
    browser.until("!document.querySelector('#forget-yes').disabled")
    assert "1 memory on this machine" in browser.text("#forget-counts")
    browser.press("Escape")
    browser.until("!document.querySelector('#forget').open")
    assert browser.evaluate("document.querySelectorAll('.memory').length") == number
    browser.click(".memory button", "Forget")
    browser.until("!document.querySelector('#forget-yes').disabled")
    browser.click("#forget-yes")
    browser.until(f"document.querySelectorAll('.memory').length === {number - 1}")
    found = visit.home.client.post("/search", {"query": "where are the tax rates kept", "cwd": str(visit.home.project)})
    assert pinned not in [memory["memory"] for memory in found["memories"]]


def see_to_dead_letters(visit: Visit) -> None:
    browser = visit.browser
    for name in ("first", "second"):
        dead_handoff(visit, name, "late-session")
    visit.go("Jobs")
    browser.click("#job-states button", "Dead letters")
    browser.until("document.querySelectorAll('#jobs details').length === 2")
    browser.click("#jobs details summary", "first")
    browser.click("#jobs button", "Discard")
    browser.until("document.querySelectorAll('#jobs details').length === 1")
    assert not (visit.home.spool() / "dead/first.json").exists()
    browser.click("#jobs details summary", "second")
    browser.click("#jobs button", "Try again")
    browser.until("document.querySelectorAll('#jobs details').length === 0")
    visit.home.until(
        lambda: any(each["unsent"] for each in visit.home.client.get("/sessions")["sessions"]), "it was not taken in"
    )
    visit.go("Sessions")
    browser.until("document.querySelector('#sessions').innerText.includes('1 unsent')")


def test_what_sessions_and_memories_say_is_never_markup(visit: Visit) -> None:
    """Neither in a session's name, nor in a memory, nor in a dead letter's reason, nor in an error."""
    browser, home = visit.browser, visit.home
    home.exchange(
        f"s-{MARKUP}",
        1,
        prompt="Which banner do we show?",
        answer=f"We decided that the banner is {MARKUP} because the shop asked for it, and it must stay in config/banner.",
    )
    home.end(f"s-{MARKUP}")
    home.until_quiet()
    with sqlite3.connect(home.places.memory_file, timeout=60) as memory_file:  # whatever the rules made of it
        assert memory_file.execute("SELECT 1").fetchone()
    dead_handoff(visit, "third", "another")
    browser.evaluate("window.isOld = true")
    browser.command("Page.reload")
    browser.until("!window.isOld && document.querySelector('#overview')?.children.length")
    visit.go("Sessions")
    browser.until("document.querySelector('#sessions').innerText.includes('shop')")
    for at in range(browser.evaluate("document.querySelectorAll('#sessions details').length")):
        browser.evaluate(f"document.querySelectorAll('#sessions details')[{at}].open = true")
    assert f"s-{MARKUP}" in browser.text("#sessions")
    visit.go("Memories")
    browser.click("#query")
    browser.write("which banner do we show")
    browser.press("Enter", text="\r")
    browser.until("document.querySelector('.memory')")
    assert MARKUP in browser.text("#memories")
    browser.click(".memory button", "Forget")
    browser.until("!document.querySelector('#forget-yes').disabled")
    browser.press("Escape")
    visit.go("Jobs")
    browser.until("document.querySelector('#jobs').innerText.includes('third')")
    assert MARKUP in browser.text("#jobs")
    assert browser.evaluate("document.querySelectorAll('main img, main script, iframe').length") == 0
    assert "owned" not in browser.evaluate("document.title")
    assert browser.errors == []
    (home.spool() / "dead/third.json").unlink()


def test_it_fits_narrow_and_wide_screens_and_both_schemes(visit: Visit) -> None:
    """Nothing runs out of the side, and text stands out from its ground."""
    history = visit.home.places.data / NAME
    minute = int(time.time() // MINUTE_SECONDS)
    History(history).keep(Sample(minute - 5, pending=3, taken=9, delivered=2, recalls=2, recall_milliseconds=20))
    browser = visit.browser
    for page in ("Overview", "Sessions", "Memories", "Jobs", "Charts"):
        visit.go(page)
        for width, dark in ((360, False), (1200, True)):
            browser.look(width=width, height=800, dark=dark)
            browser.evaluate("Promise.allSettled(document.getAnimations().map((each) => each.finished)).then(() => 1)")
            assert browser.evaluate("document.documentElement.scrollWidth") <= width, page
            assert browser.evaluate(CONTRAST) >= 4.5, page
    assert browser.errors == []


CONTRAST = """(() => {
  const light = (text) => {
    const parts = text.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
    const [red, green, blue] = parts.map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (each) => {
    for (let at = each; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$|transparent/.test(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const shown = [...document.querySelectorAll("h1, p, dt, dd, td, th, a, button, .tag, .pill, .title, .under, .tile span, label")]
    .filter((each) => each.getClientRects().length && each.innerText.trim() && !each.disabled);
  return Math.min(...shown.map((each) => {
    const [one, other] = [light(getComputedStyle(each).color), light(ground(each))].sort((a, b) => b - a);
    return (one + 0.05) / (other + 0.05);
  }));
})()"""
"""The least contrast of any text that is shown (WCAG 2.2, 1.4.3: 4.5 to 1)."""


def test_the_page_tells_when_the_daemon_or_its_own_process_has_ended(visit: Visit) -> None:
    """In a sentence, instead of with old numbers."""
    browser, home = visit.browser, visit.home
    home.stop()
    try:
        visit.go("Sessions")
        visit.go("Overview")
        browser.until("document.querySelector('#state').innerText === 'down'")
        assert "daemon is not running" in browser.text("#banner")
        visit.go("Sessions")
        browser.click("#sessions summary")
        assert browser.evaluate("[...document.querySelectorAll('#sessions button')].every((each) => each.disabled)")
        assert browser.errors == []
    finally:
        home.start()
    visit.ui.terminate()
    visit.ui.wait(60)
    browser.click("nav a", "Jobs")
    browser.until("document.querySelector('#banner').innerText.includes('memsyncd ui')")
