"""What a person sees of a fault, and that what stands beside it goes on."""

from typing import Any

from tests.end_to_end.conftest import Home

RED, AMBER = 1, 0
"""What `memsyncd status` exits with: not healthy, and healthy with something to tell."""


def problem(home: Home, code: str, *words: str) -> dict[str, Any]:
    """Return a problem of the status that holds the words, empty where it has none of that code."""
    found = (each for each in home.status()["problems"] if each["code"] == code)
    return next((each for each in found if all(word in str(each) for word in words)), {})


def until_told(home: Home, code: str, *words: str, exits: int = RED) -> None:
    """Wait until the status tells of it with those words, and see that the command says so with what to do."""
    home.until(
        lambda: problem(home, code, *words) and (home.status()["state"] == "degraded") == (exits == RED),
        f"{code} is not told as it should be",
    )

    def is_shown() -> bool:
        """Ask as a person would; what is told may have changed its words since it was looked at."""
        done = home.run("status")
        found = problem(home, code, *words)
        shown = plain(done.stdout)
        is_whole = bool(found) and plain(found["message"]) in shown and plain(found["remedy"]) in shown
        return is_whole and bool(found["remedy"]) and done.returncode == exits

    home.until(is_shown, f"{code} is not shown as it should be")


def until_well(home: Home, code: str) -> None:
    """Wait until it is told no more."""
    home.until(lambda: not problem(home, code), f"{code} outlives its cause")


def plain(text: str) -> str:
    """Return a text without the breaks between its lines."""
    return " ".join(text.replace("`", "").split())


def session(home: Home, name: str, harness: str = "claude-code") -> None:
    """Let an agent ask and answer once, and end."""
    common = {"session_id": name, "cwd": str(home.project), "prompt_id": f"{name}-p"}
    home.hook("user-prompt", {**common, "prompt": f"Question of {name}?"}, harness=harness)
    home.hook("stop", {**common, "last_assistant_message": f"Answer of {name}."}, harness=harness)
    home.hook("flush", {**common, "reason": "other"}, reason="session-end", harness=harness)


def delivered(home: Home) -> list[str]:
    """Return the sessions whose batches the platform has, in the order of their names; one twice is there twice."""
    assert home.api is not None
    return sorted(run for _, _, run in home.api.accepted_batches())


def until_delivered(home: Home, *names: str) -> None:
    """Wait until these sessions are delivered, each once and no other, and nothing waits."""
    wanted = sorted(names)
    home.until(lambda: delivered(home) == wanted and home.is_quiet(), f"not delivered: {wanted}")
