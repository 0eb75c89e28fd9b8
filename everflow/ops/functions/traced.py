"""`tf.function`: a Python function traced into a function of the graph, once for each kind of arguments it is called
with.
"""

from __future__ import annotations

import functools
import inspect
import weakref

import numpy as np

from everflow.framework import nest, tapes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.functions import FuncGraph
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import get_default_graph, outermost
from everflow.framework.type_specs import TensorSpec, TypeSpec
from everflow.ops.autograph.conversion import converted
from everflow.ops.autograph.features import asked_for
from everflow.ops.functions import initial_values
from everflow.ops.functions.argument_specs import (
    FunctionSpec,
    composite_spec,
    fitted_to_signature,
    told_apart,
    validate_signature,
)
from everflow.ops.functions.bodies import BodyGraph
from everflow.ops.functions.caches import FunctionCache
from everflow.ops.functions.concrete import ConcreteFunction, passed
from everflow.ops.functions.nesting import room_for_a_body
from everflow.ops.variables.resource import ResourceVariable, is_resource_variable
from everflow.ops.variables.variable import Variable


def function(
    func=None,
    input_signature=None,
    autograph=True,
    experimental_autograph_options=None,
    experimental_relax_shapes=False,
    experimental_compile=None,
):
    """Make a function of the graph of a Python function; it is traced when it is called with arguments of a new kind.

    Args:
        func: The function. Without it, the result is a decorator.
        input_signature: TensorSpecs of the arguments: then it is traced once, for those.
        autograph: Whether `if`, `while` and `for` over tensors become parts of the graph.
        experimental_autograph_options: Further features of that conversion.
        experimental_relax_shapes: Whether sizes that change from call to call become unknown, so that it is traced less
            often.
        experimental_compile: A mark on the FunctionDefs, which nothing here reads: there is no other compiler.

    Returns:
        A callable that draws a call of the function, or when executing eagerly runs it.

    Example:
        >>> @tf.function
        ... def mean(x, y):
        ...     return (x + y) / 2.0
        >>> sess.run(mean(tf.constant(1.0), tf.constant(4.0)))
        np.float32(2.5)
    """
    return _decorated(
        Function,
        func,
        input_signature,
        autograph,
        experimental_autograph_options,
        experimental_relax_shapes,
        None if experimental_compile is None else {"_XlaCompile": bool(experimental_compile)},
    )


def defun(
    func=None,
    input_signature=None,
    autograph=True,
    experimental_autograph_options=None,
    experimental_relax_shapes=False,
):
    """The older form of `function`: every trace may make variables."""
    return _decorated(
        UnliftedFunction, func, input_signature, autograph, experimental_autograph_options, experimental_relax_shapes
    )


def defun_with_attributes(
    func=None,
    input_signature=None,
    attributes=None,
    autograph=True,
    experimental_autograph_options=None,
    experimental_relax_shapes=False,
):
    """`defun`, with attributes that the FunctionDefs it makes bear: bools, numbers and strings by name."""
    return _decorated(
        UnliftedFunction,
        func,
        input_signature,
        autograph,
        experimental_autograph_options,
        experimental_relax_shapes,
        attributes,
    )


def _keyword_only(signature):
    return [name for name, parameter in signature.parameters.items() if parameter.kind is parameter.KEYWORD_ONLY]


def _decorated(kind, func, input_signature, autograph, autograph_options, relax_shapes, attributes=None):
    if input_signature is not None and not isinstance(input_signature, (tuple, list)):
        raise TypeError(f"input_signature must be a list or a tuple of specs, not {type(input_signature)}")

    def decorate(inner):
        options = {"autograph": autograph, "experimental_relax_shapes": relax_shapes}
        others = dict(attributes or {})
        made = kind(inner, others.pop("func_name", None), input_signature, **options)
        made._autograph_options, made._attributes = autograph_options, others or None
        functools.update_wrapper(
            made, inner, assigned=[a for a in functools.WRAPPER_ASSIGNMENTS if hasattr(inner, a)], updated=()
        )
        return made

    return decorate if func is None else decorate(func)


# Whether functions are called as the Python they are made of.
_as_python = [False]


def run_functions_eagerly(run_eagerly):
    """Have calls of `tf.function`s run their Python line by line, untraced, so that a debugger can follow; or no
    longer.

    Args:
        run_eagerly: Whether.

    Returns:
        None.

    Example:
        >>> tf.config.experimental_run_functions_eagerly(False)
    """
    _as_python[0] = bool(run_eagerly)


