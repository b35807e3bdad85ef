"""An evidence file that is damaged when the daemon starts."""

from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.embedded import recorded
from tests.end_to_end.killing.scenario import Case, Scenario

DAMAGE = b"no database at all" * 1_000


class DamagedEvidence(Scenario):
    """It is kept, whole and once, and a new one takes in what waits."""

    name = "a damaged evidence file set aside"
    codes = (0, 1)  # 1 where the run itself finds the damage; what came of it is the same

    def seed(self, home: Home) -> None:
        home.exchange("s1", 1)
        home.end("s1")
        (home.spool() / "evidence.sqlite3").write_bytes(DAMAGE)

    def assert_none_is_lost(self, case: Case) -> None:
        kept = list(case.home.spool().glob("evidence.sqlite3.corrupt-*"))
        assert [path.read_bytes() for path in kept] == [DAMAGE]
        assert recorded(case, "claude-code") == 2
        statuses = case.rows(case.home.spool() / "evidence.sqlite3", "SELECT status FROM flushes")
        assert statuses == [("semantic-succeeded",)]
