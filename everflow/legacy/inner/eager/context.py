"""Names that programs take from inside TensorFlow's module `python.eager.context`: the object that knows how operations
run, and functions that ask it.
"""

from __future__ import annotations

import contextlib
import uuid
from collections import namedtuple
from collections.abc import Iterator, Sequence
from typing import Any

from everflow.config import experimental, get_soft_device_placement, optimizer, set_soft_device_placement
from everflow.config.connecting import disconnect
from everflow.contrib.eager import execution
from everflow.eager import graph as eager_graph
from everflow.eager.mode import ASYNC, SYNC, eager_mode, graph_mode
from everflow.framework import devices as device_names
from everflow.framework.errors import NotFoundError
from everflow.framework.functions import GraphFunction
from everflow.framework.scopes import (
    default_graphs,
    device,
    executing_eagerly,
    executing_eagerly_outside_functions,
    get_default_graph,
    name_scope,
)
from everflow.framework.seeds import set_random_seed as set_global_seed
from everflow.legacy.inner.eager import executor
from everflow.ops.functions import collection, gradients
from everflow.ops.functions.gradients import function_executor_type  # noqa: F401  handed on
from everflow.protos import config_pb2
from everflow.runtime.process_options import PROCESS
from everflow.summary import writing_ops

GRAPH_MODE, EAGER_MODE = 0, 1
DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT, DEVICE_PLACEMENT_SILENT_FOR_INT32 = range(4)
MIRRORING_NONE, MIRRORING_ALL = 0, 1
_POLICIES = ("explicit", "warn", "silent", "silent_for_int32")
_LOCAL = "/job:localhost/replica:0/task:0"


class FunctionCallOptions:
    """What calls of functions ask for: a kind of executor, and options of sessions."""

    def __init__(self, executor_type: str | None = None, config_proto: Any = None) -> None:
        self.executor_type = executor_type
        self.config_proto_serialized = config_proto

    @property
    def config_proto_serialized(self) -> bytes | None:
        """The options as the bytes of a ConfigProto."""
        return self._config

    @config_proto_serialized.setter
    def config_proto_serialized(self, config: config_pb2.ConfigProto | bytes | None) -> None:
        if isinstance(config, config_pb2.ConfigProto):
            config = config.SerializeToString()
        elif config is not None and not isinstance(config, (bytes, str)):
            raise ValueError(f"The options must be a ConfigProto, its bytes or None, not {config!r}, a {type(config)}")
        self._config = config


# One entry of what switched between graphs and eager execution.
ContextSwitch = namedtuple("ContextSwitch", ["is_building_function", "enter_context_fn", "device_stack"])


class _ContextSwitchStack:
    """What switched between graphs and eager execution, outermost first."""

    def __init__(self, eager: bool) -> None:
        self.stack: list[ContextSwitch] = []
        if eager:
            self.push(False, eager_mode, None)

    def push(self, is_building_function: bool, enter_context_fn: Any, device_stack: Any) -> None:
        """Another switch; `enter_context_fn` enters what it switched to."""
        self.stack.append(ContextSwitch(is_building_function, enter_context_fn, device_stack))

    def pop(self) -> None:
        """The last one ends."""
        self.stack.pop()


class _TensorCache:
    """Tensors by what they are for."""

    def __init__(self) -> None:
        self._held: dict[Any, Any] = {}

    def put(self, key: Any, value: Any) -> None:
        """Keep a tensor."""
        self._held[key] = value

    def get(self, key: Any) -> Any:
        """The tensor that is kept, or None."""
        return self._held.get(key)

    def flush(self) -> None:
        """Let go of all of them."""
        self._held.clear()


def _of_summaries(name: str, what: str) -> property:
    """A property of the context that the summaries of a thread are written by."""
    return property(
        lambda self: getattr(writing_ops.current, name),
        lambda self, value: setattr(writing_ops.current, name, value),
        doc=what,
    )


