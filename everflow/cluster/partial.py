"""A run in parts on a cluster: each part is a run of its own, fed with what earlier parts computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everflow.cluster.values import decode
from everflow.framework import dtypes
from everflow.framework.operation import Tensor
from everflow.runtime.partial import VARIABLES, PartialRun

if TYPE_CHECKING:
    from everflow.cluster.master_session import MasterSession
    from everflow.framework.hints import Element
    from everflow.protos import tensor_pb2

_HELD = (dtypes.resource, dtypes.variant)


class MasterPartialRun(PartialRun):
    """The state of one `partial_run_setup` at a master; values are TensorProtos."""

    def __init__(self, session: MasterSession, fetches: list[Element], feeds: list[Tensor]) -> None:
        super().__init__(None, fetches, feeds)  # its runs are the session's, not an executor's
        self._session = session

    def _feed(self, tensor: Tensor, value: tensor_pb2.TensorProto) -> None:
        decode(value, tensor.dtype.base_dtype)  # says what is wrong with it, if anything
        self._arrays[tensor] = self._values[tensor] = value

    def _compute(self, fetches: list[Element]) -> None:
        needed = self._pending(fetches)
        # Variables, handles and the like belong to the session, so every part looks them up anew.
        lasting = {op for op in needed if op.type in VARIABLES or any(t.dtype.base_dtype in _HELD for t in op.outputs)}
        tensors = [t for op in needed if op not in lasting for t in op.outputs if t not in self._values]
        if needed:
            tasks = self._session.register(tensors + needed, list(self._values), frozenset(self._done))
            found = self._session.run_tasks(tasks, {t.name: v for t, v in self._values.items()})
            self._values.update((t, found[t.name]) for t in tensors)
            self._done.update(op for op in needed if op not in lasting)

    def _result(self, fetch: Element) -> tensor_pb2.TensorProto | None:
        if not isinstance(fetch, Tensor):
            return None
        if fetch not in self._values:  # a variable itself
            return self._session.run_tasks(self._session.register([fetch], []), {})[fetch.name]
        return self._values[fetch]
