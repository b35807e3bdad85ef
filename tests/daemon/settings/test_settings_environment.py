"""The environment: our own variables and the names plugins use."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from daemon.settings import ConfigurationError, Settings, flatten
from daemon.settings.keys import KEYS
from tests.daemon.settings.reading import Load, sentences


@pytest.mark.parametrize("key", sorted(set(KEYS) - {"spools", "exclude"}))
def test_every_setting_has_a_variable_that_sets_it(read: Load, key: str) -> None:
    """MEMSYNCD_PLATFORM_KIND for platform.kind, and so on for all of them."""
    default = flatten(Settings())[key]
    texts = {"platform.kind": "mem0", "recall.scope": "mine", "log.level": "error", "log.format": "json"}
    by_type = {bool: "no" if default else "yes", int: "8", float: "0.5"}
    text = texts.get(key) or by_type.get(type(default)) or "/x"
    if key in ("platform.url", "http.proxy", "telemetry.endpoint", "extractor.url"):
        text = "https://h"
    further = {
        "extractor.url": {"MEMSYNCD_EXTRACTOR_MODEL": "m"},
        "queue.url": {"MEM0_API_KEY": "k"},
        "queue.role": {"MEM0_API_KEY": "k", "MEMSYNCD_QUEUE_URL": "postgresql://h/db"},
    }.get(key, {})
    text = {
        "queue.url": "postgresql://h/db",
        "queue.role": "edge",
        "recall.max_context_chars": "5000",
        "telemetry.interval_seconds": "7",
        "extractor.input_tokens": "2000",
        "extractor.wait_seconds": "6",
        "retry.max_delay_seconds": "6",
    }.get(key, text)
    loaded = read("", {KEYS[key].variable: text, **further})
    assert loaded.origins[key] == KEYS[key].variable
    assert flatten(loaded.settings)[key] != default


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("MEM0_API_URL", "https://m.test", "platform.url", "https://m.test"),
        ("MEM0_PROJECT_ID", "p", "platform.project_id", "p"),
        ("MEM0_USER_ID", "eve", "platform.user_id", "eve"),
        ("MEM0_CODE_USER_ID", "eve", "platform.user_id", "eve"),
        ("MEM0_RESOLVED_USER_ID", "eve", "platform.user_id", "eve"),
        ("MEM0_CODE_TOP_K", "7", "recall.top_k", 7),
        ("MEM0_CODE_SEARCH_SCOPE", " MINE ", "recall.scope", "mine"),
        ("MEM0_CODE_MAX_CONTEXT_CHARS", "2000", "recall.max_context_chars", 2000),
        ("MEM0_CODE_MIN_QUERY_CHARS", "3", "recall.min_query_chars", 3),
        ("MEM0_CODE_SEARCH_ONCE_PER_SESSION", "On", "recall.once_per_session", True),
        ("MEM0_CODE_AUTO_FLUSH", "no", "flush.auto", False),
        ("MEM0_CODE_IDLE_FLUSH_SECONDS", "0", "flush.idle_seconds", 0.0),
        ("MEM0_CODE_EXTRACTION_WAIT_SECONDS", "5", "flush.extraction_wait_seconds", 5.0),
        ("MEM0_CODE_EVENT_POLL_SECONDS", "0.25", "flush.event_poll_seconds", 0.25),
        ("MEM0_TELEMETRY", "yes", "telemetry.enabled", True),
        ("AGENT_MEMORY_PATH", "~/notes", "agent_memory_path", "/home/ada/notes"),
        ("PLUGIN_OPTION_TOP_K", "8", "recall.top_k", 8),
        ("CLAUDE_PLUGIN_OPTION_TOP_K", "9", "recall.top_k", 9),
    ],
)
def test_the_names_plugins_use_work(read: Load, variable: str, text: str, key: str, value: object) -> None:
    """Whoever comes from a plugin keeps her environment."""
    loaded = read("", {variable: text})
    assert flatten(loaded.settings)[key] == value
    assert loaded.origins[key] == variable
    assert loaded.warnings == ()


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("MEM0_CODE_TOP_K", "many", "recall.top_k", 3),
        ("MEM0_CODE_TOP_K", "99", "recall.top_k", 20),
        ("MEM0_CODE_TOP_K", "-1", "recall.top_k", 1),
        ("MEM0_CODE_MAX_CONTEXT_CHARS", "5", "recall.max_context_chars", 1000),
        ("MEM0_CODE_MIN_QUERY_CHARS", "0", "recall.min_query_chars", 1),
        ("MEM0_CODE_MIN_QUERY_CHARS", "1.5", "recall.min_query_chars", 20),
        ("MEM0_CODE_EVENT_POLL_SECONDS", "0", "flush.event_poll_seconds", 0.1),
        ("MEM0_CODE_EVENT_POLL_SECONDS", "nan", "flush.event_poll_seconds", 1.0),
        ("MEM0_CODE_EXTRACTION_WAIT_SECONDS", "1e999", "flush.extraction_wait_seconds", 86_400.0),
        ("MEM0_CODE_SEARCH_SCOPE", "team", "recall.scope", "repo"),
        ("MEM0_CODE_AUTO_FLUSH", "never", "flush.auto", False),
    ],
)
def test_a_plugins_name_with_a_bad_value_is_a_warning(
    read: Load, variable: str, text: str, key: str, value: object
) -> None:
    """Facts 15.5, 7.3, 7.12, 8.1, 5.29: the default or the nearest bound, and the warning names the variable."""
    loaded = read("", {variable: text})
    assert flatten(loaded.settings)[key] == value
    (warning,) = loaded.warnings
    assert variable in warning


def test_options_come_in_the_plugins_order_and_our_own_name_wins(read: Load) -> None:
    """Facts 15.3; MEMSYNCD_ is the most explicit of all."""
    environ = {"MEM0_CODE_TOP_K": "1", "CLAUDE_PLUGIN_OPTION_TOP_K": "2", "PLUGIN_OPTION_TOP_K": "3"}
    assert read("", environ).settings.recall.top_k == 3
    assert read("", environ | {"MEMSYNCD_RECALL_TOP_K": "4"}).settings.recall.top_k == 4


def test_a_bad_number_under_our_own_name_is_an_error(read: Load) -> None:
    """The variable is named."""
    (only,) = sentences(read, "", {"MEMSYNCD_QUEUE_WORKERS": "4.5"})
    assert "MEMSYNCD_QUEUE_WORKERS is '4.5'" in only


def test_a_misspelt_variable_of_ours_is_an_error_and_a_strange_one_a_warning(read: Load) -> None:
    """The nearest is named; what is like none of ours may be somebody else's."""
    (only,) = sentences(read, "", {"MEMSYNCD_PLATFROM_KIND": "mem0"})
    assert "MEMSYNCD_PLATFORM_KIND" in only
    assert "MEMSYNCD_ZZZ" in read("", {"MEMSYNCD_ZZZ": "1", "MEMSYNCD_HOME": "/x"}).warnings[0]


