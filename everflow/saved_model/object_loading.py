"""`tf.saved_model.load_v2`: the objects of a SavedModel made again, with their variables, functions and signatures."""

from __future__ import annotations

import collections
import inspect
import itertools
import os

from everflow.formats.checkpoint import open_checkpoint
from everflow.framework import dtypes, nest, op_defs, tapes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.errors import DataLossError
from everflow.framework.functions import body_of, functions_from_library
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import add_to_collection, device, executing_eagerly, get_default_graph, init_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.tensor_values import array_of
from everflow.framework.type_specs import TensorSpec, TypeSpec
from everflow.ops.array.constants import constant
from everflow.ops.functions.bodies import unique_name
from everflow.ops.functions.concrete import ConcreteFunction
from everflow.ops.functions.gradients import call
from everflow.ops.functions.resources import TrackableAsset, TrackableResource
from everflow.ops.functions.traced import Function
from everflow.ops.variables.auto_trackable import AutoTrackable
from everflow.ops.variables.containers import ListWrapper, _DictWrapper
from everflow.ops.variables.trackable import is_trackable
from everflow.ops.variables.variable import Variable, VariableAggregation, VariableSynchronization
from everflow.saved_model import constants
from everflow.saved_model.graph_loading import load_graph
from everflow.saved_model.loader import parse_saved_model
from everflow.saved_model.object_saving import SignatureMap
from everflow.saved_model.structured_values import decode
from everflow.train.tracking import read_object_graph

_loads, _tables = itertools.count(1), itertools.count()


def load_v2(export_dir, tags=None):
    """The object that `tf.saved_model.save` wrote: its variables, functions and whatever hangs on it are attributes.

    Args:
        export_dir: The folder of the SavedModel.
        tags: The words that name a graph; the only one if None.

    Returns:
        An object.

    Raises:
        ValueError: If tags don't fit.

    Example:
        >>> module = tf.Module()
        >>> module.v = tf.Variable(2.0, use_resource=True)
        >>> sess.run(module.v.initializer)
        >>> tf.saved_model.save(module, "model")
        >>> hasattr(tf.saved_model.load_v2("model"), "v")
        True
    """
    loader = ObjectLoader(export_dir, tags)
    return loader.load() if loader.meta.HasField("object_graph_def") else load_graph(export_dir, loader.meta)


