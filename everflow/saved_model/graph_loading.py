"""SavedModels of graphs, loaded as objects: what sessions would load becomes functions over variables that are there
already, so that it can be called where there is no session.
"""

from __future__ import annotations

import os

from everflow.formats.checkpoint import open_checkpoint
from everflow.framework import dtypes, op_defs
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.importer import import_graph_def
from everflow.framework.scopes import add_to_collection, executing_eagerly, init_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array
from everflow.ops.functions.bodies import unique_name
from everflow.ops.functions.wrapped import pruned, separate_body
from everflow.ops.variables.auto_trackable import AutoTrackable
from everflow.ops.variables.variable import VariableV2
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.node_def_pb2 import NodeDef
from everflow.protos.variable_pb2 import VariableDef
from everflow.saved_model import constants
from everflow.saved_model.loader import get_asset_tensors, get_init_op
from everflow.saved_model.object_saving import SignatureMap
from everflow.saved_model.utils import get_tensor_from_tensor_info

_REFS = ("Variable", "VariableV2")
# What changes a ref variable, and what does that to a resource.
_CHANGES = {"Assign": "AssignVariableOp", "AssignAdd": "AssignAddVariableOp", "AssignSub": "AssignSubVariableOp"}
# What hands a reference on, and what hands on the value.
_PASSES = {f"Ref{kind}": kind for kind in ("Identity", "Switch", "Merge", "Enter", "Exit", "NextIteration")}
_OWN_SIGNATURES = (constants.INIT_OP_SIGNATURE_KEY, constants.TRAIN_OP_SIGNATURE_KEY)


class LoadedGraph(AutoTrackable):
    """A graph with its variables: `signatures` has its functions by name, `prune` makes others."""

    def __init__(self, body, variables, signatures, asset_paths, info):
        self.graph = body
        self.variables = variables
        self.signatures = signatures
        self.asset_paths = asset_paths
        self.tensorflow_version = info.tensorflow_version
        self.tensorflow_git_version = info.tensorflow_git_version

    def prune(self, feeds, fetches, name=None, input_signature=None):
        """The function from some tensors of the graph to others; both are nests of tensors, ops and their names."""
        return _cut(self.graph, feeds, fetches, name, input_signature)


def load_graph(export_dir, meta):
    """The object that stands for a meta graph, with its variables restored and its init op run.

    Args:
        export_dir: The folder of the SavedModel.
        meta: The MetaGraphDef.

    Returns:
        A LoadedGraph.

    Raises:
        UnliftableError: If a signature needs a placeholder that isn't among its inputs.
    """
    assets = get_asset_tensors(export_dir, meta)
    with init_scope():
        variables = _variables(export_dir, meta)
        body = separate_body("loaded_graph")
        body.accessed = {id(v): v for v in variables.values()}
        with body.as_default():
            given = {f"{name}:0": body.capture(v.handle) for name, v in variables.items()}
            given.update({name: array.constant(path) for name, path in assets.items()})
            graph_def = with_resource_variables(meta.graph_def)
            outputs = {node.name for node in graph_def.node}
            import_graph_def(graph_def, {k: t for k, t in given.items() if k.partition(":")[0] in outputs}, name="")
            init_op = get_init_op(meta)
            signatures = {
                key: _signature(body, signature)
                for key, signature in sorted(meta.signature_def.items())
                if key not in _OWN_SIGNATURES
            }
        if init_op is not None:
            body.initializer = pruned(body, [], init_op, "init")
            done = body.initializer()
            if not executing_eagerly():
                add_to_collection(GraphKeys.TABLE_INITIALIZERS, done)
    return LoadedGraph(
        body, list(variables.values()), SignatureMap(signatures), list(assets.values()), meta.meta_info_def
    )


