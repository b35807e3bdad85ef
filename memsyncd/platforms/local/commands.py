"""Failed commands and the invocation that then worked (facts 4.11), in words."""

# ruff: noqa: E501  (a set of names is read best on few lines)

import re
from collections.abc import Sequence

from memsyncd.platforms.local import marks
from memsyncd.platforms.local.evidence_block import Command

MAX_PROBLEMS = 4
"""Of one packet; a session that fights a command leaves its outcome, not each blow."""

MAX_COMMAND_CHARS, MAX_RESULT_CHARS = 120, 110

_ASSIGNMENT = re.compile(r"^(?:[A-Za-z_]\w*=\S*\s+)+")
_WRAPPERS = frozenset(
    {
        "sudo",
        "env",
        "time",
        "nice",
        "exec",
        "uv",
        "poetry",
        "pipenv",
        "npx",
        "bunx",
        "run",
        "bundle",
        "xvfb-run",
        "doas",
    }
)
_WITH_SUBCOMMANDS = frozenset(
    {"git", "docker", "npm", "yarn", "pnpm", "bun", "cargo", "go", "kubectl", "terraform", "make", "just", "helm", "aws", "gcloud", "az", "pip",
     "dotnet", "flutter", "gradle", "gradlew", "mvn", "rake", "rails", "mix", "swift", "conda", "systemctl", "brew", "apt", "gh"}
)  # fmt: skip
_INTERPRETERS = re.compile(r"^(?:.*/)?(?:python[\d.]*|node|ruby|bash|sh)$")


def problems_in(commands: Sequence[Command]) -> Sequence[str]:
    """Return a sentence for each failed command that a differing one of the same program later made good."""
    found: dict[str, str] = {}
    for index, failed in enumerate(commands):
        if not failed.failed:
            continue
        remedy = next((later for later in commands[index + 1 :] if later.succeeded and _is_retry(failed, later)), None)
        if remedy is None or _spaced(remedy.command) == _spaced(failed.command):
            continue
        sentence = _sentence(failed, remedy)
        if not marks.SECRET.search(sentence):
            found[_spaced(remedy.command)] = sentence
    return list(found.values())[-MAX_PROBLEMS:]


def program(command: str) -> tuple[str, ...]:
    """Return what a command line runs: the program, with its subcommand where it has such, or an interpreter's script
    or module; of a chain, the last part."""
    last = re.split(r"&&|\|\||;", command)[-1].split("|")[0].strip()
    words = [word for word in _ASSIGNMENT.sub("", last).split() if word not in _WRAPPERS and "=" not in word]
    words = [word for word in words if not word.startswith("-")]
    if not words:
        return ()
    if _INTERPRETERS.match(words[0]):
        return tuple(words[1:2]) or (words[0],)
    name = words[0].rsplit("/", 1)[-1]
    return (name, *words[1:2]) if name in _WITH_SUBCOMMANDS else (name,)


def _is_retry(failed: Command, later: Command) -> bool:
    if program(failed.command) and program(failed.command) == program(later.command):
        return True
    return failed.kind == later.kind and failed.kind in {"test", "build", "lint", "typecheck", "install", "deploy"}


def _spaced(command: str) -> str:
    return " ".join(command.split())


def _sentence(failed: Command, remedy: Command) -> str:
    result = _cut(re.sub(r"^E\s+", "", failed.result), MAX_RESULT_CHARS)
    because = f" ({result})" if result else ""
    return f"`{_cut(failed.command, MAX_COMMAND_CHARS)}` failed{because}; `{_cut(remedy.command, MAX_COMMAND_CHARS)}` then worked."


def _cut(text: str, limit: int) -> str:
    text = _spaced(text.replace("`", "'"))
    return text if len(text) <= limit else text[: limit - 1] + "…"
