"""docs/security.md is true: every test it names exists, every attack has one, and every package is there with its licence.
What it says of files is held by tests/security/test_modes.py."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.security import page

ROOT = page.ROOT


@cache
def functions(path: Path) -> set[str]:
    return {each.name for each in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(each, ast.FunctionDef)}


@pytest.mark.parametrize("named", sorted(page.named_tests()))
def test_a_named_test_exists(named: str) -> None:
    """By its file and its name."""
    file, _, name = named.partition("::")
    assert name in functions(ROOT / file)


def test_every_attack_has_a_test() -> None:
    """Each row says what happens and names at least one."""
    attacks = page.rows("What others could try")
    assert len(attacks) > 40
    for row in attacks:
        if row[0] in ("try", "---"):
            continue
        assert len(row) == 3, row
        assert re.fullmatch(r"(?:`tests/[\w./]+\.py::\w+`(?:, )?)+", row[2]), row


def test_every_security_test_is_named() -> None:
    """What is tried is told, or belongs to something that is."""
    named = {each.partition("::")[0] for each in page.named_tests()}
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "security").glob("test_*.py")}
    assert files <= named


def required(name: str) -> Iterator[Requirement]:
    for text in metadata.requires(name) or []:
        yield Requirement(text)


def installed() -> set[str]:
    """Return all that an installation brings along on this system, by what the packages say themselves."""
    found: dict[str, set[str]] = {}
    todo = [each for each in required("memsyncd") if each.marker is None or each.marker.evaluate({"extra": ""})]
    while todo:
        one = todo.pop()
        name = canonicalize_name(one.name)
        if name in found and one.extras <= found[name]:
            continue
        extras = found.setdefault(name, set())
        extras |= one.extras
        todo += [
            each
            for each in required(name)
            if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in {"", *extras})
        ]
    return set(found)


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").split()
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


def test_every_package_is_there_with_its_licence() -> None:
    """All that comes along with this Python, and nothing that does not with any."""
    told = dict(re.findall(r"`([a-z0-9-]+)` \(([^)]+)\)", page.section("Dependencies")))
    assert installed() <= set(told) <= set(pinned())
    for name, licence in told.items():
        said = metadata.metadata(name)["License-Expression"]
        assert said in (None, licence), name


def test_every_package_is_pinned() -> None:
    """To one version, which is the one that is installed."""
    versions = pinned()
    assert all(versions.values())
    assert {name: metadata.version(name) for name in installed()} == {name: versions[name] for name in installed()}


def test_every_direct_dependency_is_explained_in_the_readme() -> None:
    """What for, and why this one."""
    text = (ROOT / "README.md").read_text("utf-8")
    rows = [line.split("|") for line in text[text.index("## Dependencies") :].splitlines() if line.startswith("| ")]
    told = {name.strip() for row in rows[1:] for name in row[1].split(",")}
    direct = {each.name for each in required("memsyncd") if each.marker is None}
    optional = {each.name for each in required("memsyncd") if each.marker is not None}
    assert direct <= told <= direct | optional
    assert all(len(row) == 5 and row[2].strip() and row[3].strip() for row in rows[1:])
