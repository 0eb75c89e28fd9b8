"""`tf.saved_model.save`: an object with its variables and traced functions, as a SavedModel that programs, servers and
`load_v2` read.

The file holds a graph of objects (which hang on which, and what each is), the functions' bodies in the library of a
meta graph, and in that meta graph the signatures, so that loaders that know nothing of objects can serve the model too.
"""

from __future__ import annotations

import collections
import collections.abc
import inspect
import os

from everflow.framework import dtypes, nest
from everflow.framework import raw_ops as raw
from everflow.framework.graph import Graph
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies
from everflow.framework.type_specs import TensorSpec
from everflow.ops.array.constants import placeholder
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.functions.concrete import ConcreteFunction
from everflow.ops.functions.gradients import call
from everflow.ops.functions.resources import CapturableResource, TrackableAsset
from everflow.ops.functions.traced import Function
from everflow.ops.io.meta_graph import create_meta_graph_def
from everflow.ops.lookup.static import IdTableWithHashBuckets
from everflow.ops.variables.containers import TrackableDataStructure
from everflow.ops.variables.trackable import is_trackable
from everflow.ops.variables.variable import Variable
from everflow.platform import file_io
from everflow.protos.meta_graph_pb2 import MetaGraphDef
from everflow.protos.saved_model_pb2 import SavedModel
from everflow.protos.saver_pb2 import SaverDef
from everflow.saved_model import constants, signature_constants, tag_constants
from everflow.saved_model.builder import asset_path, save_assets
from everflow.saved_model.function_protos import (
    bare_function_proto,
    concrete_function_proto,
    concrete_functions,
    function_proto,
)
from everflow.saved_model.meta_graph_nodes import AssetNode, ConstantNode, ResourceNode, VariableNode
from everflow.saved_model.signature_def_utils import op_signature_def, predict_signature_def
from everflow.saved_model.utils import get_or_create_assets_dir, get_or_create_variables_dir
from everflow.train.object_checkpoint import ObjectSaver
from everflow.train.optimizer import Optimizer
from everflow.train.tracking import ObjectTree, children_of

_RESOURCE_FUNCTIONS = ("_create_resource", "_initialize", "_destroy_resource")


class SignatureMap(collections.abc.Mapping):
    """The signatures of a model: concrete functions by name, which nobody changes any more."""

    def __init__(self, functions=()):
        self._functions = dict(functions)

    def _checkpoint_children(self):
        return []

    def __getitem__(self, name):
        return self._functions[name]

    def __iter__(self):
        return iter(self._functions)

    def __len__(self):
        return len(self._functions)

    def __repr__(self):
        return f"SignatureMap({self._functions!r})"


def save(obj, export_dir, signatures=None):
    """Write an object: its variables, what hangs on it, its traced functions, and `signatures` for servers.

    Args:
        obj: The object: a `tf.Module`, a Keras model, or what checkpoints can follow.
        export_dir: The folder of the SavedModel.
        signatures: A function, or functions by name, to be served.

    Returns:
        None.

    Raises:
        ValueError: If it isn't such an object.

    Example:
        >>> module = tf.Module()
        >>> module.v = tf.Variable(2.0, use_resource=True)
        >>> sess.run(module.v.initializer)
        >>> tf.saved_model.save(module, "model")
        >>> tf.saved_model.contains_saved_model("model")
        True
    """
    if not is_trackable(obj):
        raise ValueError(f"Expected a Trackable object for export, got {obj}.")
    objects = SavedObjects(obj, signatures)
    variables = get_or_create_variables_dir(export_dir)
    get_or_create_assets_dir(export_dir)
    ObjectSaver(obj, objects.objects_on).write(os.path.join(variables, constants.VARIABLES_FILENAME))
    model = SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
    model.meta_graphs.add().CopyFrom(_meta_graph(objects, export_dir))
    path = os.path.join(os.fspath(export_dir), constants.SAVED_MODEL_FILENAME_PB)
    file_io.atomic_write_string_to_file(path, model.SerializeToString(deterministic=True))


# --- the graph of objects ----------------------------------------------------------------------