class Function:
    """What `tf.function` makes: call it, or ask for one of its traces with `get_concrete_function`."""

    # What the FunctionDefs of its traces bear besides.
    _attributes: dict | None = None
    # Whether functions that make initial values are called in the body, for variables outside of it.
    _draws_initial_values = True
    # Whether traces hold what makes the tensors of the graph around that they use.
    _capture_by_value = False

    def __init__(
        self,
        python_function,
        name=None,
        input_signature=None,
        autograph=True,
        experimental_autograph_options=None,
        experimental_relax_shapes=False,
        experimental_compile=None,
    ):
        self._python_function = python_function
        self._input_signature = None if input_signature is None else tuple(input_signature)
        self._autograph = autograph
        self._autograph_options = experimental_autograph_options
        self._relax_shapes = experimental_relax_shapes
        self.__signature__ = self._signature = inspect.signature(python_function)
        self._keyword_only = _keyword_only(self._signature)
        self._name = name or getattr(python_function, "__name__", type(python_function).__name__)
        # Graph → {kind of arguments → ConcreteFunction}
        self._traces = weakref.WeakKeyDictionary()
        # The same for outermost graphs, with the traces that fit into any body in them.
        self._shared = weakref.WeakKeyDictionary()
        self._bound = weakref.WeakKeyDictionary()
        # Variables are made when it is traced first, and never again.
        self._may_create = True
        self._check_signature()

    def _check_signature(self):
        if self._input_signature is None:
            return
        positional = [
            p for p in self._signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        takes_any = any(p.kind is p.VAR_POSITIONAL for p in self._signature.parameters.values())
        if len(self._input_signature) > len(positional) and not takes_any:
            raise TypeError(
                f"input_signature has {len(self._input_signature)} specs, but {self._name!r} takes {len(positional)} positional arguments"
            )
        if any(p.kind is p.KEYWORD_ONLY for p in self._signature.parameters.values()):
            raise ValueError(f"{self._name!r} has an input_signature, so it can't take arguments by keyword only")
        validate_signature(self._input_signature)

    python_function = property(lambda self: self._python_function, doc="The Python function itself.")
    input_signature = property(lambda self: self._input_signature)

    @property
    def function_spec(self):
        """What it takes: the arguments of the Python function, and the input signature."""
        original = getattr(self, "_converted_from", None)
        python_function = self._python_function if original is None else original[0]
        return FunctionSpec.from_function_and_signature(python_function, self._input_signature, original is not None)

    _function_spec = property(lambda self: self.function_spec)
    _function_attributes = property(lambda self: self._attributes or {})
    _stateful_fn = property(
        lambda self: self if self._traces else None, doc="What holds the traces, once there are some."
    )

    @property
    def flat_input_signature(self):
        """The specs of the input signature in a row."""
        return self.function_spec.flat_input_signature

    def __get__(self, instance, owner):
        if instance is None:
            return self
        if instance not in self._bound:
            reference = weakref.ref(instance)
            python_function = self._python_function

            @functools.wraps(python_function)
            def method(*args, **kwargs):
                return python_function(reference(), *args, **kwargs)

            method.__signature__ = self._signature.replace(parameters=list(self._signature.parameters.values())[1:])
            bound = type(self)(method, self._name, self._input_signature)
            bound._autograph, bound._autograph_options = self._autograph, self._autograph_options
            bound._relax_shapes, bound._attributes = self._relax_shapes, self._attributes
            bound._converted_from = (python_function, reference)
            self._bound[instance] = bound
        return self._bound[instance]

    def __call__(self, *args, **kwargs):
        if _as_python[0]:
            return self._python_function(*args, **kwargs)
        flat, structure = self._arguments(args, kwargs)
        trace = self._trace_for(flat, structure)
        return trace._call_flat(passed(flat))

    def get_initialization_function(self, *args, **kwargs):
        """A function that gives the variables which a first call with these arguments would make their initial values."""
        if self._traces:
            raise RuntimeError(f"{self._name!r} has been called, so its variables have been made")
        created = []
        flat, structure = self._arguments(args, kwargs, specs=True)
        self._first_trace(flat, structure, created)
        starts = [(variable, convert_to_tensor(variable)) for variable in created]
        return type(self)(
            lambda: [variable.assign(start) for variable, start in starts] and None
        ).get_concrete_function()

    def get_concrete_function(self, *args, **kwargs):
        """The trace for these arguments; a `TensorSpec` stands for any tensor of its kind."""
        if self._input_signature is not None and not args and not kwargs:
            args = self._input_signature
        flat, structure = self._arguments(args, kwargs, specs=True)
        return self._trace_for(flat, structure)

    _function_cache = property(lambda self: FunctionCache(self._traces))

    def _cache_key(self, args, kwargs):
        """What tells the trace for these arguments apart from others."""
        return FunctionCache.key(self._kind(*self._arguments(args, kwargs)), get_default_graph())

    def _list_all_concrete_functions_for_serialization(self):
        """Its traces, of which a saved model keeps each."""
        if self._input_signature is not None:
            return [self.get_concrete_function()]
        return sorted(self._function_cache.all_values(), key=lambda trace: trace.name)

    def _decorate(self, decorator):
        """Have `decorator` wrap the Python function, which must not have been traced."""
        if self._traces:
            raise ValueError(f"{self._name!r} has been traced: decorate it before its first call")
        self._python_function = decorator(self._python_function)
        self.__signature__ = self._signature = inspect.signature(self._python_function)
        self._keyword_only = _keyword_only(self._signature)

    # --- arguments -----------------------------------------------------------------------------

    def _arguments(self, args, kwargs, specs=False):
        """(flat arguments, with arrays as tensors; their structure: (args, kwargs) in canonical form)."""
        if self._input_signature is not None:
            if len(args) + len(kwargs) > len(self._input_signature):
                raise TypeError(
                    f"{self._name!r} has an input_signature of {len(self._input_signature)}, but got {len(args) + len(kwargs)} arguments"
                )
            bound = self._signature.bind_partial(*args, **kwargs)
            bound.apply_defaults()
        else:
            bound = self._signature.bind(*args, **kwargs)
            bound.apply_defaults()
        for name in self._keyword_only:
            if name not in kwargs:  # its default is Python's business
                bound.arguments.pop(name, None)
        structure = (bound.args, bound.kwargs)
        if self._input_signature is not None:
            return self._fitted(structure, specs), (self._input_signature, {})
        flat = []
        for value in nest.flatten(structure, expand_composites=True):
            if isinstance(value, np.ndarray):
                value = convert_to_tensor(value)
            flat.append(value)
        return flat, structure

    def _fitted(self, structure, specs):
        """Arguments as the input signature asks for them; beyond it there can be defaults only."""
        given = structure[0][: len(self._input_signature)]
        if not specs or not any(isinstance(value, TypeSpec) for value in nest.flatten(given)):
            return nest.flatten(fitted_to_signature(given, self._input_signature), expand_composites=True)
        fitted = []
        for value, spec in zip(
            nest.flatten_up_to(self._input_signature, given), nest.flatten(self._input_signature), strict=True
        ):
            if isinstance(value, TypeSpec) and spec.is_compatible_with(value):
                fitted.extend(nest.flatten(value, expand_composites=True))
            else:
                fitted.extend(nest.flatten(fitted_to_signature((value,), (spec,)), expand_composites=True))
        return fitted

    def _kind(self, flat, structure):
        if self._input_signature is not None:
            return "signature"
        kinds = self._specs(flat, structure)
        return tuple(self._kind_of(x) for x in kinds), _shape_of_structure(structure)

    def _specs(self, flat, structure):
        """What the trace knows of each flat argument: of a part of a composite that is what the composite's type says,
        and of another one the value.
        """
        if self._input_signature is not None:
            return nest.flatten(self._input_signature, expand_composites=True)
        leaves = nest.flatten(structure)
        if len(leaves) == len(flat):
            return flat
        values, specs = iter(flat), []
        for leaf in leaves:
            spec = composite_spec(leaf)
            parts = [] if spec is None else nest.flatten(spec, expand_composites=True)
            specs += [part for part, _ in zip(parts, values)] if parts else [next(values)]
        return specs

    @staticmethod
    def _kind_of(value):
        if isinstance(value, Tensor):
            return ("tensor", value.dtype.base_dtype, value.shape.sizes)
        if isinstance(value, TensorSpec):
            return ("tensor", value.dtype, value.shape.sizes, "spec", value.name)
        if isinstance(value, Variable):
            return ("variable", id(value))
        try:
            hash(value)
        except TypeError:
            # TensorFlow holds what can't be hashed by a weak reference, and trips only afterwards where it can.
            raise (AttributeError if type(value).__weakrefoffset__ else TypeError)(
                f"An argument of the function can't be told apart from others, since a {type(value).__name__!r} can't be hashed:"
                f" {value!r}"
            ) from None
        return told_apart(value)

    # --- traces --------------------------------------------------------------------------------

    def _trace_for(self, flat, structure):
        graph = get_default_graph()
        traces = self._traces.setdefault(graph, {})
        kind = self._kind(flat, structure)
        if kind not in traces and traces and self._relax_shapes and self._input_signature is None:
            return self._relaxed_trace(traces, flat, structure)
        if kind not in traces:
            # A body that uses nothing of the one it was called in first is the same in any other.
            shared = self._shared.setdefault(outermost(graph), {})
            key = (kind, tuple(str(scope.request) for scope in graph._device_stack))
            if key not in shared:
                traces[kind] = self._first_trace(flat, structure)
                if not any(not t.is_eager and isinstance(t.graph, FuncGraph) for t in traces[kind]._captured):
                    shared[key] = traces[kind]
            else:
                traces[kind] = shared[key]
        return traces[kind]

    def _relaxed_trace(self, traces, flat, structure):
        """A trace that leaves sizes open in which calls differ, not counting the very first one."""
        known = self._specs(flat, structure)
        shapes = [
            value.shape if isinstance(value, (Tensor, TensorSpec)) and value is spec else None
            for value, spec in zip(flat, known, strict=True)
        ]
        kinds = [
            kind if s is None else (*kind[:2], s.rank)
            for kind, s in zip(self._kind(flat, structure)[0], shapes, strict=True)
        ]
        key = ("relaxed", *kinds, _shape_of_structure(structure))
        if key not in traces:
            traces[key] = (shapes, self._first_trace(flat, structure))
        before, trace = traces[key]
        if not all(a is None or a.is_compatible_with(b) for a, b in zip(before, shapes, strict=True)):
            wider = [
                None if a is None else a.most_specific_compatible_shape(b) for a, b in zip(before, shapes, strict=True)
            ]
            specs = [
                value if s is None else TensorSpec(s, value.dtype.base_dtype)
                for value, s in zip(flat, wider, strict=True)
            ]
            trace = self._first_trace(specs, structure)
            traces[key] = (wider, trace)
        return trace

    def _first_trace(self, flat, structure, created=None):
        created = [] if created is None else created
        trace = self._trace(flat, structure, created)
        # What was drawn around the making of variables is left behind; a second trace only uses them.
        return self._trace(flat, structure, created) if created else trace

    def _trace(self, flat, structure, created):
        may_create, self._may_create = self._may_create, False
        specs = self._specs(flat, structure)

        def creator(next_creator, **kwargs):
            if not may_create:
                raise ValueError(
                    f"{self._name!r} tried to create variables on non-first calls: make them outside of it, or on its first call and keep them"
                )
            if "use_resource" in kwargs:  # a variable of version 2 is of that kind anyway
                kwargs["use_resource"] = True
            value, name = kwargs.get("initial_value"), kwargs.get("name")
            draws = value is not None and self._draws_initial_values and outermost(body).executes
            if draws:
                value = kwargs["initial_value"] = initial_values.drawn(value, kwargs.get("dtype"), name)
            if isinstance(value, Tensor) and not value.is_eager and isinstance(value.graph, BodyGraph):
                kwargs["initial_value"] = self._initial_value(value)
            created.append(next_creator(**kwargs))
            if draws and type(created[-1]) is ResourceVariable:
                initial_values.leave_traces_of(created[-1], name)
            return created[-1]

        body = BodyGraph(self._name, get_default_graph())
        body._capture_by_value = self._capture_by_value
        with (
            room_for_a_body(),
            tapes.stop_recording(),
            body.as_default(),
            body._variable_creator_scope(creator, priority=50),
        ):
            inside, given = self._inputs(body, flat, specs, structure)
            if self._input_signature is None:
                args, kwargs = nest.pack_sequence_as(structure, inside, expand_composites=True)
            else:
                args, kwargs = nest.pack_sequence_as(self._input_signature, inside, expand_composites=True), {}
            before = _shape_of_structure((args, kwargs)), nest.flatten((args, kwargs))
            result = self._callable()(*args, **kwargs)
            self._check_unchanged(*before, (args, kwargs))
            for part in nest.flatten(result):
                if isinstance(part, Operation):
                    raise TypeError(
                        f"{self._name!r} returns the operation {part.name!r}, where tensors are wanted, or None"
                    )
            traced = ConcreteFunction(body, result, given, structure, flat, self._attributes)
            body.first_arguments.clear()
            return traced

    def _inputs(self, body, flat, specs, structure):
        """(what the body gets for each flat argument: placeholders of tensors, other values as they are; the names of those
        that calls pass).
        """
        inside, given = [], []
        names = self._argument_names(structure)
        for value, spec, name in zip(flat, specs, names):
            if isinstance(value, (Tensor, TypeSpec)):
                name = (getattr(spec, "name", None) if isinstance(spec, TypeSpec) else None) or name
                # A node's name can't start with a line below the letters.
                shown = "placeholder" if name.startswith("_") else name
                inside.append(body.add_input(spec.dtype.base_dtype, shown, spec.shape))
                given.append(name)
                inside[-1].op._set_attr("_user_specified_name", name.encode())
                inside[-1]._handle_data = getattr(value, "_handle_data", None)
                if isinstance(value, Tensor):
                    body.first_arguments[inside[-1]] = value
            elif is_resource_variable(value):
                # The body has the variable itself, and gets the handle of the one that a call is given.
                body.add_variable_input(value.handle, "placeholder" if name.startswith("_") else name)
                given.append(name)
                inside.append(value)
            else:
                inside.append(value)
        return inside, given

    @staticmethod
    def _initial_value(value):
        """An initial value that was drawn in the body, as one outside of it."""
        around = outermost(value.graph)
        if not around.executes or not initial_values.is_random(value):
            return initial_values.lifted(value)
        # In a body of their own, so that equal seeds there are those of the first numbers each time.
        with around.as_default():
            return UnliftedFunction(lambda: initial_values.lifted(value, get_default_graph()))()

    def _check_unchanged(self, shape, leaves, after):
        """A body that changes its arguments would do so in the trace only, not when it is called."""
        if _shape_of_structure(after) != shape or any(
            one is not other for one, other in zip(leaves, nest.flatten(after), strict=True)
        ):
            raise ValueError(f"{self._name!r} changes its arguments, as `list.append` does: make a copy there")

    def _callable(self):
        if not self._autograph:
            return self._python_function
        features = asked_for(self._autograph_options)
        original = getattr(self, "_converted_from", None)
        if original is not None:
            python_function, reference = original
            return functools.partial(converted(python_function, features=features), reference())
        return converted(self._python_function, features=features)

    def _argument_names(self, structure):
        """For each flat argument the name that its placeholder gets: the parameter's."""
        args, kwargs = structure
        names = []
        parameters = list(self._signature.parameters.values())
        positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
        for index, arg in enumerate(args):
            name = positional[index] if index < len(positional) else f"{rest}_{index - len(positional)}"
            names += [name] * len(nest.flatten(arg, expand_composites=True))
        for key in sorted(kwargs):
            names += [key] * len(nest.flatten(kwargs[key], expand_composites=True))
        return names


class UnliftedFunction(Function):
    """What `defun` makes: a trace that makes variables is the one that is called."""

    _draws_initial_values = False

    def __init__(
        self,
        python_function,
        name=None,
        input_signature=None,
        attributes=None,
        autograph=True,
        autograph_options=None,
        experimental_relax_shapes=False,
        capture_by_value=None,
    ):
        super().__init__(
            python_function, name, input_signature, autograph, autograph_options, experimental_relax_shapes
        )
        self._attributes, self._capture_by_value = attributes, bool(capture_by_value)

    @staticmethod
    def _initial_value(value):
        raise ValueError(
            "Tensor-typed variable initializers must come from tf.init_scope() or a callable inside of defun(): "
            f"{value} has a value only when the function runs; use `tf.Variable(lambda: ...)`"
        )

    def _first_trace(self, flat, structure):
        self._may_create = True
        return self._trace(flat, structure, [])


def _shape_of_structure(structure):
    """What tells two structures of arguments apart, without their values."""
    if isinstance(structure, dict):
        return ("dict", *((k, _shape_of_structure(structure[k])) for k in sorted(structure, key=str)))
    if isinstance(structure, (list, tuple)):
        return (nest.seen_type(structure).__name__, *(_shape_of_structure(x) for x in structure))
    return composite_spec(structure) or "."
