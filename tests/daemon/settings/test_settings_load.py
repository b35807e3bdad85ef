"""Settings put together: what wins, where it is from, and what only shows together."""

import json
import pwd
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from daemon.settings import flatten
from daemon.settings.keys import KEYS
from tests.daemon.settings.reading import Load, sentences


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


def test_all_faults_are_told_at_once(read: Load) -> None:
    """Nobody should have to start five times to learn of five slips."""
    told = sentences(
        read, "[queue]\nworkers = 0\nworkerz = 1\n", {"MEMSYNCD_HTTP_TIMEOUT_SECONDS": "soon"}, log__level="loud"
    )
    assert len(told) == 4


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


def test_a_server_of_ones_own_needs_its_address(read: Load) -> None:
    """There is no usual one; a key is not needed, for such a server may run without any."""
    (only,) = sentences(read, "[platform]\nkind = 'mem0-server'\n")
    assert "set platform.url" in only
    loaded = read("[platform]\nkind = 'mem0-server'\n", {"MEM0_API_URL": "http://localhost:8888"})
    assert (loaded.settings.platform.kind, loaded.settings.platform.url) == ("mem0-server", "http://localhost:8888")


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


@pytest.mark.parametrize("kind", ["mem0", "mem0-server"])
def test_a_plugin_s_address_that_is_none_stops_nothing_and_sends_nothing_elsewhere(read: Load, kind: str) -> None:
    """Ignored with a grave warning: what was meant for a server of one's own does not go to the usual address instead."""
    loaded = read(f"[platform]\nkind = '{kind}'\n", {"MEM0_API_URL": "localhost:8888", "MEM0_API_KEY": "k"})
    told = "MEM0_API_URL is no address: begin it with http:// and name a host. It is not used, and without another one"
    assert loaded.warnings == (f"{told} nothing is sent.",)
    assert loaded.cures == {loaded.warnings[0]: "Correct MEM0_API_URL, or take it out."}
    assert urlsplit(loaded.settings.platform.url).hostname.endswith(".invalid")
    assert loaded.origins["platform.url"] == "MEM0_API_URL"


def test_a_plugin_s_address_that_is_none_leaves_the_others(read: Load) -> None:
    """The file's address counts then, and the embedded platform needs none."""
    environ = {"MEM0_API_URL": "notaurl"}
    embedded = read("", environ)
    assert (embedded.settings.platform.kind, embedded.settings.platform.url) == ("local", "")
    assert embedded.cures
    by_file = read("[platform]\nkind = 'mem0-server'\nurl = 'http://localhost:8888'\n", environ)
    assert by_file.settings.platform.url == "http://localhost:8888"
    assert by_file.warnings
    assert by_file.cures


@pytest.mark.parametrize("name", ["MEM0_CODE_DATA_DIR", "PLUGIN_OPTION_DATA_DIR", "CLAUDE_PLUGIN_OPTION_DATA_DIR"])
@pytest.mark.parametrize("text", ["rel", "$HOME/spool", "~nobody-at-all/spool", " /a", "/\udcff"])
def test_a_plugin_s_directory_that_names_none_stops_nothing(read: Load, name: str, text: str) -> None:
    """It is no spool, which is told as gravely as a spool that is no directory."""
    loaded = read("[[spools]]\npath = '/a-b'\n", {name: text})
    assert [spool.path for spool in loaded.settings.spools] == ["/a-b"]
    [warning] = loaded.warnings
    assert warning.startswith(f"{name} is ")
    assert warning.endswith(": nothing is taken in from there.")
    assert loaded.cures == {warning: f"Correct {name}, or take it out."}


def test_a_plugin_s_path_of_notes_that_names_none_stops_nothing(read: Load) -> None:
    """It is not used, with a warning; the file's counts."""
    loaded = read("agent_memory_path = '/notes'\n", {"AGENT_MEMORY_PATH": "rel"})
    assert loaded.settings.agent_memory_path == "/notes"
    assert loaded.warnings == (
        "AGENT_MEMORY_PATH is 'rel', but takes an absolute path, or one that begins with ~/: it is not used.",
    )


def test_exclusions_are_resolved_against_the_home(read: Load) -> None:
    """`~` is the user's, and a pattern without a root stays one."""
    text = "exclude = ['~/clients/**', '**/secret', '~']\n"
    assert read(text).settings.exclude == ["/home/ada/clients/**", "**/secret", "/home/ada"]
    assert read(text, {"MEMSYNCD_EXCLUDE": "~/a:/b"}).settings.exclude == ["/home/ada/a", "/b"]


