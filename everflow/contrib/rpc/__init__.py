"""tf.contrib.rpc: calls of other servers from a graph."""

from __future__ import annotations

from everflow.framework import raw_ops

__all__ = ["rpc", "try_rpc"]


def rpc(address, method, request, protocol="", fail_fast=True, timeout_in_ms=0, name=None):
    """What servers answer to requests; an error of one call is an error of the run."""
    return raw_ops.Rpc(
        address=address,
        method=method,
        request=request,
        protocol=protocol,
        fail_fast=fail_fast,
        timeout_in_ms=timeout_in_ms,
        name=name,
    )


def try_rpc(address, method, request, protocol="", fail_fast=True, timeout_in_ms=0, name=None):
    """What servers answer to requests, with a status code and a message for each."""
    return raw_ops.TryRpc(
        address=address,
        method=method,
        request=request,
        protocol=protocol,
        fail_fast=fail_fast,
        timeout_in_ms=timeout_in_ms,
        name=name,
    )
