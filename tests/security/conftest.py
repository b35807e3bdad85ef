"""The homes of the end-to-end tests: real daemons, real hooks."""

from tests.end_to_end.conftest import api, home, hosted

__all__ = ["api", "home", "hosted"]