class SavedObjects:
    """All that is saved, numbered: objects breadth first and slots, then functions and captured constants."""

    def __init__(self, root, signatures):
        self._branches = {}  # object's id → [(name, object)], asked for once
        functions = {name: f for name, f in self.branches(root) if isinstance(f, (Function, ConcreteFunction))}
        if any(name == "signatures" and not isinstance(child, SignatureMap) for name, child in self.branches(root)):
            raise ValueError(
                f"{root} has an attribute `signatures`, where the signatures of what is loaded are kept: `del obj.signatures` first"
            )
        chosen = _chosen_signatures(signatures, functions)
        self.signatures = SignatureMap({name: _signature_function(f) for name, f in chosen.items()})
        held = [branch for branch in self.branches(root) if branch[0] not in functions]
        rest = [branch for branch in self.branches(root) if branch[0] in functions]
        self._branches[id(root)] = [*held, ("signatures", self.signatures), *rest]
        self.tree = ObjectTree(root, self.objects_on)
        self.objects = list(self.tree.objects)
        self._ids = {id(thing): i for i, thing in enumerate(self.objects)}
        for thing in self.tree.objects:
            for _, child in self.branches(thing):
                if id(child) not in self._ids:
                    self._join(child)
        self._by_handle = {}
        for i, thing in enumerate(self.objects):
            handle = _captured_tensor(thing)
            if handle is not None:
                self._by_handle.setdefault(handle, i)
        self.constants = []  # captured tensors
        for thing in list(self.objects):
            for concrete in concrete_functions(thing):
                if not getattr(concrete.graph, "saveable", True):  # what was loaded is no body being traced
                    why = "; ".join(sorted(concrete.graph.saving_errors))
                    raise ValueError(f"The function {concrete.name.decode()} can't be saved: {why}")
                for tensor in concrete.captured_inputs:
                    self._note_captured(tensor, concrete)

    def _join(self, thing):
        self._ids[id(thing)] = len(self.objects)
        self.objects.append(thing)

    def branches(self, thing):
        """[(name, object)] that hang on an object in the file."""
        if id(thing) not in self._branches:
            self._branches[id(thing)] = _branches(thing)
        return self._branches[id(thing)]

    def objects_on(self, thing):
        """What hangs on an object, without its functions."""
        return [
            (name, child) for name, child in self.branches(thing) if not isinstance(child, (Function, ConcreteFunction))
        ]

    def _note_captured(self, tensor, concrete):
        if tensor in self._by_handle:
            return
        name = concrete.name.decode()
        if tensor.dtype == dtypes.resource:
            why = "what a function uses is saved with it where an attribute of the saved object, or of another that it holds, leads there"
            if any(tensor is other for signature in self.signatures.values() for other in signature.captured_inputs):
                raise AssertionError(f"A signature references untracked object {tensor!s}: {why}")
            raise KeyError(f"{name} uses {tensor!s}, which is not reachable from root: {why}")
        if not (tensor.is_eager or tensor.op.type == "Const"):
            raise ValueError(f"{name} can't be saved: it references a symbolic Tensor {tensor} that is no constant")
        if id(tensor) not in self._ids:
            self._join(tensor)
            self.constants.append(tensor)

    def functions_that_fill(self):
        """The concrete functions that fill tables and other resources."""
        functions = [dict(self.branches(thing)).get("_initialize") for thing in self.objects if _is_resource(thing)]
        return [concrete_functions(f)[0] for f in functions if f is not None]

    def number_of_captured(self, tensor):
        """The number of the object that a captured tensor belongs to."""
        return self._by_handle[tensor] if tensor in self._by_handle else self._ids[id(tensor)]

    def proto(self, into, constant_names):
        """Write the graph of objects; `constant_names` are the nodes of captured tensors, and the numbers of assets."""
        for thing in self.objects:
            node = into.nodes.add()
            for name, child in self.branches(thing):
                node.children.add(node_id=self._ids[id(child)], local_name=name)
            _describe(node, thing, constant_names)
            for concrete in concrete_functions(thing):
                saved = concrete_function_proto(concrete, self.number_of_captured)
                into.concrete_functions[concrete.name.decode()].CopyFrom(saved)
        for optimizer, variable, name, slot in self.tree.slots:
            into.nodes[optimizer].slot_variables.add(
                original_variable_node_id=variable, slot_name=name, slot_variable_node_id=slot
            )


