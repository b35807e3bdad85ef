"""The shared queue's tables: made once, refused when newer, and worked on with the least rights."""

import subprocess
import sys
import threading
from pathlib import Path

import psycopg
import pytest
from psycopg.rows import dict_row

from jobs.job import NewJob
from jobs.outcomes import Done
from jobs.queue.errors import NewerSchema, NotSetUp, QueueUnavailable
from jobs.queue.postgres import schema
from jobs.queue.shared_queue import Serves
from tests.fakes.postgres_server import PostgresServer, shared_server
from tests.jobs.queue.fleet import Fleet

ROOT = Path(__file__).parents[4]


def test_a_newer_version_is_refused_and_not_touched(fleet: Fleet) -> None:
    """The sentence names the place, without a password, and both versions."""
    fleet.statement("UPDATE memsyncd_schema SET version = %s", schema.VERSION + 1)
    url = fleet.url.replace("user=postgres", "user=postgres&password=hunter2")
    with pytest.raises(
        NewerSchema, match=rf"^the shared queue postgres at .* has schema version {schema.VERSION + 1}"
    ) as told:
        fleet.machine(url=url)
    assert "hunter2" not in str(told.value)
    assert fleet.statement("SELECT version FROM memsyncd_schema") == [(schema.VERSION + 1,)]


