"""`EagerGraph`: stands where a graph stands, but runs each operation at once instead of keeping it.

Everything that draws graphs (build functions, gradients, layers, optimizers) so works on values as well: they call
`add_op` of the default graph, and here get back an operation whose outputs have values.
"""

from __future__ import annotations

import contextlib
import random

from everflow.eager.execution import Engine
from everflow.eager.tensor import EagerTensor
from everflow.framework import tapes
from everflow.framework.graph import Graph, without_slash
from everflow.framework.operation import Operation, _Inputs
from everflow.kernels import tensors

_ENGINE = Engine()


class EagerOperation(Operation):
    """An operation that ran: what gradient functions look at."""

    def __init__(self, graph, definition, inputs, attrs, name):
        self._graph = graph
        self._type = definition.name
        self._name = name
        self._inputs = _Inputs(inputs)
        self.attrs = attrs
        self._op_def = definition
        self._control_inputs = []
        self._control_outputs = []
        self._device = ""
        self._frames = []
        self._control_flow_context = None
        self._gradient_function = graph._gradient_function_map.get(definition.name)
        self._original_op = None
        self._id = -1
        self.outputs = []

    def run(self, feed_dict=None, session=None):
        raise NotImplementedError("run is not supported when eager execution is enabled: the operation has run.")


class EagerGraph(Graph):
    """The default "graph" of a thread while executing eagerly; all share one engine, and so variables and functions."""

    executes = True
    # Branches and loops run as Python's own; see `ops.control_flow`.
    draws_functions = False

    def __init__(self):
        super().__init__()
        self._functions = _ENGINE.functions
        self._seeds = None

    # --- running -----------------------------------------------------------------------------

    def add_op(self, definition, inputs, dtypes, attrs, name, compute_device=True):
        """Run an operation; its outputs have values."""
        for tensor in inputs:
            if not tensor.is_eager:
                raise TypeError(
                    f"An op outside of the function building code is being passed a symbolic tensor: {tensor}. It has no value here, "
                    "since it is of a graph; run that graph in a tf.Session, or use tf.function."
                )
        op = EagerOperation(self, definition, inputs, attrs, without_slash(name))
        if definition.name in self._gradient_override_map:
            op.attrs = {**attrs, "_gradient_op_type": self._gradient_override_map[definition.name].encode()}
        if definition.name == "Const":
            values = [tensors.from_numpy(attrs["value"].array)]
        else:
            values = _ENGINE.run(definition, attrs, inputs, dtypes)
        op.outputs = [EagerTensor(value, dtype) for value, dtype in zip(values, dtypes, strict=True)]
        if definition.name == "VarHandleOp":
            op.outputs[0]._handle_data = [(attrs["dtype"], attrs["shape"])]
        if inputs and tapes.active():
            tapes.record(op)
        return op

    def _add_function(self, function):
        _ENGINE.forget(function.name)
        super()._add_function(function)

    # --- names and scopes mean little here -----------------------------------------------------

    def unique_name(self, name, mark_as_used=True):
        """The name in the current scope: nothing is kept, so nothing is taken."""
        return f"{self._name_stack}/{name}" if self._name_stack else name

    @contextlib.contextmanager
    def name_scope(self, name):
        """A context that puts `name/` before the names of variables made in it."""
        old = self._name_stack
        if not name:
            new = ""
        else:
            new = without_slash(name) if name[-1] == "/" else self.unique_name(name)
        self._name_stack = new
        try:
            yield new + "/" if new else ""
        finally:
            self._name_stack = old

    def control_dependencies(self, control_inputs):
        """Nothing to wait for: what was made before has run. A callable among them is called, as TensorFlow does."""
        for item in control_inputs or ():
            if callable(item) and not hasattr(item, "handle"):
                item()
        return contextlib.nullcontext()

    def colocate_with(self, op, ignore_existing=False):
        return contextlib.nullcontext()

    def prevent_feeding(self, tensor):
        pass

    def prevent_fetching(self, op):
        pass

    # --- collections hold nothing --------------------------------------------------------------

    def add_to_collection(self, name, value):
        """Nothing: variables live as long as somebody holds them."""

    def add_to_collections(self, names, value):
        """Nothing, as `add_to_collection`."""

    # --- random numbers ------------------------------------------------------------------------

    @property
    def seed(self):
        return self._seed

    @seed.setter
    def seed(self, seed):
        self._seed = seed
        self._seeds = None if seed is None else random.Random(seed)
        _ENGINE.restart_random_streams()

    def next_op_seed(self):
        """The op-level seed of an operation that was given none."""
        return self._seeds.randint(0, 2**31 - 1)
