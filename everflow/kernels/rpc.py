"""Calls of services over gRPC: strings go to a method of a server, strings come back."""

from __future__ import annotations

import concurrent.futures
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework import errors
from everflow.kernels.facts import Waits
from everflow.kernels.registry import acting

if TYPE_CHECKING:
    from everflow.kernels.tensors import Strings

_PROTOCOLS = ("", "grpc")
_AT_ONCE = 16


def _call(
    address: bytes, method: bytes, request: bytes, fail_fast: bool, milliseconds: int
) -> tuple[bytes, int, bytes]:
    """The answer of a server, or the code and words of its refusal."""
    import grpc  # takes long to load, and few programs call services

    with grpc.insecure_channel(address.decode()) as channel:
        ask = channel.unary_unary(method.decode())
        timeout = milliseconds / 1000 if milliseconds > 0 else None
        try:
            return ask(request, timeout=timeout, wait_for_ready=not fail_fast), 0, b""
        except grpc.RpcError as error:
            return b"", error.code().value[0], (error.details() or "").encode()


def _calls(
    address: Strings, method: Strings, request: Strings, protocol: str, fail_fast: bool, milliseconds: int
) -> tuple[tuple[int, ...], list[tuple[bytes, int, bytes]]]:
    """The shape of what is asked, and the answers; one address, method or request serves for all."""
    if protocol not in _PROTOCOLS:
        raise errors.InvalidArgumentError(None, None, f"The protocol {protocol!r} is not known: it can be 'grpc'")
    shapes = {given.shape for given in (address, method, request) if given.ndim}
    if len(shapes) > 1:
        raise errors.InvalidArgumentError(
            None, None, f"Addresses, methods and requests must be of one shape, not {sorted(shapes)}"
        )
    shape = next(iter(shapes), ())
    addresses, methods, requests = (np.broadcast_to(given, shape).reshape(-1) for given in (address, method, request))
    with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as threads:
        asked = [
            threads.submit(_call, to, what, said, fail_fast, milliseconds)
            for to, what, said in zip(addresses, methods, requests)
        ]
        answers = [answer.result() for answer in asked]
    return shape, answers


def _strings(values: list[bytes], shape: tuple[int, ...]) -> Strings:
    return np.array([*values, None], object)[:-1].reshape(shape)


@acting("Rpc", waits=Waits.OUTSIDE)
def rpc(
    address: Strings, method: Strings, request: Strings, *, protocol: str, fail_fast: bool, timeout_in_ms: int
) -> Strings:
    shape, answers = _calls(address, method, request, protocol, fail_fast, timeout_in_ms)
    for _, code, message in answers:
        if code:
            raise errors.of_code(code, None, None, message.decode())
    return _strings([answer for answer, _, _ in answers], shape)


@acting("TryRpc", waits=Waits.OUTSIDE)
def try_rpc(
    address: Strings, method: Strings, request: Strings, *, protocol: str, fail_fast: bool, timeout_in_ms: int
) -> tuple[Strings, torch.Tensor, Strings]:
    shape, answers = _calls(address, method, request, protocol, fail_fast, timeout_in_ms)
    codes = torch.tensor([code for _, code, _ in answers], dtype=torch.int32).reshape(shape)
    return _strings([a for a, _, _ in answers], shape), codes, _strings([m for _, _, m in answers], shape)
