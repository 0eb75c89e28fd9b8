"""Why a server that is there can't be talked to: a call that waits for it would wait for ever where the two sides don't agree on
TLS, so whoever waits looks here now and then.
"""

from __future__ import annotations

import socket
import ssl

from everflow.framework import errors
from everflow.platform.trust import Trust

_SECONDS = 1.0  # for an answer
_SET_ALL = "EVERFLOW_CLUSTER_CERTIFICATE, _KEY and _AUTHORITY"


def check_greeting(address: str, told: Trust) -> None:
    """FailedPreconditionError where a server and we can't agree on TLS. One that is not up yet may come: that is no error."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]") or "localhost", int(port)), _SECONDS) as connection:
            reason = _with_tls(connection, host, told) if told.is_encrypted else _without_tls(connection)
    except (OSError, ValueError):
        return
    if reason:
        raise errors.FailedPreconditionError(None, None, f"The server at {address} {reason}")


def _without_tls(connection: socket.socket) -> str:
    """What is wrong with a server that we talk to plainly."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        context.wrap_socket(connection).close()
    except ssl.SSLError as e:
        # A plain server's bytes are no TLS; what a TLS server dislikes it says in TLS.
        if e.reason is None or "ALERT" not in e.reason:
            return ""
    return f"speaks TLS, and this process has no certificate: set {_SET_ALL} as the server has them"


def _with_tls(connection: socket.socket, host: str, told: Trust) -> str:
    """What is wrong with a server that we talk to by TLS."""
    context = ssl.create_default_context(cafile=told.authority)
    context.load_cert_chain(told.certificate, told.key)
    context.set_alpn_protocols(["h2"])
    try:
        with context.wrap_socket(connection, server_hostname=told.server_name or host.strip("[]")) as greeted:
            if not greeted.recv(1):  # a server that likes our certificate begins to talk, another hangs up
                return "refuses the certificate of this process: EVERFLOW_CLUSTER_AUTHORITY there may be another"
    except ssl.SSLCertVerificationError as e:
        what = (
            "EVERFLOW_CLUSTER_SERVER_NAME or its host"
            if "ostname" in e.verify_message
            else "EVERFLOW_CLUSTER_AUTHORITY"
        )
        return f"shows a certificate that doesn't fit {what}: {e.verify_message}"
    except ssl.SSLError as e:
        if e.reason is not None and "ALERT" in e.reason:
            return f"refuses the certificate of this process: {e.reason.replace('_', ' ').lower()}"
        return f"doesn't speak TLS, and this process does: set {_SET_ALL} in all processes or in none"
    except TimeoutError:
        pass  # it has nothing to say against us
    return ""