class ObjectLoader:
    """One SavedModel while it is loaded. Numbers are those of the file's nodes."""

    def __init__(self, export_dir, tags=None):
        self.folder = os.fsdecode(export_dir)
        graphs = parse_saved_model(self.folder).meta_graphs
        wanted = [tags] if isinstance(tags, str) else tags
        fitting = [g for g in graphs if wanted is None or set(wanted) == set(g.meta_info_def.tags)]
        if len(fitting) != 1:
            kind = ValueError if any(g.HasField("object_graph_def") for g in graphs) else RuntimeError
            raise kind(
                f"Got an incompatible argument tags={tags}: the graphs of the SavedModel at {export_dir} have the tags "
                f"{[list(g.meta_info_def.tags) for g in graphs]}, and one of them is wanted"
            )
        (self.meta,) = fitting
        self.nodes = self.meta.object_graph_def.nodes
        self.prefix = os.path.join(self.folder, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
        self.reader = (
            open_checkpoint(self.prefix) if any(n.WhichOneof("kind") == "variable" for n in self.nodes) else None
        )
        self.keys = self._checkpoint_keys() if self.reader is not None else {}
        self._objects: dict = {}

    def load(self):
        """All objects, tied together; gives the root."""
        with init_scope():
            for number in range(len(self.nodes)):
                self.object(number)
            for number, node in enumerate(self.nodes):
                for child in node.children:
                    _attach(self._objects[number], child.local_name, self._objects[child.node_id])
            for thing in self._objects.values():
                if isinstance(thing, LoadedResource):
                    filled = thing._initialize()
                    if not executing_eagerly():
                        add_to_collection(GraphKeys.TABLE_INITIALIZERS, filled.op)
        root = self._objects[0]
        if isinstance(root, LoadedObject):
            root.tensorflow_version = self.meta.meta_info_def.tensorflow_version
            root.tensorflow_git_version = self.meta.meta_info_def.tensorflow_git_version
        return root

    def children(self, number) -> dict:
        """{name: number} of what hangs on an object."""
        return {child.local_name: child.node_id for child in self.nodes[number].children}

    def value(self, number):
        """A variable's value as an array, from the checkpoint."""
        return self.reader.read(self.keys[number])

    def _checkpoint_keys(self):
        """Which key of the checkpoint each variable has: the two trees of objects are walked side by side."""
        saved = read_object_graph(self.reader, self.prefix)
        keys, seen, waiting = {}, {0}, [(0, 0)]
        while waiting:
            number, there = waiting.pop()
            for attribute in saved.nodes[there].attributes:
                keys[number] = attribute.checkpoint_key
            beside = {c.local_name: c.node_id for c in saved.nodes[there].children}
            pairs = [(c.node_id, beside[c.local_name]) for c in self.nodes[number].children if c.local_name in beside]
            slots = {
                (s.original_variable_node_id, s.slot_name): s.slot_variable_node_id
                for s in saved.nodes[there].slot_variables
            }
            for slot in self.nodes[number].slot_variables:
                # Both trees number objects breadth first, but only this one knows functions: slots are found by what
                # they belong to.
                for (variable, name), where in slots.items():
                    attributes = saved.nodes[variable].attributes
                    if (
                        name == slot.slot_name
                        and attributes
                        and keys.get(slot.original_variable_node_id) == attributes[0].checkpoint_key
                    ):
                        pairs.append((slot.slot_variable_node_id, where))
            for pair in reversed(pairs):
                if pair[0] not in seen:
                    seen.add(pair[0])
                    # Optimizers come last: their slots are told by the keys of the variables.
                    waiting.insert(0, pair) if self.nodes[pair[0]].slot_variables else waiting.append(pair)
        return keys

    # --- objects -------------------------------------------------------------------------------

    def object(self, number):
        """The object of a node, without what hangs on it."""
        if number not in self._objects:
            node = self.nodes[number]
            self._objects[number] = getattr(self, f"_{node.WhichOneof('kind')}")(number, node)
        return self._objects[number]

    def _user_object(self, number, node):
        made = {
            "trackable_list_wrapper": ListWrapper,
            "trackable_dict_wrapper": _DictWrapper,
            "signature_map": SignatureMap,
        }
        return made.get(node.user_object.identifier, LoadedObject)()

    def _variable(self, number, node):
        saved = node.variable
        dtype, shape = dtypes.as_dtype(saved.dtype), TensorShape(saved.shape)
        if number not in self.keys:
            raise DataLossError(
                None, None, f"{self.prefix} has no value for the variable {saved.name!r} of the SavedModel"
            )

        def value():
            with device("/cpu:0"):
                (found,) = raw.RestoreV2(self.prefix, [self.keys[number]], [""], dtypes=[dtype])
            found.set_shape(shape)
            return found

        kind = {"trainable": saved.trainable, "name": saved.name or None, "dtype": dtype, "use_resource": True}
        if not shape.is_fully_defined():
            kind["shape"] = shape
        synchronization = VariableSynchronization(saved.synchronization)
        aggregation = VariableAggregation(saved.aggregation)
        return Variable(value, **kind, synchronization=synchronization, aggregation=aggregation)

    def _constant(self, number, node):
        (found,) = [n for n in self.meta.graph_def.node if n.name == node.constant.operation]
        return constant(array_of(found.attr["value"].tensor), dtype=dtypes.as_dtype(found.attr["dtype"].type))

    def _asset(self, number, node):
        name = self.meta.asset_file_def[node.asset.asset_file_def_index].filename
        return TrackableAsset(os.path.join(self.folder, constants.ASSETS_DIRECTORY, name))

    def _resource(self, number, node):
        return LoadedResource(node.resource.device, self.object(self.children(number)["_create_resource"]))

    def _function(self, number, node):
        spec = node.function.function_spec
        concretes = [self.concrete(name) for name in node.function.concrete_functions]
        return LoadedFunction(decode(spec.fullargspec), spec.is_method, decode(spec.input_signature), concretes)

    def _bare_concrete_function(self, number, node):
        bare = node.bare_concrete_function
        made = self.concrete(bare.concrete_function_name, list(bare.argument_keywords))
        made._num_positional_args = bare.allowed_positional_arguments
        return made

    def concrete(self, name, argument_names=None):
        """One traced function of the file."""
        saved = self.meta.object_graph_def.concrete_functions[name]
        captured = [self.object(i) for i in saved.bound_inputs]
        signature = decode(saved.canonicalized_input_signature), decode(saved.output_signature)
        return LoadedConcreteFunction(self._library()[name], captured, *signature, argument_names)

    def _library(self):
        """{name in the file: function}, under names that no other function of this process has."""
        if not hasattr(self, "_functions"):
            library = self.meta.graph_def.library
            names = {
                f.signature.name: unique_name(f.signature.name.rstrip("0123456789").rstrip("_"))
                for f in library.function
            }
            suffix = f"_load_{next(_loads)}"
            for definition in library.function:
                definition.signature.name = names[definition.signature.name]
                for node in definition.node_def:
                    renamed(node, names, suffix)
            made = {f.name: f for f in functions_from_library(library)}
            self._functions = {old: made[new] for old, new in names.items()}
        return self._functions


def renamed(node, names, suffix):
    """Let a node of a file call functions by the names they have here, and own tables and other resources apart from
    those of the same file that were loaded before.
    """
    node.op = names.get(node.op, node.op)
    for value in node.attr.values():
        for called in [value.func] if value.WhichOneof("value") == "func" else value.list.func:
            called.name = names.get(called.name, called.name)
    is_table = node.op in ("HashTable", "HashTableV2")
    if is_table:
        node.attr["use_node_name_sharing"].b = True
    definition = op_defs.find(node.op)
    if "shared_name" in node.attr and definition is not None and definition.is_stateful:
        own = node.attr["shared_name"].s.decode() or (node.name if is_table else "")
        if own:
            node.attr["shared_name"].s = f"{own}{suffix}{f'_{next(_tables)}' if is_table else ''}".encode()


class LoadedResource(TrackableResource):
    """A table, or another resource, of a file: functions make it and fill it."""

    def __init__(self, device="", create=None):
        super().__init__(device)
        if create is not None:
            self._create_resource = create

    def _list_functions_for_serialization(self, unused_functions):
        return {
            name: vars(self)[name]
            for name in ("_create_resource", "_initialize", "_destroy_resource")
            if name in vars(self)
        }


class LoadedObject(AutoTrackable):
    """An object whose class the file doesn't tell; callable where its class was."""

    def __call__(self, *args, **kwargs):
        if "__call__" not in vars(self):
            raise TypeError("The loaded object is not callable: its class had no traced `__call__`.")
        return vars(self)["__call__"](*args, **kwargs)


def _attach(parent, name, child):
    if isinstance(parent, list):
        parent.append(child)
    elif isinstance(parent, dict):
        parent[name] = child
    elif isinstance(parent, SignatureMap):
        parent._functions[name] = child
    elif isinstance(parent, LoadedObject):
        setattr(parent, name, child)
    elif hasattr(parent, "_attach_loaded"):  # an object of a class that takes it itself
        parent._attach_loaded(name, child)
    elif isinstance(parent, LoadedResource):
        setattr(parent, name, child)
        if is_trackable(child):
            parent._track_trackable(child, name)


# --- functions ---------------------------------------------------------------------------------


def _tensor_of(thing):
    """What a function is given for an object that it uses."""
    if isinstance(thing, Variable):
        return thing.handle
    if isinstance(thing, TrackableAsset):
        return thing.asset_path
    return thing.resource_handle if isinstance(thing, TrackableResource) else thing


class LoadedConcreteFunction(ConcreteFunction):
    """A traced function that came from a file: its body is a FunctionDef."""

    def __init__(self, function, captured, arguments, outputs, argument_names):
        self._function = function
        self._holders = captured
        self._captured = [_tensor_of(thing) for thing in captured]
        self._arguments = (arguments, nest.flatten(arguments))
        specs = [x for x in self._arguments[1] if isinstance(x, TensorSpec)]
        self._argument_names = argument_names or [s.name or f"argument_{i}" for i, s in enumerate(specs)]
        self._num_positional_args = len(self._argument_names)
        self.structured_outputs = outputs

    @property
    def _body(self):
        function = self._function
        if function._body is None:
            known = [None] * (len(function.definition.signature.input_arg) - len(self._captured))
            handles = [*known, *(t._handle_data for t in self._captured)]
            function._body = body_of(function.definition, function._library, handle_data=handles)
            specs = [s for s in nest.flatten(self.structured_outputs, expand_composites=True) if s is not None]
            for tensor, spec in zip(function._body.outputs, specs, strict=True):
                tensor.set_shape(spec.shape)
        return function._body

    graph = property(lambda self: self._body.graph)
    inputs = property(lambda self: self._body.inputs)
    outputs = property(lambda self: self._body.outputs)
    variables = property(lambda self: [v for v in self._holders if isinstance(v, Variable)])
    structured_input_signature = property(lambda self: self._arguments[0])

    def __call__(self, *args, **kwargs):
        values = [*nest.flatten(args, expand_composites=True)]
        if len(values) > self._num_positional_args:
            raise TypeError(
                f"Expected at most {self._num_positional_args} positional arguments, for {self._argument_names}; got {args}"
            )
        missing = self._argument_names[len(values) :]
        if set(kwargs) != set(missing):
            raise TypeError(f"Expected argument names {missing} but got values for {sorted(kwargs)}.")
        values += [kwargs[name] for name in missing]
        return self._call_flat([convert_to_tensor(v, dtype=t.dtype) for v, t in zip(values, self.inputs)])

    def _call_flat(self, tensors, captured_inputs=None):
        for variable in self.variables:
            tapes.variable_accessed(variable)
        self._function.add_to_graph(get_default_graph())
        outputs = self.outputs
        captured = self._captured if captured_inputs is None else captured_inputs
        found = call(self._function, [*tensors, *captured], outputs)
        held = iter(found if outputs else ())
        specs = nest.flatten(self.structured_outputs, expand_composites=True)
        flat = [None if spec is None else next(held) for spec in specs]
        return nest.pack_sequence_as(self.structured_outputs, flat, expand_composites=True)


class LoadedFunction(Function):
    """A `tf.function` that came from a file: there is no Python any more, only its traces."""

    def __init__(self, argspec, is_method, input_signature, concretes):
        def loaded(*args, **kwargs):
            raise ValueError("A function that was loaded from a SavedModel can't be traced anew.")

        loaded.__signature__ = _python_signature(argspec, is_method)
        super().__init__(loaded, input_signature=input_signature, autograph=False)
        self.concrete_functions = list(concretes)  # the traces that the file has of it
        self._traces[get_default_graph()] = dict(enumerate(concretes))

    def _check_signature(self):
        """It was checked when the function was saved."""

    def _trace_for(self, flat, structure):
        for concrete in self.concrete_functions:
            expected, wanted = concrete._arguments
            if self._input_signature is not None:
                return concrete
            if _is_same_structure(structure, expected) and _fit(_leaves(flat, structure), wanted):
                return concrete
        options = "\n".join(f"  {concrete.structured_input_signature}" for concrete in self.concrete_functions)
        raise ValueError(
            f"Could not find matching function to call: none was saved for the arguments\n  {structure}\n"
            f"The {len(self.concrete_functions)} that there are take\n{options}"
        )


def _is_same_structure(one, other):
    try:
        nest.assert_same_structure(one, other)
    except (TypeError, ValueError):
        return False
    return True


def _leaves(flat, structure):
    """The arguments one by one, of which `flat` has the tensors that ragged and sparse ones are made of."""
    flat = iter(flat)
    for leaf in nest.flatten(structure):
        parts = [next(flat) for _ in nest.flatten(leaf, expand_composites=True)]
        yield leaf if nest.is_sequence_or_composite(leaf) else parts[0]


def _fit(given, wanted):
    """Whether arguments are those that a function was traced for."""
    for value, expected in zip(given, wanted, strict=True):
        if isinstance(expected, TensorSpec):
            if not isinstance(value, (Tensor, TensorSpec)) or not expected.is_compatible_with(value):
                return False
        elif isinstance(expected, TypeSpec):
            if not nest.is_sequence_or_composite(value) or not expected.is_compatible_with(value):
                return False
        elif isinstance(value, (Tensor, TensorSpec)) or type(value) is not type(expected) or value != expected:
            return False
    return True


def _python_signature(argspec, is_method):
    """An inspect.Signature of a saved FullArgSpec."""
    Parameter = inspect.Parameter
    names = argspec.args[1:] if is_method else argspec.args
    defaults = list(argspec.defaults or ())
    defaults = [Parameter.empty] * (len(names) - len(defaults)) + defaults
    kind = Parameter.POSITIONAL_OR_KEYWORD
    parameters = [Parameter(name, kind, default=default) for name, default in zip(names, defaults)]
    if argspec.varargs:
        parameters.append(Parameter(argspec.varargs, Parameter.VAR_POSITIONAL))
    keyword_defaults = collections.defaultdict(lambda: Parameter.empty, argspec.kwonlydefaults or {})
    parameters += [
        Parameter(name, Parameter.KEYWORD_ONLY, default=keyword_defaults[name]) for name in argspec.kwonlyargs
    ]
    if argspec.varkw:
        parameters.append(Parameter(argspec.varkw, Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)
