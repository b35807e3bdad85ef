"""Settings: what wins, where it is from, and what is said of a wrong one."""

import string
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from daemon.places import resolve
from daemon.settings import ConfigurationError, Loaded, Settings, flatten, load
from daemon.settings.keys import KEYS

Load = Callable[..., Loaded]

HOME = Path("/home/ada")


@pytest.fixture
def read(tmp_path: Path) -> Load:
    """Load settings from a file's text, an environment and overrides."""

    def call(text: str = "", environ: Mapping[str, str] | None = None, **overrides: object) -> Loaded:
        places = resolve({"MEMSYNCD_HOME": str(tmp_path)}, HOME, 1, "linux")
        if text:
            places.config_file.write_text(text)
        dotted = {name.replace("__", "."): value for name, value in overrides.items()}
        return load(places, environ if environ is not None else {"USER": "ada"}, dotted)

    return call


def sentences(read: Load, text: str = "", environ: Mapping[str, str] | None = None, **overrides: object) -> list[str]:
    with pytest.raises(ConfigurationError) as refused:
        read(text, environ, **overrides)
    assert refused.value.exit_code == 78
    return list(refused.value.sentences)


def test_nothing_set_gives_the_documented_defaults(read: Load) -> None:
    """The defaults are CONTRACT's, and each says so."""
    loaded = read()
    expected = {
        "discover": True,
        "exclude": [],
        "spools": [],
        "platform.kind": "local",
        "platform.user_id": "ada",
        "platform.max_cooldown_seconds": 900.0,
        "http.timeout_seconds": 15.0,
        "retry.first_delay_seconds": 5.0,
        "retry.max_delay_seconds": 1800.0,
        "queue.workers": 4,
        "telemetry.enabled": False,
        "telemetry.interval_seconds": 300.0,
        "flush.idle_seconds": 300.0,
        "flush.extraction_wait_seconds": 120.0,
        "flush.event_poll_seconds": 1.0,
        "recall.min_query_chars": 20,
    }
    flat = flatten(loaded.settings)
    assert {name: flat[name] for name in expected} == expected
    assert {name for name, origin in loaded.origins.items() if origin != "default"} == {"platform.user_id"}
    assert set(loaded.origins) == set(KEYS) == set(flat)
    assert loaded.warnings == ()


def test_the_later_source_wins_and_each_value_knows_its_own(read: Load, tmp_path: Path) -> None:
    """File, then environment, then command line."""
    loaded = read(
        '# mine\n[queue]\nworkers = 2\n\n[log]\nlevel = "debug"\n\n[http]\ntimeout_seconds = 20\n',
        {"MEMSYNCD_LOG_LEVEL": "error", "MEMSYNCD_HTTP_TIMEOUT_SECONDS": "30"},
        http__timeout_seconds="40",
    )
    settings = loaded.settings
    assert (settings.queue.workers, settings.log.level, settings.http.timeout_seconds) == (2, "error", 40.0)
    assert loaded.origins["queue.workers"] == f"{tmp_path / 'config.toml'}:3"
    assert loaded.origins["log.level"] == "MEMSYNCD_LOG_LEVEL"
    assert loaded.origins["http.timeout_seconds"] == "command line"
    assert loaded.origins["queue.url"] == "default"


