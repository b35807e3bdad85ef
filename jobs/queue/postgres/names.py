"""Digests in place of names: what a session, a spool or a repository is called stands in no column of the database."""

import hashlib

DIGEST_BYTES = 16

SHOWN_KEY = "#"
"""How the id of a job begins whose own this machine cannot read: the key follows, in hexadecimal."""


def key(job_id: str, secret: bytes) -> bytes:
    """Return the key of a job's id; of an id that shows a key, that one."""
    if job_id.startswith(SHOWN_KEY) and len(job_id) == len(SHOWN_KEY) + 2 * DIGEST_BYTES:
        try:
            return bytes.fromhex(job_id[len(SHOWN_KEY) :])
        except ValueError:
            pass
    return _digest(b"job", job_id, secret)


def lane(name: str, secret: bytes) -> bytes | None:
    """Return what stands for a lane; None for no lane."""
    return _digest(b"lane", name, secret) if name else None


def shown(job_key: bytes) -> str:
    """Return what a key shows as where the id cannot be read."""
    return SHOWN_KEY + job_key.hex()


def _digest(what: bytes, name: str, secret: bytes) -> bytes:
    text = name.encode(errors="surrogatepass")
    return hashlib.blake2b(text, digest_size=DIGEST_BYTES, key=secret, person=what).digest()