def test_a_variable_that_is_no_utf_8_is_told_and_a_plugins_or_the_accounts_counts_as_unset(read: Load) -> None:
    """Its bytes come as halves of characters, which neither the evidence nor a platform could hold."""
    (only,) = sentences(read, environ={"MEMSYNCD_PLATFORM_KIND": "mem\udce90"})
    assert "MEMSYNCD_PLATFORM_KIND" in only and "UTF-8" in only
    loaded = read(environ={"USER": "ren\udce9", "USERNAME": "ada", "MEM0_PROJECT_ID": "caf\udce9"})
    assert (loaded.settings.platform.user_id, loaded.settings.platform.project_id) == ("ada", "")
    assert any("MEM0_PROJECT_ID" in warning for warning in loaded.warnings)


def test_a_key_in_the_wrong_place_is_not_repeated(read: Load) -> None:
    """Where its file belongs, or where anything else does: what is said of it is shown and logged."""
    key = "m0-" + "Zq7Vn4kR9wXb2" * 2
    for name in ("PLATFORM_API_KEY_FILE", "HTTP_CA_FILE", "PLATFORM_KIND"):
        (only,) = sentences(read, environ={f"MEMSYNCD_{name}": key})
        assert name in only.upper().replace(".", "_") and key not in only
    assert key not in str(read(environ={"MEM0_CODE_TOP_K": key, "USER": "ada"}).warnings)


def test_empty_variables_are_unset(read: Load) -> None:
    """Container files are full of `NAME=`."""
    loaded = read("[queue]\nworkers = 2\n", {"MEMSYNCD_QUEUE_WORKERS": "", "MEM0_API_KEY": " ", "MEM0_CODE_TOP_K": ""})
    assert loaded.settings.queue.workers == 2
    assert loaded.settings.platform.kind == "local"