@pytest.mark.parametrize("key", sorted(set(KEYS) - {"spools", "exclude"}))
def test_every_setting_has_a_variable_that_sets_it(read: Load, key: str) -> None:
    """MEMSYNCD_PLATFORM_KIND for platform.kind, and so on for all of them."""
    default = flatten(Settings())[key]
    texts = {"platform.kind": "mem0-server", "recall.scope": "mine", "log.level": "error", "log.format": "json"}
    by_type = {bool: "no" if default else "yes", int: "8", float: "0.5"}
    text = texts.get(key) or by_type.get(type(default)) or "/x"
    if key in ("platform.url", "http.proxy", "telemetry.endpoint", "extractor.url"):
        text = "http://h"
    text = {
        "queue.url": "postgresql://h/db",
        "recall.max_context_chars": "5000",
        "telemetry.interval_seconds": "7",
        "retry.max_delay_seconds": "6",
    }.get(key, text)
    loaded = read("", {KEYS[key].variable: text})
    assert loaded.origins[key] == KEYS[key].variable
    assert flatten(loaded.settings)[key] != default


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("dicover = true", "discover"),
        ("[platform]\nkidn = 'local'", "platform.kind"),
        ("[platfrom]\nkind = 'local'", "platform.kind"),
        ("[platform]\napi_key = 'x'", "platform.api_key_file"),
        ("[http]\nworkers = 3", "queue.workers"),
        ("[[spools]]\npath = '/x'\nharnes = 'codex'", "harness"),
        ("[queue]\nworkers.most = 3", "queue.workers"),
    ],
)
def test_an_unknown_key_names_the_nearest(read: Load, text: str, near: str) -> None:
    """The sentence has the file and the key that was probably meant."""
    (only,) = sentences(read, text)
    assert "config.toml:" in only
    assert near in only


@pytest.mark.parametrize(
    ("text", "line", "parts"),
    [
        ("\n[queue]\nworkers = 0", 3, ["queue.workers is 0", "a whole number from 1 to 64"]),
        ("[queue]\nworkers = 'four'", 2, ["queue.workers is 'four'", "whole number"]),
        ("[queue]\nworkers = true", 2, ["queue.workers is True"]),
        ("[platform]\nkind = 'cloud'", 2, ["platform.kind", '"local", "mem0", "mem0-server"']),
        ("discover = 'yes'", 1, ["discover", "true or false"]),
        ("exclude = '~/x'", 1, ["exclude", "a list of texts"]),
        ("exclude = [1]", 1, ["exclude", "a list of texts"]),
        ("[http]\ntimeout_seconds = inf", 2, ["http.timeout_seconds is inf", "0.1 to 600"]),
        ("[http]\ntimeout_seconds = nan", 2, ["http.timeout_seconds"]),
        ("platform = 'mem0'", 1, ["platform is a section"]),
        ("[[spools]]\nharness = 'codex'", 1, ["spools", "path"]),
        ("[telemetry]\napi_key = 5", 2, ["telemetry.api_key", "a text"]),
        ('[platform]\napi_key_file = "/a\\u0000b"', 2, ["platform.api_key_file", "control characters"]),
        ('exclude = ["/a\\nb"]', 1, ["exclude", "control characters"]),
        ('[[spools]]\npath = "/a\\u0007"', 1, ["spools", "control characters"]),
    ],
)
def test_a_wrong_value_names_key_value_and_what_is_allowed(read: Load, text: str, line: int, parts: list[str]) -> None:
    """With the line it stands on."""
    (only,) = sentences(read, text)
    assert f"config.toml:{line}: " in only
    assert all(part in only for part in parts), only


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = = 2\n", 2), ("[queue\n", 1), ("a = 1\na = 2\n", 2), ("x = [\n1,\n\n", 2), ("a = '\n", 1)],
)
def test_bad_toml_is_told_with_its_line(read: Load, text: str, line: int) -> None:
    """A file that cannot be read as TOML is an error, never an empty configuration (never-again 133)."""
    (only,) = sentences(read, text)
    assert f"config.toml:{line}: " in only


def test_a_file_that_is_no_text_or_cannot_be_read_is_an_error(read: Load, tmp_path: Path) -> None:
    """Another encoding, a directory, a megabyte of something."""
    config = tmp_path / "config.toml"
    config.write_bytes(b"discover = true\nuser = '\xe4'\n")
    assert "config.toml:2: not UTF-8" in sentences(read)[0]
    config.write_bytes(b"#" * 1_000_001)
    assert "no settings file" in sentences(read)[0]
    config.unlink()
    config.mkdir()
    assert "cannot be read" in sentences(read)[0]


def test_a_byte_order_mark_is_no_error(read: Load) -> None:
    """Some editors write one."""
    assert read("\ufeffdiscover = false\n").settings.discover is False


def test_all_faults_are_told_at_once(read: Load) -> None:
    """Nobody should have to start five times to learn of five slips."""
    told = sentences(
        read, "[queue]\nworkers = 0\nworkerz = 1\n", {"MEMSYNCD_HTTP_TIMEOUT_SECONDS": "soon"}, log__level="loud"
    )
    assert len(told) == 4


def test_lines_are_right_beside_multi_line_texts(read: Load, tmp_path: Path) -> None:
    """What looks like a key within a text is none."""
    text = 'agent_memory_path = """\n/a\\\nkind = 3\\\n"""\n[platform]\n# kind = "x"\nkind = "local"\n'
    loaded = read(text)
    assert loaded.origins["platform.kind"] == f"{tmp_path / 'config.toml'}:7"


def test_dotted_and_inline_forms_are_understood(read: Load) -> None:
    """All of TOML's ways to write a table mean the same."""
    loaded = read('queue.workers = 3\nlog = { level = "error" }\n["http"]\n"timeout_seconds" = 3\n[telemetry]\n')
    settings = loaded.settings
    assert (settings.queue.workers, settings.log.level, settings.http.timeout_seconds) == (3, "error", 3.0)


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
        ({"MEM0_TELEMETRY": "1", "DO_NOT_TRACK": "1"}, False),
        ({"MEMSYNCD_TELEMETRY_ENABLED": "yes", "MEM0_TELEMETRY": "no"}, False),
        ({"MEMSYNCD_TELEMETRY_ENABLED": "no", "MEM0_TELEMETRY": "yes"}, False),
    ],
)
def test_an_opt_out_wins_over_everything(read: Load, environ: dict[str, str], enabled: bool) -> None:
    """Whoever says no anywhere is not counted."""
    assert read("[telemetry]\nenabled = true\n", environ).settings.telemetry.enabled is enabled


