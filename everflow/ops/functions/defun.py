"""`Defun`: a Python function drawn once as a function of the graph, and called like an op."""

from __future__ import annotations

import inspect
import itertools

from everflow.framework import attributes, dtypes, errors
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.functions import Body, FuncGraph, GraphFunction, check_no_other, to_function_def
from everflow.framework.op_defs import ArgDef, OpDef
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import device, get_default_graph, graph_from_inputs, innermost_device, name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops.functions.bodies import VARIABLE_SCOPES
from everflow.ops.functions.hashes import hashed_name
from everflow.ops.variables.resource import is_resource_variable
from everflow.ops.variables.scope import get_variable_scope, variable_scope
from everflow.platform.decorators import get_func_name
from everflow.protos import function_pb2


class Defun:
    """Decorator that makes a function of the graph of a Python function, given the dtypes of its arguments.

    >>> @Defun(tf.float32, tf.float32)
    ... def mean(x, y):
    ...     return (x + y) / 2.0
    """

    def __init__(self, *input_types, **kwargs):
        self._input_types = [dtypes.as_dtype(t) for t in input_types]
        self._func_name = kwargs.pop("func_name", None)
        self._grad_func = kwargs.pop("grad_func", None)
        self._python_grad_func = kwargs.pop("python_grad_func", None)
        self._out_names = kwargs.pop("out_names", None)
        self._extra = kwargs

    def __call__(self, func):
        if not callable(func):
            raise ValueError(f"func {func} must be callable")
        spec = inspect.signature(func)
        positional = [p for p in spec.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if any(p.kind is p.KEYWORD_ONLY or p.kind is p.VAR_KEYWORD for p in spec.parameters.values()):
            raise ValueError("Functions with argument defaults or keyword arguments are not supported.")
        takes_any = any(p.kind is p.VAR_POSITIONAL for p in spec.parameters.values())
        names = [p.name for p in positional]
        if takes_any:
            names += [f"arg{i}" for i in range(len(names), len(self._input_types))]
        if self._input_types and len(names) != len(self._input_types):
            raise ValueError(
                f"The function has {len(names)} arguments, but {len(self._input_types)} input types were given"
            )
        if not self._input_types and names:
            return _OverloadedFunction(func, names, self._options())
        return DefinedFunction(func, names, self._input_types, **self._options())

    def _options(self):
        return {
            "func_name": self._func_name,
            "grad_func": self._grad_func,
            "python_grad_func": self._python_grad_func,
            "out_names": self._out_names,
            **self._extra,
        }


class DefinedFunction:
    """A function of the graph; drawn when first needed, in the graph that is the default then."""

    def __init__(self, func, argnames, input_types, func_name=None, grad_func=None, python_grad_func=None, out_names=None, shape_func=None,
                 capture_by_value=False, whitelisted_stateful_ops=None, capture_resource_var_by_value=True, **options):  # fmt: skip
        self._func = func
        self._argnames = argnames
        self._input_types = input_types
        self._given_name = func_name
        self._grad_func = grad_func
        self._python_grad_func = python_grad_func
        self._out_names = out_names
        self._shape_func = shape_func
        self._capture_by_value = capture_by_value
        self._reads_outside = capture_resource_var_by_value
        self._attributes = options
        self._made = None
        self._body = None
        self._device = innermost_device()
        if grad_func is not None and python_grad_func is not None:
            raise ValueError("Gradient defined twice for function")

    name = property(lambda self: self._function().name)
    definition = property(lambda self: self._function().definition, doc="The FunctionDef.")
    op_definition = property(lambda self: self._function().op_definition)

    @property
    def captured_inputs(self):
        """Tensors of the graph around that the body uses; they are passed along with each call."""
        self._function()
        return list(self._body._captures) if self._body is not None and not self._capture_by_value else []

    declared_input_types = property(lambda self: tuple(self._input_types))

    @property
    def gradient_name(self):
        return self._grad_func.name if self._grad_func is not None else ""

    @property
    def grad_func_name(self):
        """The name of the function that is its gradient; None: the gradient of its body is."""
        return self.gradient_name or None

    def set_grad_func(self, grad_func):
        """Say which function is its gradient, once."""
        if self._grad_func is not None or self._python_grad_func is not None:
            raise ValueError(f"Function {self._called()} has a gradient already")
        self._grad_func = grad_func

    python_grad_func = property(lambda self: self._python_grad_func)

    @property
    def stateful_ops(self):
        """(name, type) of the ops in the body that have state."""
        body = self._function().body().graph
        return [
            (op.name, op.type) for op in body.get_operations() if op.definition.is_stateful and op.type != "Placeholder"
        ]

    def _called(self) -> str:
        """The name it was given, or the Python function's and its gradient's, which the hash of its content follows."""
        if self._given_name:
            return self._given_name
        return "_".join([get_func_name(self._func), *([self._grad_func.name] if self._grad_func is not None else ())])

    def _function(self) -> GraphFunction:
        if self._made is None:
            self._draw()
        return self._made

    def _draw(self):
        outer = get_default_graph()
        body = self._body = FuncGraph(self._called(), outer, self._capture_by_value)
        body._seed = None  # what is random in it doesn't hang on the seed of the graph around
        # Variables that it gets are those of the scope around, read there; those of functions that it calls are, too.
        body.taken_variables = []
        body._seed = None  # that of the graph around is not its own
        for key in VARIABLE_SCOPES:
            body._collections[key] = outer.get_collection_ref(key)

        def variable_outside(getter, *args, **kwargs):
            with outer.as_default():
                with name_scope(None):
                    variable = getter(*args, **kwargs)
                if not any(variable is known for known in body.taken_variables):
                    body.taken_variables.append(variable)
                return variable.value() if self._reads_outside and is_resource_variable(variable) else variable

        with (
            body.as_default(),
            device(self._device),
            variable_scope(get_variable_scope(), custom_getter=variable_outside, auxiliary_name_scope=False),
        ):
            arguments = [body.add_input(t.base_dtype, n) for t, n in zip(self._input_types, self._argnames)]
            outputs = self._func(*arguments)
            outputs = [] if outputs is None else list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
            if any(o is None for o in outputs):
                raise ValueError(f"Function {body.name} can not return None.")
            outputs = [body.capture(convert_to_tensor(o)) for o in outputs]
        if self._out_names and len(self._out_names) != len(outputs):
            raise errors.InvalidArgumentError(
                None, None, f"Expected number of out_names: {len(outputs)}, received: {len(self._out_names)}"
            )
        if self._out_names and len(set(self._out_names)) < len(self._out_names):
            raise errors.InvalidArgumentError(
                None, None, f"Cannot have duplicate output names: {', '.join(self._out_names)}"
            )
        captured = [] if self._capture_by_value else list(body._captures.values())
        definition = to_function_def(body, "", arguments + captured, outputs, self._out_names)
        definition.signature.description = self._func.__doc__ or ""
        # The name says what the body is, not how it is to be called.
        definition.signature.name = self._given_name or hashed_name(definition, body.name)
        definition.attr["_disable_call_shape_inference"].b = True
        for key, value in _attributes(self._attributes, body.name).items():
            definition.attr[key].CopyFrom(attributes.to_proto(value))
        self._made = GraphFunction(definition, body._functions, self.gradient_name, self._python_grad_func)
        # It runs as it was drawn: a derivative of its loops needs to know their contexts, which definitions don't have.
        self._made._body = Body(body, arguments + captured, outputs, [])

    def add_to_graph(self, graph):
        """Put the function, and those it calls, into a graph's library."""
        function = self._function()
        if self._grad_func is not None:
            self._grad_func.add_to_graph(graph)
        check_no_other(graph, function)
        function.add_to_graph(graph)

    def body_tensors(self):
        """(inputs, outputs) of the body as a graph of its own."""
        return self._function().body_tensors()

    def body_controls(self):
        """The ops of the body that run in any case."""
        return self._function().body_controls()

    def __call__(self, *args, **kwargs):
        name = kwargs.pop("name", None)
        attrs = _attributes(kwargs, self._called())
        if len(args) != len(self._input_types):
            raise ValueError(f"Expected number of arguments: {len(self._input_types)}, received: {len(args)}")
        graph = graph_from_inputs(args)
        self.add_to_graph(graph)
        with graph.as_default():
            tensors = [convert_to_tensor(a) for a in args] + self.captured_inputs
            return call(graph, self._function(), tensors, name, self._shape_func, attrs)


def _from_definition(fdef, grad_func=None):
    """A function by its FunctionDef; what it took from a graph around it is given to it like its other arguments."""
    definition = function_pb2.FunctionDef()
    definition.CopyFrom(fdef)
    signature = definition.signature
    types = [dtypes.as_dtype(arg.type) for arg in signature.input_arg]
    names = [arg.name for arg in signature.input_arg]
    function = DefinedFunction(None, names, types, func_name=signature.name, grad_func=grad_func)
    graph = get_default_graph()
    function._made = GraphFunction(definition, graph._functions, function.gradient_name)
    return function


def from_library(lib):
    """The functions of a FunctionDefLibrary, each with its gradient."""
    definitions = {each.signature.name: each for each in lib.function}
    gradients = {each.function_name: each.gradient_func for each in lib.gradient}
    for name in itertools.chain.from_iterable(gradients.items()):
        if name not in definitions:
            raise ValueError(f"The library has a gradient of or by the function {name!r}, and no such function")
    made = {}
    # A function comes after its gradient.
    for name in definitions:
        chain = [name]
        while (following := gradients.get(chain[-1])) is not None:
            if following in chain:
                raise ValueError(f"The functions {chain} of the library are gradients of each other in a circle")
            chain.append(following)
        for each in reversed(chain):
            if each not in made:
                made[each] = _from_definition(definitions[each], made.get(gradients.get(each)))
    for function in made.values():
        function._made._library = {other.name: other for other in made.values()}
    return list(made.values())


# What the types of arguments are called in the name of a function that is made for them; uint8 shares int8's.
_SHORT_NAMES = {
    dtypes.as_dtype(name): short
    for short, names in {
        "f16": "float16", "f32": "float32", "f64": "float64", "b16": "bfloat16", "i8": "int8 uint8", "i16": "int16", "i32": "int32",
        "i64": "int64", "u16": "uint16", "u32": "uint32", "u64": "uint64", "b": "bool", "s": "string", "c64": "complex64",
        "c128": "complex128", "qi8": "qint8", "qu8": "quint8", "qi16": "qint16", "qu16": "quint16", "qi32": "qint32",
    }.items()
    for name in names.split()
}  # fmt: skip


class _OverloadedFunction:
    """A Defun without declared types: one function for each combination of argument dtypes it is called with."""

    def __init__(self, func, argnames, options):
        self._func, self._argnames, self._options = func, argnames, options
        self._by_types = {}

    def instantiate(self, input_types):
        """The function for arguments of these types."""
        types = tuple(dtypes.as_dtype(t).base_dtype for t in input_types)
        if types not in self._by_types:
            options = dict(self._options)
            unknown = [t for t in types if t not in _SHORT_NAMES]
            if unknown:
                raise ValueError(f"Unsupported dtypes: {unknown}")
            if options["func_name"] is not None:
                options["func_name"] += "_" + "".join(_SHORT_NAMES[t] for t in types)
            gradient = options.pop("grad_func")
            made = DefinedFunction(self._func, self._argnames, list(types), **options)
            if gradient is not None:
                # It takes what this takes, and a derivative of each result.
                results = [arg.type for arg in made.op_definition.outputs]
                given = isinstance(gradient, _OverloadedFunction)
                made.set_grad_func(gradient.instantiate([*types, *results]) if given else gradient)
                made._function().gradient_name = made.gradient_name
            self._by_types[types] = made
        return self._by_types[types]

    def __call__(self, *args, **kwargs):
        args = [convert_to_tensor(a) for a in args]
        if len(args) != len(self._argnames):
            raise ValueError(f"Expected number of arguments: {len(self._argnames)}, received: {len(args)}")
        return self.instantiate([a.dtype for a in args])(*args, **kwargs)


def _attributes(options, name):
    """Options of a function or of a call, as attributes; `name` is the function's."""
    options, found = dict(options), {}
    noinline, compiled = options.pop("noinline", None), options.pop("compiled", None)
    separate = options.pop("separate_compiled_gradients", None)
    if noinline is not None:
        found["_noinline"] = bool(noinline)
    if compiled is not None:
        found["_XlaCompile"] = bool(compiled)
        found["_XlaSeparateCompiledGradients"] = bool(separate)
        found["_XlaScope"] = f"function_{name}".encode()
    for key in [key for key in options if key.startswith("experimental_")]:
        value = options.pop(key)
        if not isinstance(value, (str, bytes, bool, int, float)):
            raise ValueError(f"{key} must be a string, a bool or a number, not {value!r}, a {type(value).__name__}")
        found[key] = value.encode() if isinstance(value, str) else value
    for key in ("_implements", "_reference"):
        if key in options:
            found[key] = str(options.pop(key)).encode()
    if options:
        raise ValueError(f"Unknown keyword arguments: {', '.join(options)}")
    return found


def call(graph, function, tensors, name=None, shape_func=None, attrs=None):
    """A node that calls a function of the graph; returns its output, a tuple of several, or the Operation."""
    wanted = [arg.type for arg in function.op_definition.inputs]
    for arg, tensor in zip(function.op_definition.inputs, tensors):
        if tensor.dtype.base_dtype != arg.type:
            raise ValueError(
                f"Input '{arg.name}' passed {tensor.dtype.name} expected {arg.type.name} while building a call of {function.name}"
            )
    if len(wanted) != len(tensors):
        raise ValueError(f"Expected number of arguments: {len(wanted)}, received: {len(tensors)}")
    attrs = dict(attrs or {})
    if "_disable_call_shape_inference" in function.definition.attr:
        attrs["_disable_call_shape_inference"] = function.definition.attr["_disable_call_shape_inference"].b
    op = graph.add_op(
        function.op_definition,
        tensors,
        [arg.type for arg in function.op_definition.outputs],
        attrs,
        name or function.name,
    )
    if shape_func is not None:
        for tensor, shape in zip(op.outputs, shape_func(op)):
            tensor.set_shape(shape)
    if not op.outputs:
        return op
    return op.outputs[0] if len(op.outputs) == 1 else tuple(op.outputs)


class Declare:
    """A promise that a function of this signature will be defined later, so that functions can call each other.

    >>> fib = Declare("Fib", [("n", tf.int32)], [("f", tf.int32)])
    """

    def __init__(self, func_name, inputs, outputs):
        self.name = func_name
        self._definition = OpDef(
            func_name,
            tuple(ArgDef(n, dtypes.as_dtype(t)) for n, t in inputs),
            tuple(ArgDef(n, dtypes.as_dtype(t)) for n, t in outputs),
        )

    def __call__(self, *inputs, **kwargs):
        name = kwargs.pop("name", None)
        tensors = [convert_to_tensor(x) for x in inputs]
        if len(tensors) != len(self._definition.inputs):
            raise ValueError(f"Expected number of arguments: {len(self._definition.inputs)}, received: {len(tensors)}")
        graph = graph_from_inputs(tensors)
        op = graph.add_op(self._definition, tensors, [a.type for a in self._definition.outputs], {}, name or self.name)
        return op.outputs[0] if len(op.outputs) == 1 else tuple(op.outputs)


@shape_rule("MapDefun")
def _row_by_row(op):
    rows = TensorShape([None])
    for tensor in op.inputs[: len(op.attrs["Targuments"])]:
        rows = rows.merge_with(tensor.shape.with_rank_at_least(1)[:1])
    return [rows.concatenate(shape) for shape in op.attrs["output_shapes"]]


@shape_rule("SymbolicGradient")
def _symbolic_gradient_shapes(op):
    # The gradients have the shapes of what they are gradients of: the first inputs.
    return [t.shape for t in op.inputs[: len(op.outputs)]]
