"""Types that recur in signatures of the runtime, and what its parts are to each other.

Only type checkers read them, so they are imported under `if TYPE_CHECKING:`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from everflow.framework.hints import Element
from everflow.framework.operation import Tensor
from everflow.protos import config_pb2
from everflow.runtime.devices import DeviceAttributes
from everflow.runtime.plan.control_flow import AtOnce, Frame
from everflow.runtime.plan.patterns import Pass, Rules
from everflow.runtime.plan.program import Edge, Node
from everflow.runtime.state import SessionState, Step

# What a kernel takes and gives: a torch.Tensor for numbers, a numpy array of bytes for text, a `Ref` for a reference,
# any object for a resource or variant; a list of those for a list-valued argument.
Value: TypeAlias = Any

# `recorder(node, start, end, values)` is called after each node, with times in nanoseconds.
Recorder: TypeAlias = Callable[[Node, int, int, list[Value]], None]
# What a plan emits: called with the step and the values that are fed, it gives a value for each fetch.
PlanFunction: TypeAlias = Callable[..., list[Any]]
# Edge → the edge that holds its value.
Origin: TypeAlias = Callable[[Edge], Edge]
# What is put in order: a node, a loop, or nodes that run at the same time.
Item: TypeAlias = Node | Frame | AtOnce
# An entry of the table of rewrites.
Rewrite: TypeAlias = Rules | Pass


class Runnable(Protocol):
    """A run that was planned: `Plan`, plans for several shapes, or a graph that is run node by node."""

    program: Any
    state: SessionState
    devices: dict[str, list[Node]]
    fed_fetches: list[tuple[int, int]]
    takes_step: bool

    def __call__(self, feeds: Sequence[Value], step: Step | None = None) -> list[Any]: ...


class PreparedRun(Protocol):
    """A kind of run, ready to be called again and again with what is fed."""

    def call(self, values: Iterable[Any]) -> list[Any]: ...


class Executor(Protocol):
    """What a session talks to: `LocalExecutor` in this process, `RemoteExecutor` on a server."""

    extended_to: int

    def list_devices(self) -> list[DeviceAttributes]: ...

    def extend(self) -> None: ...

    def prepare(self, fetches: list[Element], feeds: list[Tensor]) -> Any: ...

    def prepare_any_shapes(
        self, fetches: list[Element], feeds: list[Tensor]
    ) -> Callable[[Sequence[Any]], list[Any]]: ...

    def compile(self, fetches: list[Element], feeds: list[Tensor], **options: Any) -> Any: ...

    def run_with_options(
        self,
        fetches: list[Element],
        feeds: Mapping[Tensor, Any],
        options: config_pb2.RunOptions | None,
        run_metadata: config_pb2.RunMetadata | None,
    ) -> list[Any]: ...

    def partial_run_setup(self, fetches: list[Element], feeds: list[Tensor]) -> str: ...

    def partial_run(self, handle: str, fetches: list[Element], feeds: Mapping[Tensor, Any]) -> list[Any]: ...

    def reset(self, containers: list[str]) -> None: ...

    def close(self) -> None: ...
