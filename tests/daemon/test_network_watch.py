"""Noticing that the machine is on another network."""

import ipaddress

from daemon.network_watch import NetworkWatch, own_addresses

HOME, CAFE = ("192.168.1.20", "fd00::20"), ("10.0.0.7",)


def test_another_network_is_news_once() -> None:
    """The first look is the normal; another address is told, and then is the new normal."""
    found = [HOME]
    watch = NetworkWatch(lambda: found[-1])
    assert not watch.changed()
    found.append(CAFE)
    assert watch.changed()
    assert not watch.changed()


def test_coming_back_is_news_and_leaving_is_none() -> None:
    """Without a network there is nothing to try; with one there is, be it the same."""
    found = [HOME]
    watch = NetworkWatch(lambda: found[-1])
    found.append(())
    assert not watch.changed()
    found.append(HOME)
    assert watch.changed()


def test_asks_the_system() -> None:
    """What is found are addresses, and with no network there are none."""
    for address in own_addresses():
        assert not ipaddress.ip_address(address).is_unspecified