def test_many_may_make_the_tables_at_once() -> None:
    """Whoever comes second finds them and uses them."""
    url = shared_server().fresh()
    errors: list[BaseException] = []

    def prepare() -> None:
        try:
            with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
                schema.prepare(connection, "here")
        except BaseException as error:  # noqa: BLE001  (any is a failure of the test)
            errors.append(error)

    threads = [threading.Thread(target=prepare) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT version FROM memsyncd_schema").fetchall() == [(schema.VERSION,)]


def test_a_step_that_fails_leaves_nothing(fleet: Fleet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The next step breaks half way: the tables stay as they were, and so does what they say of themselves."""
    known = [step.read_text() for step in schema.steps()]
    for number, words in enumerate((*known, "CREATE TABLE memsyncd_more (); SELECT 1 / 0"), 1):
        (tmp_path / f"{number:04}.sql").write_text(words)
    monkeypatch.setattr(schema, "STEPS", tmp_path)
    with pytest.raises(QueueUnavailable, match="division by zero"):
        fleet.machine()
    assert fleet.statement("SELECT steps FROM memsyncd_schema") == [(len(known),)]
    assert fleet.statement("SELECT to_regclass('memsyncd_more')") == [(None,)]
    (tmp_path / f"{len(known) + 1:04}.sql").write_text("CREATE TABLE memsyncd_more ()")
    fleet.machine()
    assert fleet.statement("SELECT steps FROM memsyncd_schema") == [(len(known) + 1,)]


def test_a_queue_of_the_first_version_is_brought_forward_with_what_it_holds() -> None:
    """Its tables as the first program made them, which noted no steps, with a job in them."""
    url = shared_server().fresh()
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        connection.execute("CREATE TABLE memsyncd_schema (version integer NOT NULL)")
        connection.execute("INSERT INTO memsyncd_schema VALUES (1)")
        connection.execute(schema.steps()[0].read_bytes())
        connection.execute("INSERT INTO memsyncd_destinations (account, name) VALUES ('', 'api')")
        connection.execute(
            "INSERT INTO memsyncd_jobs (key, kind, destination, account, host, priority, state, head, sealed,"
            " created_at, updated_at) VALUES ('a', 'flush', 'api', '', 'h', 0, 'ready', true, '{}', 1, 1)"
        )
        schema.prepare(connection, "here")
        schema.prepare(connection, "here")
        row = connection.execute("SELECT version, steps FROM memsyncd_schema").fetchone()
        assert row == {"version": schema.VERSION, "steps": len(schema.steps())}
        claimed = connection.execute(
            "SELECT key FROM memsyncd_claim('o', 'w', 60, '', false, '{\"\"}', 'api')"
        ).fetchone()
        assert claimed == {"key": b"a"}


def test_a_program_that_knows_fewer_steps_goes_on(fleet: Fleet) -> None:
    """A fleet's machines are updated one after the other: only what an older one cannot live with shuts it out."""
    one = fleet.machine("one")
    one.enqueue(NewJob("a", "flush", account="ann"))
    fleet.statement("UPDATE memsyncd_schema SET steps = steps + 1")
    claim = fleet.machine("two").claim()
    assert claim is not None
    assert claim.job.id == "a"


def test_the_first_programs_way_to_claim_works_on(fleet: Fleet) -> None:
    """It takes jobs of every account, as it always did."""
    fleet.machine().enqueue(NewJob("a", "flush", account="ann"), NewJob("b", "flush", account="bob"))
    words = "SELECT account, state FROM memsyncd_claim(%s, 'w', 60, '', false)"
    claimed = [fleet.statement(words, f"o{number}") for number in range(3)]
    assert claimed == [[("ann", "claimed")], [("bob", "claimed")], [(None, "none")]]
    assert fleet.statement("SELECT version FROM memsyncd_schema") == [(1,)]


@pytest.fixture
def administered() -> PostgresServer:
    """Give a server on which the roles were made, twice, with a login for the owner and one for a machine."""
    server = shared_server()
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for _ in range(2):
            connection.execute(schema.ROLES.read_bytes())
        connection.execute("DROP SCHEMA memsyncd CASCADE")
        connection.execute("DROP ROLE IF EXISTS deployment; CREATE ROLE deployment LOGIN IN ROLE memsyncd_owner")
        connection.execute("DROP ROLE IF EXISTS machine; CREATE ROLE machine LOGIN IN ROLE memsyncd_member")
        connection.execute("ALTER ROLE deployment IN DATABASE postgres SET role = memsyncd_owner")
        for role in ("deployment", "machine"):
            connection.execute(f"ALTER ROLE {role} IN DATABASE postgres SET search_path = memsyncd")
        connection.execute(schema.ROLES.read_bytes())
    return server


def test_a_machine_needs_no_more_than_to_read_and_write_rows(administered: PostgresServer, fleet: Fleet) -> None:
    """The owner makes the tables; a machine does all the queue does, and can make, change, empty or drop none."""
    owners, machines = (administered.url(user=user) for user in ("deployment", "machine"))
    with pytest.raises(NotSetUp, match="Let their owner start"):
        fleet.machine("two", url=machines)
    fleet.machine("one", url=owners).enqueue(NewJob("a", "flush", destination="api", lane="s1"))
    two = fleet.machine("two", url=machines, serves=lambda: Serves(frozenset({""}), "api"))
    assert two.void_claims() == 0
    claim = two.claim()
    assert claim is not None
    assert two.renew() == 1
    two.finish(claim, Done(), answered=True)
    assert two.prune(finished_before=2e12) == 1
    two.shift_clock(1.0)
    assert two.erase("s1") == two.release("api") == 0
    two.announce(Serves(frozenset({""}), "api"))
    assert two.unserved() == []
    assert two.counts().done == 0
    with psycopg.connect(machines, autocommit=True) as connection:
        for words in (
            "CREATE TABLE memsyncd_mine ()",
            "ALTER TABLE memsyncd_jobs ADD more text",
            "TRUNCATE memsyncd_jobs",
            "DROP TABLE memsyncd_jobs",
            "CREATE OR REPLACE FUNCTION memsyncd_now() RETURNS float8 LANGUAGE sql AS 'SELECT 0::float8'",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(words)


def test_rights_taken_away_are_told_and_pass(administered: PostgresServer, fleet: Fleet) -> None:
    """While a machine has none its calls say so; given back, it goes on."""
    fleet.machine("one", url=administered.url(user="deployment"))
    queue = fleet.machine("two", url=administered.url(user="machine"))
    fleet.statement("REVOKE ALL ON memsyncd.memsyncd_jobs FROM memsyncd_member")
    with pytest.raises(QueueUnavailable, match="permission denied"):
        queue.enqueue(NewJob("a", "flush"))
    with pytest.raises(QueueUnavailable, match="permission denied"):
        queue.counts()
    fleet.statement("GRANT SELECT, INSERT, UPDATE, DELETE ON memsyncd.memsyncd_jobs TO memsyncd_member")
    assert queue.enqueue(NewJob("a", "flush")) == 1


def test_a_schema_that_is_not_there_is_told(fleet: Fleet) -> None:
    """A search path that leads nowhere is for a person to mend."""
    with pytest.raises(NotSetUp, match="no schema"):
        fleet.machine(url=shared_server().url("nowhere"))


def test_a_url_that_is_none_is_told_and_not_shown(fleet: Fleet) -> None:
    """What libpq says of it would show the password."""
    with pytest.raises(NotSetUp, match="no URL of a PostgreSQL database") as told:
        fleet.machine(url="postgresql://me:hunter2@[::1/queue")
    assert "hunter2" not in str(told.value)
    assert told.value.__cause__ is None
    assert told.value.__suppress_context__


def test_closing_twice_does_no_harm(fleet: Fleet) -> None:
    """What comes after a close is refused."""
    queue = fleet.machine()
    queue.listen()
    queue.close()
    queue.close()
    with pytest.raises(QueueUnavailable, match="closed"):
        queue.enqueue(NewJob("a", "flush"))
    with pytest.raises(QueueUnavailable, match="closed"):
        queue.counts()


def test_a_server_that_is_not_there_is_told(fleet: Fleet) -> None:
    """No connection is a thing that passes."""
    with pytest.raises(QueueUnavailable, match="cannot be used: "):
        fleet.machine(url="postgresql:///postgres?host=/tmp/no-such-directory")


def loaded(words: str) -> set[str]:
    """Return which of the drivers a new Python has loaded after it ran `words`."""
    script = f"import sys; {words}; print(*{{'psycopg', 'redis', 'huey'}} & set(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    return set(ran.stdout.split())


def test_the_embedded_queue_loads_no_driver_of_another() -> None:
    """Huey loads psycopg wherever it is installed: 17 MB that a daemon with its queue in a file has no room for."""
    assert loaded("import jobs.queue.workers, jobs.queue.sqlite_queue, jobs.queue.shared") == {"huey"}
    assert loaded("import jobs.queue.workers, jobs.queue.postgres.queue") == {"huey", "psycopg"}


def test_a_missing_driver_is_told_with_its_remedy() -> None:
    """Where psycopg is not installed the sentence says what to install."""
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from jobs.queue import shared\n"
        "try: shared.open_shared('postgresql://', host='', worker='', clock=None, policy=None, counters=None, random=None)\n"
        "except shared.NotSetUp as error: print(error)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert "pip install 'memsyncd[postgres]'" in ran.stdout