def _variables(export_dir, meta):
    """{name: variable} for the variables that the graph's collections name, with the checkpoint's values."""
    nodes = {node.name: node for node in meta.graph_def.node}
    prefix = os.path.join(os.fsdecode(export_dir), constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
    found, trained = {}, set()
    for key, held in meta.collection_def.items():
        if not (key.endswith("variables") and held.bytes_list.value):
            continue
        for definition in map(VariableDef.FromString, held.bytes_list.value):
            name = definition.variable_name.partition(":")[0]
            if nodes[name].op in (*_REFS, "VarHandleOp"):
                found[name] = definition
                trained |= {name} if definition.trainable or key == GraphKeys.TRAINABLE_VARIABLES else set()
    if not found:
        return {}
    reader = open_checkpoint(prefix)
    return {
        name: VariableV2(
            _first_value(reader, name, definition, nodes[name]),
            trainable=name in trained,
            name=name,
            dtype=dtypes.as_dtype(nodes[name].attr["dtype"].type),
        )
        for name, definition in found.items()
    }


def _first_value(reader, name, definition, node):
    """What the checkpoint has for a variable or a part of one; zeros for what isn't saved, which init ops fill."""
    part = definition.save_slice_info_def
    if part.full_name and reader.has(part.full_name):
        place = tuple(slice(o, o + n) for o, n in zip(part.var_offset, part.var_shape, strict=True))
        return array.constant(reader.read(part.full_name)[place])
    if reader.has(name):
        return array.constant(reader.read(name))
    return array.zeros(TensorShape(node.attr["shape"].shape), dtypes.as_dtype(node.attr["dtype"].type))


def _signature(body, signature):
    """The function of a SignatureDef: it takes its inputs by their names."""
    feeds = {name: get_tensor_from_tensor_info(info) for name, info in sorted(signature.inputs.items())}
    fetches = {name: get_tensor_from_tensor_info(info) for name, info in sorted(signature.outputs.items())}
    made = _cut(body, feeds, fetches, "signature_wrapper")
    made.take_by_name(feeds)
    return made


def _cut(body, *wanted):
    """A part of the graph as a function. While it is there, so is the init op's, and with that the tables it filled."""
    made = pruned(body, *wanted)
    made.graph.cut_from = body
    return made


# --- reference variables ---------------------------------------------------------------------------


def with_resource_variables(graph_def) -> GraphDef:
    """A graph whose reference variables are resources: changes of them go to handles, other uses read them."""
    refs = {node.name: node.attr["dtype"].type for node in graph_def.node if node.op in _REFS}
    model = unique_name("loaded_graph")
    made = GraphDef(versions=graph_def.versions, library=graph_def.library)
    for node in graph_def.node:
        copy = NodeDef()
        copy.CopyFrom(node)
        copy.attr.pop("_class", None)  # where others are, which may be left out
        copy.op = _PASSES.get(copy.op, copy.op)
        changed = copy.input[0].removesuffix(":0") if copy.input else None
        if node.name in refs:
            copy.op = "VarHandleOp"
            shape = copy.attr["shape"].shape
            copy.attr.clear()
            copy.attr["dtype"].type = refs[node.name]
            copy.attr["shape"].shape.CopyFrom(shape)
            copy.attr["shared_name"].s = node.name.encode()
        elif changed in refs and copy.op in _CHANGES:
            made.node.extend(_change(copy, changed, refs))
            continue
        elif changed in refs and copy.op == "IsVariableInitialized":
            copy.op = "VarIsInitializedOp"
            copy.attr.clear()
        else:
            made.node.extend(_reads(copy, refs))
            if "shared_name" in op_defs.get(copy.op).attr_by_name and not copy.attr["shared_name"].s:
                # All functions of the graph have the same table or queue, and no other graph's have it.
                copy.attr["shared_name"].s = f"{model}/{node.name}".encode()
        made.node.append(copy)
    return made


def _change(node, name, refs):
    """An assignment to the handle, and in its place a read that comes after it."""
    change = NodeDef(name=f"{node.name}/of_resource", op=_CHANGES[node.op], input=[name, *node.input[1:]])
    change.attr["dtype"].type = refs[name]
    reads = _reads(change, refs, start=1)
    after = NodeDef(name=node.name, op="ReadVariableOp", input=[name, f"^{change.name}"])
    after.attr["dtype"].type = refs[name]
    return [*reads, change, after]


def _reads(node, refs, start=0):
    """Reads of the variables among a node's inputs, which it then has instead; they wait for what it waits for."""
    made = []
    for place, given in enumerate(node.input):
        name = given.removesuffix(":0")
        if place < start or name not in refs:
            continue
        waits = [each for each in node.input if each.startswith("^")]
        read = NodeDef(name=f"{node.name}/value_{place}", op="ReadVariableOp", input=[name, *waits])
        read.attr["dtype"].type = refs[name]
        node.input[place] = read.name
        made.append(read)
    return made