def _captured_tensor(thing):
    """The tensor that functions capture of an object, or None."""
    if isinstance(thing, Variable):
        return getattr(thing, "handle", None)
    if isinstance(thing, TrackableAsset):
        return thing.asset_path
    return thing.resource_handle if _is_resource(thing) else None


def _is_resource(thing):
    """Whether an object owns a resource; tables over others own none of their own."""
    return isinstance(thing, CapturableResource) and not isinstance(thing, IdTableWithHashBuckets)


def _branches(thing):
    """What hangs on an object in a file: what checkpoints follow, `_saved_branches`, and its traced functions."""
    functions = (Function, ConcreteFunction)
    if isinstance(thing, (*functions, Variable)):
        return []
    if isinstance(thing, TrackableDataStructure):
        thing._checkpoint_children()  # raises where elements may have lost their names
    if isinstance(thing, (list, tuple, dict, SignatureMap)):
        items = thing.items() if isinstance(thing, (dict, SignatureMap)) else enumerate(thing)
        return [(str(name), v) for name, v in items if is_trackable(v) or isinstance(v, (*functions, list, dict))]
    found = [*children_of(thing), *(thing._saved_branches() if hasattr(thing, "_saved_branches") else ())]
    if _is_resource(thing):
        return found + sorted(
            thing._list_functions_for_serialization(None).items(), key=lambda item: _RESOURCE_FUNCTIONS.index(item[0])
        )
    names = [n for n in dir(thing) if isinstance(inspect.getattr_static(thing, n, None), functions)]
    return found + [(name, getattr(thing, name)) for name in names]


def _describe(node, thing, constant_names):
    """Say in a node what kind of thing it is."""
    if isinstance(thing, Variable):
        saved = node.variable
        saved.dtype, saved.trainable, saved.name = (
            thing.dtype.base_dtype.as_datatype_enum,
            bool(thing.trainable),
            thing._shared_name,
        )
        saved.shape.CopyFrom(thing.shape.as_proto())
        saved.synchronization, saved.aggregation = int(thing.synchronization.value), int(thing.aggregation.value)
    elif isinstance(thing, Function):
        node.function.CopyFrom(function_proto(thing))
    elif isinstance(thing, ConcreteFunction):
        node.bare_concrete_function.CopyFrom(bare_function_proto(thing))
    elif isinstance(thing, Tensor):
        node.constant.operation = constant_names[id(thing)]
    elif isinstance(thing, TrackableAsset):
        node.asset.asset_file_def_index = constant_names[id(thing)]
    elif _is_resource(thing):
        node.resource.device = thing._resource_device
    else:
        user = node.user_object
        user.identifier, user.metadata = _identity(thing)
        user.version.producer = user.version.min_consumer = 1


def _identity(thing):
    """(what kind of object a loader is to make, what it needs to know for it)."""
    if hasattr(thing, "_saved_identity"):
        return thing._saved_identity()
    if isinstance(thing, SignatureMap):
        return "signature_map", ""
    if isinstance(thing, (list, tuple)):
        return "trackable_list_wrapper", ""
    if isinstance(thing, dict):
        return "trackable_dict_wrapper", ""
    return ("optimizer" if isinstance(thing, Optimizer) else "_generic_user_object"), ""


# --- signatures --------------------------------------------------------------------------------


