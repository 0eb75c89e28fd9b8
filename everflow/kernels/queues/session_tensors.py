"""Tensors that a session keeps between runs, by the names it gave them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import Effect
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.strings.text import scalar_string

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session
    from everflow.kernels.tensors import AnyTensor, Strings

_KIND = "session_tensor"
_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


@fresh("GetSessionHandle", "GetSessionHandleV2")
def get_session_handle(value: AnyTensor, *, node: Node, session: Session) -> Strings:
    numbers = session.resources.lookup_or_create("", _KIND, "", itertools.count)
    name = f"{node.name};{next(numbers)};{node.device or _DEVICE}"
    session.resources.lookup_or_create(
        "", _KIND, name, lambda: value.clone() if hasattr(value, "clone") else value.copy()
    )
    handle = np.empty((), object)
    handle[()] = name.encode()
    return handle


def kept(session: Session, handle: str | bytes) -> AnyTensor:
    """The tensor behind a handle's name."""
    name = handle.decode() if isinstance(handle, bytes) else handle
    value = session.resources.lookup("", _KIND, name)
    if value is None:
        raise InvalidArgumentError(None, None, f"The tensor with handle '{name}' is not in the session store.")
    return value


@kernel("GetSessionTensor", effect=Effect.READS)
def get_session_tensor(handle: Strings, *, session: Session) -> AnyTensor:
    return kept(session, scalar_string(handle, "handle"))


@kernel("DeleteSessionTensor")
def delete_session_tensor(handle: Strings, *, session: Session) -> None:
    kept(session, scalar_string(handle, "handle"))
    session.resources.delete("", _KIND, handle.item().decode())