@pytest.mark.parametrize(
    ("pattern", "cure"),
    [
        ("clients/**", "begins with ~/, or with **/ for any place"),
        ("./clients", "absolute"),
        ("!/w/clients", "absolute"),
        ("", "take it out"),
        ("  ", "take it out"),
        ("/w/clients ", "white space"),
        ("$HOME/clients/**", "~/ is your home"),
        ("/home/${USER}/clients", "without variables"),
        ("/home/$USER/clients", "without variables"),
        ("~nosuch-user/**", "nobody is called 'nosuch-user'"),
        ("/", "memsyncd pause"),
        ("/**", "memsyncd pause"),
        ("**", "memsyncd pause"),
        ("/*/**", "memsyncd pause"),
        ("/w/{a,b}/**", "a pattern of its own for each"),
        ("/w/*/../x", "behind a wildcard"),
        ("/w/*//x", "behind a wildcard"),
    ],
)
def test_an_exclusion_of_nothing_or_of_everything_is_a_fault(read: Load, pattern: str, cure: str) -> None:
    """Who writes one believes a project is kept out; the sentence says where it stands and what to write."""
    (only,) = sentences(read, f"discover = true\nexclude = [{json.dumps(pattern)}, '/w/right']\n")
    assert "config.toml:2" in only and "exclude" in only and cure in only


def test_what_an_exclusion_may_look_like(read: Load) -> None:
    """Another user's home, a name with a dollar, and a way through `..` that is looked up all name something."""
    patterns = ["~root/x", "/w/a$b", "/w/../x/*", "/w/{one}", "*.secret", "/w/*/"]
    home = pwd.getpwnam("root").pw_dir.rstrip("/")
    assert read(f"exclude = {json.dumps(patterns)}").settings.exclude == [f"{home}/x", *patterns[1:]]


@pytest.mark.parametrize("path", ["$HOME/x", "~nosuch-user/x", "/srv/$NAME/x"])
@pytest.mark.parametrize("key", ["platform.api_key_file", "queue.keys_directory", "spools"])
def test_a_path_that_names_nothing_is_a_fault(read: Load, key: str, path: str) -> None:
    """Wherever a setting takes a path."""
    (only,) = sentences(read, "", {}, **{key.replace(".", "__"): path})
    assert ("spool" if key == "spools" else key) in only and "but takes" in only


@pytest.mark.parametrize("key", ["platform.api_key_file", "http.ca_file", "agent_memory_path"])
def test_a_relative_path_is_refused(read: Load, key: str) -> None:
    """Relative to what would depend on who started the daemon."""
    (only,) = sentences(read, "", {KEYS[key].variable: "here/x"})
    assert key in only
    assert "absolute" in only


@pytest.mark.parametrize(
    ("url", "model", "word"),
    [
        ("http://localhost:11434/v1", "m", ""),
        ("http://[::1]:8080", "m", ""),
        ("https://models.example.test/v1", "m", ""),
        ("http://models.example.test/v1", "m", "takes https"),
        ("http://10.0.0.7:11434/v1", "m", "takes https"),
        ("http://localhost:11434/v1", "", "set extractor.model"),
    ],
)
def test_what_was_said_goes_to_a_model_in_the_clear_only_on_this_machine(
    read: Load, url: str, model: str, word: str
) -> None:
    """And never without a model's name."""
    variables = {"MEMSYNCD_EXTRACTOR_URL": url, "MEMSYNCD_EXTRACTOR_MODEL": model}
    if not word:
        assert read("", variables).settings.extractor.url == url
        return
    (only,) = sentences(read, "", variables)
    assert word in only


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
        f"[telemetry]\napi_key = '{secret}'\n[queue]\nurl = 'postgresql://u:{password}@db.test/q'\n[http]\nproxy = 'http://u:{password}@p.test:1'\n",
        {"MEMSYNCD_PLATFORM_KIND": "mem0"},
    )
    told = f"{loaded.shown()} {loaded!r}"
    assert secret not in told
    assert password not in told
    assert loaded.shown()["queue.url"][0] == "postgresql://(set)@db.test/q"
    assert loaded.settings.telemetry.api_key == secret


def test_a_file_of_authorities_that_cannot_be_read_is_told_of(read: Load, tmp_path: Path) -> None:
    """It may come, or be mounted, later; until then nothing is sent by https."""
    there, absent = tmp_path / "ca.pem", tmp_path / "absent.pem"
    there.write_text("")
    assert not read("", {"MEMSYNCD_HTTP_CA_FILE": str(there)}).warnings
    for path in (absent, tmp_path):
        loaded = read("", {"MEMSYNCD_HTTP_CA_FILE": str(path)})
        (only,) = loaded.warnings
        assert "http.ca_file" in only and str(path) in only
        assert only in loaded.cures


