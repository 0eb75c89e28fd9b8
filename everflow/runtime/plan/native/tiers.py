"""When a plan becomes machine code: at once, never, or, as a rule, after it has run for a while.

The last bits of machine code are not those of kernels. So that a program gives the same numbers every time, the change
comes at a number of runs that the plan's nodes and sizes decide, never the clock: about as many as take a quarter of a
second, more where there are thousands of nodes to compile. The compiler begins in the background when half of them are
done, for large plans at once; the run that is to change waits for it.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from everflow.framework.forking import renewed
from everflow.native.background import BACKGROUND
from everflow.ops.control_flow.clusters import CLUSTER_MARK
from everflow.runtime.plan.program import LOOP, Block
from everflow.runtime.thread_orders import multiplications

if TYPE_CHECKING:
    from everflow.protos import config_pb2
    from everflow.runtime.plan.program import Node

OFF, WHEN_IT_PAYS, ALWAYS = "off", "when it pays", "always"
# Seconds that a plan runs before it is changed, as far as its sizes tell, and more for each node; the fewest runs.
LONG_ENOUGH, LONGER, OFTEN_ENOUGH = 0.25, 1.5e-4, 20
# Plans of as many nodes are begun to be compiled at their first run, others when half of the runs are done; each node
# more makes it so many times longer.
MANY_NODES, FAR_LONGER = 1000, 8
# Seconds that a call of a kernel takes, an entry of its result, a multiplication in a product; rounds of a loop.
_CALL, _ENTRY, _MULTIPLICATION, _ROUNDS = 4e-6, 3e-10, 4e-11, 16
_MODES = {"off": OFF, "always": ALWAYS, "auto": WHEN_IT_PAYS}


def mode_of(config: config_pb2.ConfigProto) -> str:
    """What a session's configuration says, or EVERFLOW_NATIVE (off, auto, always) or TF_XLA_FLAGS in the environment."""
    level = config.graph_options.optimizer_options.global_jit_level
    if level:
        return OFF if level < 0 else ALWAYS
    named = os.environ.get("EVERFLOW_NATIVE")
    if named is not None:
        if named not in _MODES:
            raise ValueError(f"EVERFLOW_NATIVE must be one of {', '.join(_MODES)}, not {named!r}")
        return _MODES[named]
    for flag in os.environ.get("TF_XLA_FLAGS", "").split():
        name, _, value = flag.lstrip("-").partition("=")
        if name == "tf_xla_auto_jit":
            return OFF if value.startswith("-") else WHEN_IT_PAYS if value == "0" else ALWAYS
    return WHEN_IT_PAYS


def mark_of(node: Node) -> bool | None:
    """Whether the program marked a node to be compiled at once, or never to be; None where it said nothing.

    Marks are what `jit_scope` and `tf.xla.experimental.compile` put into graphs, so files bring them along.
    """
    if node.op is None:
        return None
    said = node.op.attrs.get("_XlaCompile")
    return True if said is None and CLUSTER_MARK in node.op.attrs else said


def is_wanted(node: Node) -> bool:
    return mark_of(node) is True


def is_allowed(node: Node) -> bool:
    return mark_of(node) is not False


def runs_before(nodes: Iterable[Node]) -> int:
    """The number of runs after which a plan of these nodes is changed."""
    seconds, enough = 0.0, LONG_ENOUGH
    for number, node in enumerate(nodes):
        enough += LONGER if number < MANY_NODES else FAR_LONGER * LONGER
        shape = node.shape() if node.output_dtypes else None
        entries = math.prod(shape) if shape is not None else 0
        took = _CALL + _ENTRY * entries + _MULTIPLICATION * multiplications(node)
        seconds += took * _ROUNDS ** _loops_around(node.block)
    return max(OFTEN_ENOUGH, math.ceil(enough / max(seconds, _CALL)))


def _loops_around(block: Block) -> int:
    count = 0
    while block.owner is not None:
        count += block.owner.type == LOOP
        block = block.owner.block
    return min(count, 2)


class Tier:
    """What a plan becomes: `make` is done in the background, `change` by the run that is due."""

    def __init__(self, make: Callable[[], None], change: Callable[[], None]) -> None:
        self._make, self._change = make, change
        self._is_made = threading.Event()
        self._process = 0  # that was asked to make it
        self._lock = renewed(threading.Lock())

    def begin(self) -> None:
        """Have it made."""
        with self._lock:
            if not self._process:
                self._process = os.getpid()
                BACKGROUND.submit(self._do)

    def change(self) -> None:
        """Change the plan, as soon as what it becomes is made."""
        self.begin()
        with self._lock:
            if self._process != os.getpid() and not self._is_made.is_set():
                BACKGROUND.attempt(self._do)  # a fork left the thread behind
            with BACKGROUND.hurrying():
                self._is_made.wait()
            self._change()

    def _do(self) -> None:
        try:
            self._make()
        finally:
            self._is_made.set()
