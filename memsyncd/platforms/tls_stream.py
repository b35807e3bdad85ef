"""TLS over any httpcore stream, so that the deadline and the stop of the stream below hold for the handshake too."""

import ssl
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import httpcore

RECORD = 16 * 1024 + 512
"""Bytes read from below at a time: one TLS record (RFC 8446, 5.2: at most 2^14 + 256)."""

T = TypeVar("T")


class TlsError(httpcore.ConnectError):
    """The other side speaks no TLS that we can agree with."""


class CertificateError(TlsError):
    """The other side's certificate is not to be trusted."""


class TlsStream(httpcore.NetworkStream):
    """An encrypted stream over `below`, which may be encrypted itself (a TLS proxy)."""

    def __init__(self, below: httpcore.NetworkStream, context: ssl.SSLContext, server_hostname: str | None) -> None:
        self._below = below
        self._received = ssl.MemoryBIO()
        self._to_send = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._received, self._to_send, server_hostname=server_hostname)

    def handshake(self, timeout: float | None) -> None:
        """Agree on keys and check the certificate. Raises CertificateError, TlsError, or what is raised below."""
        try:
            self._run(self._tls.do_handshake, timeout)
        except ssl.SSLCertVerificationError as failure:
            raise CertificateError(failure.verify_message) from failure
        except ssl.SSLError as failure:
            raise TlsError((failure.reason or "broken handshake").replace("_", " ").lower()) from failure
        except httpcore.ReadTimeout as failure:
            raise httpcore.ConnectTimeout("no TLS handshake in time") from failure

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what is there, at most `max_bytes`; empty at the end."""
        try:
            return self._run(partial(self._tls.read, max_bytes), timeout)
        except ssl.SSLZeroReturnError:
            return b""
        except ssl.SSLError as failure:
            raise httpcore.ReadError("the encrypted connection broke") from failure

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of `buffer`."""
        view = memoryview(buffer)
        try:
            while view:
                written = self._run(partial(self._tls.write, view), timeout)
                view = view[written:]
        except ssl.SSLError as failure:
            raise httpcore.WriteError("the encrypted connection broke") from failure

    def close(self) -> None:
        """Close the stream below."""
        self._below.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Speak TLS inside this TLS."""
        return start(self, ssl_context, server_hostname, timeout)

    def get_extra_info(self, info: str) -> Any:
        """Answer httpcore's questions about the connection."""
        return self._tls if info == "ssl_object" else self._below.get_extra_info(info)

    def _run(self, act: Callable[[], T], timeout: float | None) -> T:
        while True:
            try:
                result = act()
            except ssl.SSLWantReadError:
                self._flush(timeout)
                if data := self._below.read(RECORD, timeout):
                    self._received.write(data)
                else:
                    self._received.write_eof()
            else:
                self._flush(timeout)
                return result

    def _flush(self, timeout: float | None) -> None:
        if pending := self._to_send.read():
            self._below.write(pending, timeout)


def start(
    below: httpcore.NetworkStream, context: ssl.SSLContext, server_hostname: str | None, timeout: float | None
) -> TlsStream:
    """Return an encrypted stream over `below` after the handshake; `below` is closed if there is none."""
    stream = TlsStream(below, context, server_hostname)
    try:
        stream.handshake(timeout)
    except BaseException:
        below.close()
        raise
    return stream