def test_a_secret_in_a_query_or_a_command_is_masked_too(read: Load) -> None:
    """Gateways take tokens in addresses, and people write the key where a command belongs."""
    token = "tok" + "z" * 20
    loaded = read(
        f"[platform]\nurl = 'https://host.test/x?token={token}'\napi_key_command = 'echo {token}'\n"
        f"[telemetry]\nendpoint = 'https://events.test/?token={token}'\n",
    )
    assert token not in str(loaded.shown())
    assert loaded.shown()["platform.url"][0] == "https://host.test/x?(set)"
    assert loaded.settings.platform.api_key_command == f"echo {token}"


@pytest.mark.parametrize(
    ("kind", "url", "is_told"),
    [
        ("mem0", "http://api.example.test", True),
        ("mem0-server", "http://10.0.0.7:8888", True),
        ("mem0-server", "http://localhost:8888", False),
        ("mem0-server", "http://[::1]:8888", False),
        ("mem0", "https://api.example.test", False),
        ("local", "http://api.example.test", False),
    ],
)
def test_a_key_that_would_go_in_the_clear_is_told_of(read: Load, kind: str, url: str, is_told: bool) -> None:
    """It is taken all the same: only whoever runs the network knows who is on the way."""
    loaded = read("", {"MEMSYNCD_PLATFORM_KIND": kind, "MEMSYNCD_PLATFORM_URL": url})
    assert any("platform.url" in warning and "https" in warning for warning in loaded.warnings) is is_told


def test_telemetry_in_the_clear_is_told_of_where_it_is_on(read: Load) -> None:
    """Its endpoint's key goes along."""
    there = {"MEMSYNCD_TELEMETRY_ENDPOINT": "http://events.example.test", "MEMSYNCD_TELEMETRY_API_KEY": "k"}
    assert not read("", there).warnings
    (only,) = read("", there | {"MEMSYNCD_TELEMETRY_ENABLED": "true"}).warnings
    assert "telemetry.endpoint" in only


URL = "postgresql://h/q"


@pytest.mark.parametrize("role", ["edge", "worker"])
def test_a_part_in_no_shared_queue_is_refused(read: Load, role: str) -> None:
    """A drain would say that everything is delivered, into the file of a sandbox that is thrown away."""
    (only,) = sentences(read, f'[queue]\nrole = "{role}"\n', {})
    assert "queue.role" in only and "queue.url" in only
    assert sentences(read, "", {"MEMSYNCD_QUEUE_URL": ""}, queue__role=role)
    assert read("", {"MEMSYNCD_QUEUE_URL": URL, "MEM0_API_KEY": "k"}, queue__role=role).settings.queue.role == role


@pytest.mark.parametrize("given", [{}, {"MEMSYNCD_PLATFORM_KIND": "local"}])
def test_memories_of_one_machine_go_into_no_shared_queue(read: Load, given: dict[str, str]) -> None:
    """Also where nothing names a platform: without a key it is the embedded one."""
    (only,) = sentences(read, "", {"MEMSYNCD_QUEUE_URL": URL, **given})
    assert "queue.url" in only and "platform.kind" in only
    assert read("", {"MEMSYNCD_QUEUE_URL": URL, "MEMSYNCD_PLATFORM_KIND": "mem0"}).settings.queue.url == URL


@pytest.mark.parametrize(
    ("role", "url", "is_edge"), [("edge", URL, True), ("worker", URL, False), ("both", URL, False)]
)
def test_an_edge_is_told_by_its_role_in_a_queue(read: Load, role: str, url: str, is_edge: bool) -> None:
    assert (
        read("", {"MEMSYNCD_PLATFORM_KIND": "mem0"}, queue__url=url, queue__role=role).settings.queue.is_edge is is_edge
    )


def test_a_spool_that_can_be_none_is_told_of(read: Load, tmp_path: Path) -> None:
    """A file is there, or a link that leads nowhere. One that is not there yet may be made, and a directory is well."""
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name, told in (("file", 1), ("link", 1), ("file/below", 0), ("later", 0), ("", 0)):
        warnings = read("", {}, spools=str(tmp_path / name)).warnings
        assert len(warnings) == told, name
        assert all(str(tmp_path / name) in warning for warning in warnings)