def test_the_platform_follows_the_key_unless_told(read: Load, tmp_path: Path) -> None:
    """A key's source decides, even when the key cannot be had; an explicit kind always wins."""
    (tmp_path / "mem0_api_key").write_text("x")
    cases: list[tuple[str, dict[str, str], str]] = [
        ("", {"MEM0_API_KEY": "k"}, "mem0"),
        ("", {"CLAUDE_PLUGIN_OPTION_API_KEY": "k"}, "mem0"),
        ("[platform]\napi_key_file = '/gone'\n", {}, "mem0"),
        ("[platform]\napi_key_command = 'pass mem0'\n", {}, "mem0"),
        ("[log]\n", {"CREDENTIALS_DIRECTORY": str(tmp_path)}, "mem0"),
        ("[log]\n", {"CREDENTIALS_DIRECTORY": str(tmp_path / "other")}, "local"),
        ("[platform]\nkind = 'local'\n", {"MEM0_API_KEY": "k"}, "local"),
        ("[platform]\nkind = 'mem0'\n", {}, "mem0"),
    ]
    for text, environ, kind in cases:
        assert read(text, environ).settings.platform.kind == kind, (text, environ)


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


def test_spools_are_listed_named_and_joined_by_a_plugins_own(read: Load) -> None:
    """MEM0_CODE_DATA_DIR is one more, whatever the others; the directory's name tells the harness (facts 15.6)."""
    text = "[[spools]]\npath = '~/agents/spool'\nharness = 'codex'\n[[spools]]\npath = '/srv/kimi-plugin'\n"
    loaded = read(text, {"MEM0_CODE_DATA_DIR": "/data/cursor-plugin"})
    assert [(spool.path, spool.harness) for spool in loaded.settings.spools] == [
        ("/home/ada/agents/spool", "codex"),
        ("/srv/kimi-plugin", "kimi"),
        ("/data/cursor-plugin", "cursor"),
    ]
    by_variable = read(text, {"MEMSYNCD_SPOOLS": "/a:/b", "MEM0_CODE_DATA_DIR": "/c"}).settings.spools
    assert [spool.path for spool in by_variable] == ["/a", "/b", "/c"]