class Context:
    """How operations run in this process: what `tf.config` says of it, and the scopes of the calling thread."""

    executing_eagerly = staticmethod(executing_eagerly)
    num_gpus = staticmethod(execution.num_gpus)
    list_logical_devices = staticmethod(experimental.list_logical_devices)
    list_physical_devices = staticmethod(experimental.list_physical_devices)
    get_visible_devices = staticmethod(experimental.get_visible_devices)
    set_visible_devices = staticmethod(experimental.set_visible_devices)
    get_memory_growth = staticmethod(experimental.get_memory_growth)
    set_memory_growth = staticmethod(experimental.set_memory_growth)
    get_virtual_device_configuration = staticmethod(experimental.get_virtual_device_configuration)
    set_virtual_device_configuration = staticmethod(experimental.set_virtual_device_configuration)
    mirroring_policy = MIRRORING_NONE
    # What ops that are run by their type get for this context; nothing is behind it.
    _handle = object()

    def __init__(self, config: Any = None, device_policy: int | None = None, execution_mode: int | None = None) -> None:
        if execution_mode not in (None, SYNC, ASYNC):
            raise ValueError(f"execution_mode must be None, SYNC or ASYNC, not {execution_mode!r}")
        self._added: dict[str, GraphFunction] = {}  # by `add_function_def`
        self._ones, self._zeros = _TensorCache(), _TensorCache()

    summary_writer = _of_summaries("writer", "Where summaries go.")
    summary_recording = _of_summaries("records", "Whether they are recorded: None leaves that open.")
    summary_step = _of_summaries("step", "The step they are of.")

    @property
    def summary_recording_distribution_strategy(self) -> bool:
        """Whether this replica is the one that records."""
        return not writing_ops.current.is_left_to_another

    @summary_recording_distribution_strategy.setter
    def summary_recording_distribution_strategy(self, records: bool) -> None:
        writing_ops.current.is_left_to_another = not records

    def ones_rank_cache(self) -> _TensorCache:
        """Ones that gradients begin with."""
        return self._ones

    def zeros_cache(self) -> _TensorCache:
        """Zeros for outputs that no gradient came back for."""
        return self._zeros

    def _mode(self, mode: int) -> contextlib.AbstractContextManager[Any]:
        """A context in which operations run at once, or are drawn."""
        return eager_mode() if mode == EAGER_MODE else graph_mode()

    def device(self, name: Any) -> contextlib.AbstractContextManager[None]:
        """A context whose operations run on a device."""
        return device(name)

    @property
    def function_call_options(self) -> FunctionCallOptions:
        """What calls of functions ask for."""
        return FunctionCallOptions(gradients._executor_type.get() or None, self.config)

    @property
    def executor(self) -> executor.Executor:
        """What runs operations."""
        return executor.new_executor(self.is_async())

    soft_device_placement = property(
        lambda self: get_soft_device_placement(), lambda self, enabled: set_soft_device_placement(enabled)
    )

    enable_graph_collection = enable_run_metadata = staticmethod(collection.start)
    disable_graph_collection = disable_run_metadata = staticmethod(collection.stop)
    export_run_metadata = staticmethod(collection.take)

    @property
    def post_execution_callbacks(self) -> list:
        """What is called after each operation."""
        return eager_graph.execution_callbacks

    def add_post_execution_callback(self, callback: Any) -> None:
        """Have something called after each operation, with its type, inputs, attributes, outputs and name."""
        eager_graph.execution_callbacks.append(callback)

    def clear_post_execution_callbacks(self) -> None:
        """Have nothing called after operations any more."""
        eager_graph.execution_callbacks.clear()

    def configure_collective_ops(
        self,
        collective_leader: str = "",
        scoped_allocator_enabled_ops: Sequence[str] = ("CollectiveReduce",),
        use_nccl_communication: bool = False,
        device_filters: Sequence[str] | None = None,
    ) -> None:
        """Say who leads collective operations, and what sessions are to do for them; other settings of them go."""
        asked = config_pb2.ConfigProto(device_filters=device_filters or ())
        asked.experimental.collective_group_leader = collective_leader
        asked.experimental.collective_nccl = use_nccl_communication
        rewriting = asked.graph_options.rewrite_options
        rewriting.scoped_allocator_optimization = rewriting.ON
        rewriting.scoped_allocator_opts.enable_op.extend(scoped_allocator_enabled_ops)
        PROCESS.collective = asked

    @property
    def _initialized(self) -> bool:
        return PROCESS.in_use

    @property
    def _context_handle(self) -> object | None:
        return self._handle if PROCESS.in_use else None

    def ensure_initialized(self) -> None:
        """From here on devices and threads stay as they are."""
        PROCESS.config_proto()

    @property
    def config(self):
        """The options of sessions that are given none, a ConfigProto."""
        return PROCESS.config_proto()

    def devices(self) -> list[str]:
        """The names of the devices that operations run on."""
        return [found.name for found in PROCESS.logical_devices()]

    @property
    def scope_name(self) -> str:
        """The name scope that is open, with a slash at its end."""
        name = get_default_graph().get_name_scope()
        return f"{name}/" if name else ""

    @property
    def device_name(self) -> str:
        """The device that operations made now ask for, "" where that is left open."""
        name = ""
        for entry, _, _ in reversed(get_default_graph()._device_stack):
            if entry is None:
                break
            name = device_names.merged_name(entry, name) if isinstance(entry, str) else name
        return device_names.merged_name(_LOCAL, name) if name else ""

    @property
    def device_spec(self) -> device_names.DeviceSpec:
        """`device_name`, in its parts."""
        return device_names.DeviceSpec.from_string(self.device_name)

    @property
    def execution_mode(self) -> int:
        """SYNC or ASYNC."""
        return SYNC if PROCESS.synchronous else ASYNC

    @execution_mode.setter
    def execution_mode(self, mode: int | None) -> None:
        execution.set_execution_mode(mode)

    def is_async(self) -> bool:
        """Whether ASYNC execution is asked for."""
        return not PROCESS.synchronous

    @property
    def device_policy(self) -> int:
        """One of the DEVICE_PLACEMENT numbers."""
        return _POLICIES.index(PROCESS.device_policy)

    @device_policy.setter
    def device_policy(self, policy: int | None) -> None:
        experimental.set_device_policy(None if policy is None else _POLICIES[policy])

    @property
    def log_device_placement(self) -> bool:
        """Whether the device of every operation is printed."""
        return PROCESS.log_placement

    @log_device_placement.setter
    def log_device_placement(self, enabled: bool) -> None:
        PROCESS.log_placement = enabled

    @property
    def intra_op_parallelism_threads(self) -> int:
        return PROCESS.intra_op_threads

    @property
    def inter_op_parallelism_threads(self) -> int:
        return PROCESS.inter_op_threads

    @property
    def optimizer_jit(self) -> bool:
        return PROCESS.jit

    @property
    def context_switches(self) -> _ContextSwitchStack:
        """What switched between graphs and eager execution in this thread."""
        switches = _ContextSwitchStack(default_graphs.bottom.executes)
        for graph in default_graphs.stack:
            enter = eager_mode if graph.executes else graph.as_default
            switches.push(graph.building_function, enter, graph._device_stack)
        return switches

    def add_function_def(self, fdef: Any) -> None:
        """Let operations that run at once call a function, given by its FunctionDef."""
        graph = default_graphs.bottom if default_graphs.bottom.executes else get_default_graph()
        function = GraphFunction(fdef, graph._functions)
        self._added[function.name] = function  # graphs of what runs at once keep none
        function.add_to_graph(graph)

    def remove_function(self, name: str | bytes) -> None:
        """Forget a function; NotFoundError where none of this name can be called."""
        name = name.decode() if isinstance(name, bytes) else name
        graph = default_graphs.bottom if default_graphs.bottom.executes else get_default_graph()
        if graph._functions.pop(name, None) is None:
            raise NotFoundError(None, None, f"Tried to remove a function that isn't there: {name}")
        self._added.pop(name, None)

    def has_function(self, name: str | bytes) -> bool:
        """Whether a function of this name can be called here."""
        return get_default_graph()._get_function(name) is not None

    def get_optimizer_experimental_options(self) -> dict[str, Any]:
        """The rewrites that were switched on or off."""
        return optimizer.get_experimental_options()

    def set_optimizer_experimental_options(self, options: dict[str, Any]) -> None:
        """Switch rewrites on or off, by name."""
        optimizer.set_experimental_options(options)

    def _set_global_seed(self, seed: int | None) -> None:
        set_global_seed(seed)

    @property
    def _seed(self) -> int | None:
        return get_default_graph().seed

    def _internal_operation_seed(self) -> int:
        return get_default_graph().next_op_seed()


