"""What of the settings decides over a fleet's claims."""

import pytest

from daemon.fleet.composing import lease_of
from daemon.settings.schema import Http, Settings


@pytest.mark.parametrize(("request_seconds", "lease"), [(15.0, 60.0), (30.0, 60.0), (45.0, 75.0), (600.0, 630.0)])
def test_a_claim_lasts_longer_than_its_request(request_seconds: float, lease: float) -> None:
    """A worker without a database renews nothing; its request is over before another may look for it."""
    assert lease_of(Settings(http=Http(timeout_seconds=request_seconds))) == lease