def test_exclusions_are_resolved_against_the_home(read: Load) -> None:
    """`~` is the user's, and a pattern without a root stays one."""
    text = "exclude = ['~/clients/**', '**/secret', '~']\n"
    assert read(text).settings.exclude == ["/home/ada/clients/**", "**/secret", "/home/ada"]
    assert read(text, {"MEMSYNCD_EXCLUDE": "~/a:/b"}).settings.exclude == ["/home/ada/a", "/b"]


@pytest.mark.parametrize("key", ["platform.api_key_file", "http.ca_file", "agent_memory_path"])
def test_a_relative_path_is_refused(read: Load, key: str) -> None:
    """Relative to what would depend on who started the daemon."""
    (only,) = sentences(read, "", {KEYS[key].variable: "here/x"})
    assert key in only
    assert "absolute" in only


@pytest.mark.parametrize(
    ("key", "url"),
    [
        ("platform.url", "api.example.test"),
        ("platform.url", "ftp://x"),
        ("platform.url", "https://"),
        ("platform.url", "http://h:port"),
        ("queue.url", "mysql://x"),
        ("platform.url", "https://h h"),
        ("http.proxy", "proxy:3128"),
        ("telemetry.endpoint", "file:///etc/passwd"),
    ],
)
def test_what_is_no_address_is_refused(read: Load, key: str, url: str) -> None:
    """The sentence says how one begins, and does not repeat the address, which may carry a password."""
    (only,) = sentences(read, "", {KEYS[key].variable: url})
    assert key in only
    assert url not in only


def test_delays_must_agree(read: Load) -> None:
    """The first wait is not longer than the longest."""
    assert "at most" in sentences(read, "[retry]\nfirst_delay_seconds = 60\nmax_delay_seconds = 10\n")[0]


def test_unknown_and_wrong_overrides_are_told(read: Load) -> None:
    """The command line is no exception."""
    assert "queue.workers" in sentences(read, queue__worker="3")[0]
    assert read(queue__workers=3).settings.queue.workers == 3


def test_secrets_are_masked_wherever_settings_are_shown(read: Load) -> None:
    """Neither `config show` nor a repr in a log holds one."""
    secret = "tele" + "x" * 20
    password = "pw" + "y" * 20
    loaded = read(
        f"[telemetry]\napi_key = '{secret}'\n[queue]\nurl = 'postgresql://u:{password}@db.test/q'\n[http]\nproxy = 'http://u:{password}@p.test:1'\n"
    )
    told = f"{loaded.shown()} {loaded!r}"
    assert secret not in told
    assert password not in told
    assert loaded.shown()["queue.url"][0] == "postgresql://(set)@db.test/q"
    assert loaded.settings.telemetry.api_key == secret


def test_a_file_with_a_secret_that_others_can_read_is_a_warning(read: Load, tmp_path: Path) -> None:
    """Its mode is no matter while it holds none."""
    config = tmp_path / "config.toml"
    for text, mode, told in (
        ("discover = false\n", 0o644, 0),
        ("[telemetry]\napi_key = 'x'\n", 0o600, 0),
        ("[telemetry]\napi_key = 'x'\n", 0o644, 1),
        ("[queue]\nurl = 'postgresql://u:p@h/d'\n", 0o640, 1),
        ("[queue]\nurl = 'postgresql://h/d'\n", 0o644, 0),
    ):
        config.write_text(text)
        config.chmod(mode)
        assert len(read().warnings) == told, (text, mode)


@example(text="[a]\n[a.b]\n")
@example(text="platform = []\n")
@example(text="[platform.kind]\nx = 1\n")
@given(text=st.text(alphabet=string.printable + "é\0\ufeff", max_size=80))
@hypothesis_settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_settings_or_a_sentence(read: Load, text: str) -> None:
    """No file can make loading fail in another way."""
    told: tuple[str, ...] = ()
    try:
        read(text or "\n")
    except ConfigurationError as error:
        told = tuple(error.sentences)
    assert all("config.toml" in sentence for sentence in told)


@given(key=st.sampled_from(sorted(KEYS)), text=st.text(max_size=30) | st.floats().map(str) | st.integers().map(str))
@hypothesis_settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