_context = Context()


def _begin_anew(given: Context | None) -> None:
    """What tests ask for with `context._context = None`: devices, threads and other options can be set again, and the
    program is connected to no cluster.
    """
    global _context
    disconnect()
    PROCESS.reset()
    eager_graph.restart()
    if default_graphs.bottom.executes:
        default_graphs.bottom.seed = None
    _context = given or Context()


SETTERS = {"_context": _begin_anew}


def context() -> Context:
    """The context of this process."""
    return _context


context_safe = context
ensure_initialized = _context.ensure_initialized
list_devices = _context.devices
is_async = _context.is_async
enable_run_metadata = enable_graph_collection = collection.start
disable_run_metadata = disable_graph_collection = collection.stop
export_run_metadata = collection.take
internal_operation_seed = _context._internal_operation_seed
namescope = name_scope


def scope_name() -> str:
    """The name scope that is open, with a slash at its end."""
    return _context.scope_name


def global_seed() -> int | None:
    """The seed that `tf.set_random_seed` set for eager execution."""
    return _context._seed


def shared_name(name: str | None = None) -> str:
    """The name under which a resource is kept; one that nobody else has where operations run at once and none is given."""
    return name if name or not executing_eagerly() else str(uuid.uuid4())


def get_log_device_placement() -> bool:
    """Whether the device of every operation is printed."""
    return _context.log_device_placement


def set_log_device_placement(enabled: bool) -> None:
    """Have the device of every operation printed."""
    _context.log_device_placement = enabled


@contextlib.contextmanager
def device_policy(policy: int) -> Iterator[None]:
    """A context with another device policy."""
    before, _context.device_policy = _context.device_policy, policy
    try:
        yield
    finally:
        _context.device_policy = before


@contextlib.contextmanager
def mirroring_policy(policy: int) -> Iterator[None]:
    """A context with another policy of keeping copies of tensors on other machines."""
    before, _context.mirroring_policy = _context.mirroring_policy, policy
    try:
        yield
    finally:
        _context.mirroring_policy = before


def __getattr__(name: str) -> Any:
    if name == "default_execution_mode":  # enable_eager_execution() changes it
        return EAGER_MODE if executing_eagerly_outside_functions() else GRAPH_MODE
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@contextlib.contextmanager
def executor_scope(e: Any) -> Iterator[None]:
    """A context whose operations go to this executor; there is one, which runs them at once."""
    yield