def _chosen_signatures(signatures, functions):
    """{name: function}: what the program asks for, or else the object's one function that can be called from outside."""
    if signatures is None:
        if "_default_save_signature" in functions:
            return {signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: functions["_default_save_signature"]}
        usable = [f for f in functions.values() if _is_usable(f)]
        return {signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: usable[0]} if len(usable) == 1 else {}
    if not isinstance(signatures, (dict, SignatureMap)):
        signatures = {signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    for name, function in signatures.items():
        is_typed = isinstance(function, Function) and function.input_signature is not None
        if not isinstance(function, ConcreteFunction) and not is_typed:
            raise ValueError(
                f"Expected a TensorFlow function for the signature {name!r}, that is, a tf.function with an input signature or a "
                f"concrete function, not {function}"
            )
        if not isinstance(name, str):
            raise TypeError(f"Signatures are called by words, not by {name!r}")
        _outputs_by_name(_concrete(function).structured_outputs, name)
    return signatures


def _is_usable(function):
    if isinstance(function, Function) and function.input_signature is None:
        return False
    concrete = _concrete(function)
    if len(_tensor_specs(concrete)) != len(concrete._argument_names):  # ragged and sparse tensors are several
        return False
    try:
        _outputs_by_name(concrete.structured_outputs, "")
    except (TypeError, ValueError):
        return False
    return True


def _concrete(function):
    return function.get_concrete_function() if isinstance(function, Function) else function


def _outputs_by_name(outputs, signature):
    """A function's results as {name: tensor}: a dict as it is, others numbered."""
    listed = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    named = outputs if isinstance(outputs, dict) else {f"output_{i}": x for i, x in enumerate(listed)}
    for name, tensor in named.items():
        if not isinstance(name, str) or tensor is None:
            raise TypeError(
                f"The function for signature {signature!r} gives {tensor} for the key {name!r}: servers ask for a tensor by a word"
            )
        if not isinstance(tensor, (Tensor, TensorSpec)):
            form = "a dictionary containing non-Tensor value" if named is outputs else "non-flat outputs, with"
            raise ValueError(
                f"Got {form} {tensor} for the key {name!r} from the function for signature {signature!r}: a signature gives a tensor, "
                "a sequence of them, or a dictionary of them by name"
            )
    return named


def _signature_function(function):
    """A concrete function of named tensors that gives named tensors, as servers call it."""
    inner = _concrete(function)
    names = inner._argument_names

    def signature_wrapper(**kwargs):
        return dict(_outputs_by_name(inner._call_flat([kwargs[name] for name in names]), ""))

    specs = {name: TensorSpec(s.shape, s.dtype, name) for name, s in zip(names, _tensor_specs(inner), strict=True)}
    made = Function(signature_wrapper, autograph=False).get_concrete_function(**specs)
    made._num_positional_args = 1 if len(specs) == 1 else 0  # which of several is which, only names tell
    return made


def _tensor_specs(concrete):
    return [x for x in nest.flatten(concrete.structured_input_signature) if isinstance(x, TensorSpec)]


# --- the meta graph ----------------------------------------------------------------------------


def _meta_graph(objects, export_dir) -> MetaGraphDef:
    """The graph for loaders without objects: variables, constants, signatures, saving, restoring, the library."""
    graph = Graph()
    concretes = {c.name: c for thing in objects.objects for c in concrete_functions(thing)}
    fills = objects.functions_that_fill()
    with graph.as_default():
        handles = _nodes_of(objects)
        assets = [(i, thing) for i, thing in enumerate(objects.objects) if isinstance(thing, TrackableAsset)]
        paths = [(asset_path(thing.asset_path), handles[i].placeholder.name) for i, thing in assets]
        files = save_assets(paths, export_dir)
        names = {id(thing): number for number, (_, thing) in enumerate(assets)}
        names.update({id(t): handles[objects.number_of_captured(t)].name for t in objects.constants})
        for concrete in concretes.values():
            concrete.add_to_graph(graph)
        init = _initialized(fills, objects, handles)
        signatures = {
            name: _signature_call(name, concrete, objects, handles) for name, concrete in objects.signatures.items()
        }
        saver = _saver_nodes(objects, handles)
        meta = create_meta_graph_def(graph=graph, saver_def=saver, strip_default_attrs=True)
    meta.asset_file_def.extend(files)
    meta.meta_info_def.tags.append(tag_constants.SERVING)
    for name, signature in signatures.items():
        meta.signature_def[name].CopyFrom(signature)
    key = constants.INIT_OP_SIGNATURE_KEY
    meta.signature_def[key].CopyFrom(op_signature_def(init, key))
    meta.collection_def[constants.MAIN_OP_KEY].node_list.value.append(init.name)
    _keep_called(meta.graph_def.library, concretes)
    for definition in meta.graph_def.library.function:
        if definition.signature.name.encode() in concretes:
            shapes = [t.shape.as_proto() for t in concretes[definition.signature.name.encode()].inputs]
            definition.attr["_input_shapes"].list.shape.extend(shapes)
    objects.proto(meta.object_graph_def, names)
    return meta


def _nodes_of(objects):
    """{number: what stands for an object, or for a captured constant, in the default graph}."""
    made = {}
    for number, thing in enumerate(objects.objects):
        if isinstance(thing, Variable):
            made[number] = VariableNode(thing)
        elif _is_resource(thing):
            made[number] = ResourceNode(thing)
        elif isinstance(thing, TrackableAsset):
            made[number] = AssetNode()
    for tensor in objects.constants:
        made[objects.number_of_captured(tensor)] = ConstantNode(tensor)
    return made


def _initialized(fills, objects, handles):
    """The op that makes everything ready but variables: files named, tables filled."""
    ready = [node.initializer for node in handles.values() if node.initializer is not None]
    for fill in fills:
        captured = [handles[objects.number_of_captured(t)].captured(for_filling=True) for t in fill.captured_inputs]
        filled = call(fill._function, captured, fill.outputs)
        ready.append(filled[0].op if isinstance(filled, (list, tuple)) else filled.op)
    return group(*ready) if ready else no_op()


def _captured(concrete, objects, handles):
    return [handles[objects.number_of_captured(tensor)].captured() for tensor in concrete.captured_inputs]


def _signature_call(name, concrete, objects, handles):
    inputs = {
        argument: placeholder(spec.dtype, spec.shape, name=f"{name}_{argument}")
        for argument, spec in zip(concrete._argument_names, _tensor_specs(concrete), strict=True)
    }
    values = [*inputs.values(), *_captured(concrete, objects, handles)]
    results = iter(call(concrete._function, values, concrete.outputs))
    outputs = nest.map_structure(lambda _: next(results), concrete.structured_outputs)
    if not outputs:
        raise ValueError(f"The signature {name!r} has no outputs")
    return predict_signature_def(inputs, outputs) if inputs else _signature_without_inputs(outputs)


def _signature_without_inputs(outputs):
    signature = predict_signature_def(outputs, outputs)
    signature.inputs.clear()
    return signature


def _saver_nodes(objects, handles):
    """Nodes that save and restore by the keys of object-based checkpoints; gives the SaverDef that names them."""
    held = [
        (key, handles[i]) for i, _, key, _, _ in objects.tree.saveables() if isinstance(handles.get(i), VariableNode)
    ]
    path = placeholder(dtypes.string, [], name="saver_filename")
    if held:
        names, slices = [key for key, _ in held], [""] * len(held)
        with control_dependencies([raw.SaveV2(path, names, slices, [node.value for _, node in held])]):
            saved = raw.Identity(input=path, name="saved")
        tensors = raw.RestoreV2(path, names, slices, dtypes=[node.dtype for _, node in held])
        assigned = [
            raw.AssignVariableOp(resource=node.handle, value=t) for (_, node), t in zip(held, tensors, strict=True)
        ]
        restored = group(*assigned, name="restored")
    else:
        saved, restored = raw.Identity(input=path, name="saved"), no_op(name="restored")
    return SaverDef(
        filename_tensor_name=path.name, save_tensor_name=saved.name, restore_op_name=restored.name, version=SaverDef.V2
    )


def _keep_called(library, concretes):
    """Leave only the functions that are saved, and those they call."""
    known = {f.signature.name: f for f in library.function}
    needed, waiting = set(), [name.decode() for name in concretes]
    while waiting:
        name = waiting.pop()
        if name in needed or name not in known:
            continue
        needed.add(name)
        for node in known[name].node_def:
            waiting.append(node.op)  # a function of `Defun` is called by an op of its name
            for value in node.attr.values():
                waiting += [f.name for f in [value.func, *value.list.func] if f.name]
    kept = [f for f in library.function if f.signature.name in needed]
    del library.function[:]
    library.function.extend(kept)
