"""Whom the processes of a cluster trust, and how far: certificates, a shared secret, limits, and where they listen.

All of it comes from the environment, since every process of a cluster is started with one, whatever its program looks like.
"""

from __future__ import annotations

import dataclasses
import functools
import hmac
import os
import pathlib
import socket

from everflow.framework import errors
from everflow.platform import logging

# Where protos end, and so what a message can have at most.
LONGEST_MESSAGE = (1 << 31) - 1
_LOOPBACK = "127.0.0.1"
_FILES = ("EVERFLOW_CLUSTER_CERTIFICATE", "EVERFLOW_CLUSTER_KEY", "EVERFLOW_CLUSTER_AUTHORITY")


@dataclasses.dataclass(frozen=True)
class Trust:
    """What one process was told.

    Attributes:
        certificate: The path of this process's certificate, PEM; "" without TLS.
        key: The path of the certificate's private key.
        authority: The path of the certificates that those of all others must be signed by.
        server_name: The name that all servers' certificates have; "" if each has its own host's.
        secret: What every caller must know; "" if anybody may call.
        longest_message: Bytes that a message may have.
        patience: Seconds that another process may be silent; 0 for ever.
        plain_collectives: Whether tensors may travel unencrypted to other machines although there are certificates.
    """

    certificate: str = ""
    key: str = ""
    authority: str = ""
    server_name: str = ""
    secret: str = ""
    longest_message: int = LONGEST_MESSAGE
    patience: float = 0.0
    plain_collectives: bool = False

    @property
    def is_encrypted(self) -> bool:
        return bool(self.certificate)

    def knows(self, word: str | bytes) -> bool:
        """Whether a caller's word is the secret; takes as long for every wrong one."""
        word = word.encode() if isinstance(word, str) else word
        return hmac.compare_digest(word, self.secret.encode())

    def seal(self, key: str, value: bytes) -> bytes:
        """A value with a proof that it was left under this key by somebody who knows the secret."""
        return self._proof(key, value) + value if self.secret else value

    def unseal(self, key: str, sealed: bytes) -> bytes:
        """The value of what `seal` made; PermissionDeniedError for what a stranger has left."""
        if not self.secret:
            return sealed
        proof, value = sealed[:32], sealed[32:]
        if not hmac.compare_digest(proof, self._proof(key, value)):
            text = f"{key!r} was left by a process that doesn't know EVERFLOW_CLUSTER_SECRET, or has another one"
            raise errors.PermissionDeniedError(None, None, text)
        return value

    def _proof(self, key: str, value: bytes) -> bytes:
        return hmac.digest(self.secret.encode(), key.encode() + b"\0" + value, "sha256")


def trust() -> Trust:
    """What this process's environment says; InvalidArgumentError where that can't be meant."""
    said = {name: value for name, value in os.environ.items() if name.startswith("EVERFLOW_CLUSTER_")}
    return _trust(frozenset(said.items()))


@functools.lru_cache(maxsize=8)
def _trust(said: frozenset[tuple[str, str]]) -> Trust:
    environment = dict(said)
    files = {name: environment.get(name, "") for name in _FILES}
    missing = [name for name, path in files.items() if not path]
    if missing and len(missing) < len(_FILES):
        text = f"TLS between tasks needs {', '.join(_FILES)}; {' and '.join(missing)} is not set"
        raise errors.InvalidArgumentError(None, None, text)
    for name, path in files.items():
        if path and not os.path.isfile(path):
            raise errors.NotFoundError(None, None, f"{name}={path!r}: there is no such file")
    certificate, key, authority = files.values()
    return Trust(
        certificate,
        key,
        authority,
        server_name=environment.get("EVERFLOW_CLUSTER_SERVER_NAME", ""),
        secret=_secret(environment),
        longest_message=int(_number(environment, "EVERFLOW_CLUSTER_MESSAGE_LIMIT", LONGEST_MESSAGE)),
        patience=_number(environment, "EVERFLOW_CLUSTER_TIMEOUT", 0.0),
        plain_collectives=environment.get("EVERFLOW_CLUSTER_PLAIN_COLLECTIVES", "") == "1",
    )


def _secret(environment: dict[str, str]) -> str:
    secret, path = environment.get("EVERFLOW_CLUSTER_SECRET", ""), environment.get("EVERFLOW_CLUSTER_SECRET_FILE", "")
    if path:
        try:
            secret = pathlib.Path(path).read_text().strip()
        except OSError as e:
            text = f"EVERFLOW_CLUSTER_SECRET_FILE={path!r} can't be read: {e}"
            raise errors.NotFoundError(None, None, text) from None
        if not secret:  # no secret would let everybody in
            raise errors.InvalidArgumentError(None, None, f"EVERFLOW_CLUSTER_SECRET_FILE={path!r} is empty")
    if not (secret.isascii() and secret.isprintable()):  # it travels in a header
        raise errors.InvalidArgumentError(None, None, "The secret of a cluster must be printable ASCII")
    return secret


def _number(environment: dict[str, str], name: str, default: float) -> float:
    text = environment.get(name, "")
    try:
        number = float(text) if text else default
    except ValueError:
        number = -1.0
    if number < 0:
        raise errors.InvalidArgumentError(None, None, f"{name}={text!r} is not a number that is at least 0")
    return number


# --- where to listen --------------------------------------------------------------------------


def listening_address(host: str) -> str:
    """The address at which a task listens that others know as `host`: that host's own, loopback where none is said.

    `EVERFLOW_CLUSTER_BIND` says another one, for machines that don't know the address under which others see them.
    """
    said = os.environ.get("EVERFLOW_CLUSTER_BIND", "")
    if said:
        return said
    if host in ("", "localhost"):
        return _LOOPBACK
    plain = host.strip("[]")
    try:
        found = socket.getaddrinfo(plain, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as e:
        text = f"Could not start gRPC server: its host, {host!r}, has no address ({e})"
        raise errors.UnknownError(None, None, text) from None
    addresses = sorted({str(entry[4][0]) for entry in found}, key=lambda address: ":" in address)  # IPv4 first
    for address in addresses:
        if _is_here(address):
            if address.startswith("127.") and address != plain:
                logging.warning(
                    "%s is %s on this machine, so other machines can't reach this task; EVERFLOW_CLUSTER_BIND says where to listen",
                    host,
                    address,
                )
            return address
    raise errors.UnknownError(
        None,
        None,
        f"Could not start gRPC server: {host!r} is {', '.join(addresses)}, which is no address of this machine. Set EVERFLOW_CLUSTER_BIND to the "
        "address at which to listen (0.0.0.0: at all)",
    )


def listener(host: str, port: int = 0) -> socket.socket:
    """A socket that listens where a task of that host does."""
    address = listening_address(host)
    return socket.create_server((address, port), family=_family(address))


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def _is_here(address: str) -> bool:
    with socket.socket(_family(address), socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def is_loopback(host: str) -> bool:
    """Whether what goes to a host stays on this machine."""
    return host in ("", "localhost", "::1", "[::1]") or host.startswith("127.")