@pytest.mark.parametrize(
    ("environ", "enabled"),
    [
        ({}, True),
        ({"DO_NOT_TRACK": "1"}, False),
        ({"DO_NOT_TRACK": "please"}, False),
        ({"DO_NOT_TRACK": "0"}, True),
        ({"DO_NOT_TRACK": "false"}, True),
        ({"MEM0_TELEMETRY": " OFF "}, False),
        ({"MEM0_TELEMETRY": "disabled"}, False),
        ({"MEM0_TELEMETRY": " "}, True),
        ({"MEM0_TELEMETRY": "1", "DO_NOT_TRACK": "1"}, False),
        ({"MEMSYNCD_TELEMETRY_ENABLED": "yes", "MEM0_TELEMETRY": "no"}, False),
        ({"MEMSYNCD_TELEMETRY_ENABLED": "no", "MEM0_TELEMETRY": "yes"}, False),
    ],
)
def test_an_opt_out_wins_over_everything(read: Load, environ: dict[str, str], enabled: bool) -> None:
    """Whoever says no anywhere is not counted."""
    assert read("[telemetry]\nenabled = true\n", environ).settings.telemetry.enabled is enabled


@pytest.mark.parametrize("later", [{"MEM0_TELEMETRY": "1"}, {"MEMSYNCD_TELEMETRY_ENABLED": "yes"}, {}])
def test_an_opt_out_in_the_file_is_taken_back_by_nothing(read: Load, tmp_path: Path, later: dict[str, str]) -> None:
    """A yes left in some shell, or on the command line, must not undo a no that was written down."""
    loaded = read("[telemetry]\nenabled = false\n", later, telemetry__enabled="true")
    assert loaded.settings.telemetry.enabled is False
    assert loaded.origins["telemetry.enabled"] == f"{tmp_path / 'config.toml'}:2"


@pytest.mark.parametrize(
    ("environ", "user", "origin"),
    [
        ({"MEM0_CODE_USER_ID": "*", "USER": "ada"}, "ada", "USER"),
        ({"MEM0_CODE_USER_ID": " ** "}, "", "default"),
        ({"MEM0_USER_ID": "two", "MEM0_CODE_USER_ID": "one", "USER": "ada"}, "one", "MEM0_CODE_USER_ID"),
        ({"MEMSYNCD_PLATFORM_USER_ID": "mine", "MEM0_CODE_USER_ID": "one"}, "mine", "MEMSYNCD_PLATFORM_USER_ID"),
        ({"USERNAME": "bob"}, "bob", "USERNAME"),
    ],
)
def test_the_user_id_comes_in_the_plugins_order(read: Load, environ: dict[str, str], user: str, origin: str) -> None:
    """Facts 5.17 and 5.18."""
    loaded = read("", environ)
    assert (loaded.settings.platform.user_id, loaded.origins["platform.user_id"]) == (user, origin)


def test_the_files_user_id_beats_the_accounts_name_but_not_a_plugins_variable(read: Load) -> None:
    """USER is always there, so it is no wish of anybody's."""
    text = "[platform]\nuser_id = 'team'\n"
    assert read(text, {"USER": "ada"}).settings.platform.user_id == "team"
    assert read(text, {"USER": "ada", "MEM0_USER_ID": "eve"}).settings.platform.user_id == "eve"
    assert "wildcard" in sentences(read, "[platform]\nuser_id = '*'\n")[0]


@pytest.mark.parametrize("wild", ["*", " ** ", "\uff0a"])
def test_a_variable_that_names_everybody_is_told_of_and_not_used(read: Load, wild: str) -> None:
    """A plugin's name stops nothing; one of ours does (facts 5.17)."""
    loaded = read("", {"MEM0_USER_ID": wild, "MEM0_PROJECT_ID": wild, "USER": "ada"})
    assert (loaded.settings.platform.user_id, loaded.settings.platform.project_id) == ("ada", "")
    assert [told.split()[0] for told in loaded.warnings] == ["MEM0_PROJECT_ID", "MEM0_USER_ID"]
    assert all("wildcard" in told for told in loaded.warnings)
    assert loaded.warnings[1].endswith("from USER.")
    assert "platform.project_id" in sentences(read, "", {"MEMSYNCD_PLATFORM_PROJECT_ID": wild})[0]
    stronger = {"MEM0_USER_ID": wild, "MEMSYNCD_PLATFORM_USER_ID": "ada"}
    assert not read("", stronger).warnings


@given(key=st.sampled_from(sorted(KEYS)), text=st.text(max_size=30) | st.floats().map(str) | st.integers().map(str))
@hypothesis_settings(
    max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
def test_any_variable_is_a_setting_or_a_sentence(read: Load, key: str, text: str) -> None:
    """Whatever an environment holds, what comes out is right by the schema or named."""
    told: tuple[str, ...] = ()
    try:
        loaded = read("", {KEYS[key].variable: text})
    except ConfigurationError as error:
        told = tuple(error.sentences)
    else:
        assert KEYS[key].parse(flatten(loaded.settings)[key]) is not None
    assert all(KEYS[key].variable in sentence or key in sentence or "spool" in sentence for sentence in told)
