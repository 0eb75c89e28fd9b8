"""tensorflow.python.eager.profiler_client: profiles of another process. What it asks for them is not spoken here, so all
that this finds out is whether somebody is there.
"""

from __future__ import annotations

from typing import NoReturn

import grpc

from everflow.framework.errors import UnavailableError, UnimplementedError

_SECONDS = 1.0


def start_tracing(
    service_addr: str,
    logdir: str,
    duration_ms: int,
    worker_list: str = "",
    include_dataset_ops: bool = True,
    num_tracing_attempts: int = 3,
) -> NoReturn:
    """Have the process at an address write a profile."""
    _ask(service_addr, "a profile")


def monitor(service_addr: str, duration_ms: int, monitoring_level: int = 1) -> NoReturn:
    """What the process at an address does, as text."""
    _ask(service_addr, "what it does")


def _ask(address: str, what: str) -> NoReturn:
    with grpc.insecure_channel(address.removeprefix("grpc://")) as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=_SECONDS)
        except grpc.FutureTimeoutError:
            raise UnavailableError(None, None, f"Nobody answers at {address}") from None
    raise UnimplementedError(
        None, None, f"Everflow can't ask {address} for {what}: tf.profiler takes profiles of this process"
    )
