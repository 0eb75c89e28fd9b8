"""MetaGraphDefs: a graph with its collections and Saver, as files hold it."""

from __future__ import annotations

import itertools
import os
import re

from google.protobuf import text_format
from google.protobuf.any_pb2 import Any
from google.protobuf.message import DecodeError

from everflow.framework import op_def_protos, op_defs
from everflow.framework.graph import Graph
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.importer import import_graph_def, split_input
from everflow.framework.scopes import (
    executing_eagerly,
    get_collection_proto_type,
    get_default_graph,
    get_from_proto_function,
    get_to_proto_function,
)
from everflow.ops.variables.options import strip_name_scope
from everflow.ops.variables.variable import prepend_name_scope
from everflow.platform import file_io, logging
from everflow.protos.graph_debug_info_pb2 import GraphDebugInfo
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.meta_graph_pb2 import MetaGraphDef
from everflow.protos.op_def_pb2 import OpList
from everflow.version import GIT_VERSION, VERSION

# --- writing ---------------------------------------------------------------------------------


def ops_used_by_graph_def(graph_def):
    """The op types of a GraphDef's nodes and functions, sorted."""
    functions = {f.signature.name: f for f in graph_def.library.function}
    used, pending = set(), [node.op for node in graph_def.node]
    while pending:
        op = pending.pop()
        if op in used:
            continue
        used.add(op)
        if op in functions:
            pending.extend(node.op for node in functions[op].node_def)
    return sorted(op for op in used if op not in functions)


def stripped_op_list_for_graph(graph_def):
    """The definitions of the op types that a GraphDef uses, as an OpList."""
    used = {op: op_defs.find(op) for op in ops_used_by_graph_def(graph_def)}
    if unknown := [op for op, definition in used.items() if definition is None]:
        raise ValueError(f"The graph uses op types that are not registered: {', '.join(unknown)}")
    return OpList(op=[op_def_protos.to_proto(definition) for definition in used.values()])


def strip_graph_default_valued_attrs(meta_graph_def):
    """Leave out attributes that have their default value, so that older readers, which may not know them, can read the
    graph.
    """
    meta_graph_def.meta_info_def.stripped_default_attrs = True
    bodies = [function.node_def for function in meta_graph_def.graph_def.library.function]
    for node in itertools.chain(meta_graph_def.graph_def.node, *bodies):
        definition = op_defs.find(node.op)
        if definition is None:
            continue
        proto = op_def_protos.to_proto(definition)
        for attr in proto.attr:
            if attr.HasField("default_value") and attr.name in node.attr and node.attr[attr.name] == attr.default_value:
                del node.attr[attr.name]


_SAVING = ("Save", "SaveSlices", "SaveV2", "Restore", "RestoreSlice", "RestoreV2")


def add_collection_def(meta_graph_def, key, graph=None, export_scope=None, exclude_nodes=None, override_contents=None):
    """Write a collection of a graph, or other contents for it, into a MetaGraphDef; what has no form there is left out."""
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"graph must be a Graph, not {type(graph)}")
    graph, excluded = graph or get_default_graph(), exclude_nodes or ()
    items = [
        i
        for i in (graph.get_collection(key) if override_contents is None else override_contents)
        if (i if isinstance(i, str) else getattr(i, "name", None)) not in excluded
    ]
    if not items:
        return
    if not isinstance(key, str):
        logging.warning("A collection under the key %s, which is no string, is left out of the MetaGraphDef.", key)
        return
    held = meta_graph_def.collection_def[key]
    try:
        to_proto = get_to_proto_function(key)
        if to_proto is not None:
            held.bytes_list.SetInParent()
            for item in items:
                proto = to_proto(item, export_scope=export_scope)
                if proto is not None:
                    held.bytes_list.value.append(proto.SerializeToString())
        else:
            _fill(held, items, export_scope)
        if export_scope and not getattr(held, held.WhichOneof("kind")).value:
            del meta_graph_def.collection_def[key]  # nothing of it is under the scope
    except (TypeError, ValueError, AttributeError, NotImplementedError) as e:
        logging.warning(
            "Collection %s is left out of the MetaGraphDef, which has no form for what it holds; most programs do without it.\n%s",
            key,
            e,
        )
        del meta_graph_def.collection_def[key]


def _fill(held, items, export_scope):
    first = items[0]
    if isinstance(first, (str, bytes)):
        held.bytes_list.value.extend(i.encode() if isinstance(i, str) else i for i in items)
    elif isinstance(first, int):
        held.int64_list.value.extend(items)
    elif isinstance(first, float):
        held.float_list.value.extend(items)
    elif isinstance(first, Any):
        held.any_list.value.extend(items)
    else:
        names = [getattr(i, "name", None) for i in items]
        if any(not isinstance(n, str) for n in names):
            raise TypeError(f"{first!r} has no name that a file could hold")
        held.node_list.value.extend(
            strip_name_scope(n, export_scope) for n in names if not export_scope or n.startswith(export_scope)
        )


def create_meta_graph_def(meta_info_def=None, graph_def=None, saver_def=None, collection_list=None, graph=None, export_scope=None,
                          exclude_nodes=None, clear_extraneous_savers=False, strip_default_attrs=False):  # fmt: skip
    """A MetaGraphDef of a graph (the default one) or GraphDef with the graph's collections, without `exclude_nodes` in
    them.
    """
    graph = graph or get_default_graph()
    meta = MetaGraphDef()
    if meta_info_def is not None:
        meta.meta_info_def.MergeFrom(meta_info_def)
    meta.meta_info_def.tensorflow_version = VERSION
    meta.meta_info_def.tensorflow_git_version = GIT_VERSION
    meta.graph_def.MergeFrom(graph_def if graph_def is not None else graph.as_graph_def(add_shapes=True))
    if not meta.meta_info_def.HasField("stripped_op_list"):
        meta.meta_info_def.stripped_op_list.MergeFrom(stripped_op_list_for_graph(meta.graph_def))
    if strip_default_attrs:
        strip_graph_default_valued_attrs(meta)
    if saver_def is not None:
        meta.saver_def.MergeFrom(saver_def)
    for key in graph.get_all_collection_keys() if collection_list is None else collection_list:
        if key == GraphKeys.SAVERS and clear_extraneous_savers:
            if saver_def is not None:
                meta.collection_def[key].bytes_list.value.append(saver_def.SerializeToString())
            continue
        add_collection_def(meta, key, graph, export_scope, exclude_nodes)
    return meta


def _without_other_savers(graph_def, saver_def):
    """A graph without the nodes of Savers but for one: what is in a scope with nodes that save or restore."""
    own = saver_def.restore_op_name.rpartition("/")[0] if saver_def is not None else None
    scopes = {node.name.rpartition("/")[0] for node in graph_def.node if node.op in _SAVING}
    others = tuple(f"{scope}/" for scope in scopes if scope and scope != own)
    made = GraphDef(versions=graph_def.versions, library=graph_def.library)
    made.node.extend(node for node in graph_def.node if not node.name.startswith(others))
    return made


def refuse_when_eager():
    if executing_eagerly():
        raise RuntimeError(
            "Meta graphs are of graphs, and thus not supported when eager execution is enabled: save with "
            "tf.train.Checkpoint or tf.saved_model.save"
        )


def export_meta_graph(filename=None, meta_info_def=None, graph_def=None, saver_def=None, collection_list=None, as_text=False, graph=None,
                      export_scope=None, clear_devices=False, clear_extraneous_savers=False, strip_default_attrs=False,
                      save_debug_info=False, **kwargs):  # fmt: skip
    """The graph as a MetaGraphDef, written to a file where one is named.

    Args:
        filename: The file; None to write none.
        meta_info_def: A MetaInfoDef to put in.
        graph_def: A GraphDef in place of the graph.
        saver_def: A SaverDef to put in.
        collection_list: The collections to put in; all if None.
        as_text: Whether the file is text, which people can read, or bytes.
        graph: The graph to work in; the default graph if None.
        export_scope: Only nodes under this name scope, without its name.
        clear_devices: Whether nodes forget their devices.
        clear_extraneous_savers: Whether other savers' nodes are left out.
        strip_default_attrs: Whether attributes that have their default are left out.
        save_debug_info: Whether the lines that made the nodes are written beside.
        **kwargs: Not used.

    Returns:
        A MetaGraphDef.

    Raises:
        ValueError: If a scope and a GraphDef don't go together.
        RuntimeError: When executing eagerly.

    Example:
        >>> v = tf.Variable(1.0, name="v")
        >>> meta_graph = tf.train.export_meta_graph("model.meta")
        >>> [node.name for node in meta_graph.graph_def.node][:2]
        ['keras_learning_phase/input', 'keras_learning_phase']
    """
    arguments = {name: value for name, value in locals().items() if name != "kwargs"}
    refuse_when_eager()
    return export_scoped_meta_graph(**arguments, **kwargs)[0]


def export_scoped_meta_graph(filename=None, graph_def=None, graph=None, export_scope=None, as_text=False,
                             unbound_inputs_col_name="unbound_inputs", clear_devices=False, saver_def=None,
                             clear_extraneous_savers=False, strip_default_attrs=False, save_debug_info=False, **kwargs):  # fmt: skip
    """(MetaGraphDef, variables by name): of all nodes, or of those under a scope, with names relative to it."""
    graph = graph or get_default_graph()
    if graph_def is not None and export_scope is None and not clear_devices:
        chosen = GraphDef()
        chosen.CopyFrom(graph_def)
    else:
        chosen = _scoped(
            graph_def if graph_def is not None else graph.as_graph_def(add_shapes=True),
            export_scope,
            clear_devices,
            graph,
            unbound_inputs_col_name,
        )
    if clear_extraneous_savers:
        chosen = _without_other_savers(chosen, saver_def)
    variables = {}
    for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=export_scope):
        variables[strip_name_scope(variable.name, export_scope)] = variable
    meta = create_meta_graph_def(
        graph_def=chosen,
        graph=graph,
        export_scope=export_scope,
        saver_def=saver_def,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        **kwargs,
    )
    if filename:
        folder, name = os.path.split(filename)
        data = text_format.MessageToString(meta) if as_text else meta.SerializeToString()
        if folder:
            file_io.recursive_create_dir(folder)
        file_io.atomic_write_string_to_file(os.path.join(folder, name), data)
        if save_debug_info:
            scope = f"{export_scope.rstrip('/')}/" if export_scope else ""
            places = _places_of(op for op in graph.get_operations() if op.name.startswith(scope))
            data = text_format.MessageToString(places) if as_text else places.SerializeToString()
            file_io.atomic_write_string_to_file(os.path.splitext(filename)[0] + ".debug", data)
    return meta, variables


# Before the names of inputs that are outside of the scope that is written.
_UNBOUND = "$unbound_inputs_"


def _places_of(operations):
    """Where operations were made: the file and line of each frame, innermost first."""
    info = GraphDebugInfo()
    numbers = {}
    for op in operations:
        trace = info.traces[op.name]
        for file, line, *_ in reversed(op.traceback):
            trace.file_line_cols.add(file_index=numbers.setdefault(file, len(numbers)), line=line)
    info.files.extend(numbers)
    return info


def _scoped(graph_def, scope, clear_devices, graph, unbound_name):
    """The nodes under a scope, without it in their names; inputs from outside are marked as unbound."""
    result = GraphDef(versions=graph_def.versions, library=graph_def.library)
    prefix = f"{scope.rstrip('/')}/" if scope else ""
    unbound = []
    for node in graph_def.node:
        # As in TensorFlow, scopes and nodes beside it whose names begin like its own are written, too.
        if scope and not node.name.startswith(scope):
            continue
        made = result.node.add()
        made.CopyFrom(node)
        made.name = strip_name_scope(node.name, scope)
        if clear_devices:
            made.device = ""
        if not prefix:
            continue
        for i, text in enumerate(node.input):
            source, _ = split_input(text)
            if source.startswith(scope):
                mark = "^" if text.startswith("^") else ""
                made.input[i] = mark + strip_name_scope(text.removeprefix(mark), scope)
            else:
                made.input[i] = _UNBOUND + text
                unbound.append(made.input[i])
        for i, group in enumerate(made.attr["_class"].list.s if "_class" in node.attr else ()):
            made.attr["_class"].list.s[i] = group.replace(b"loc:@" + prefix.encode(), b"loc:@", 1)
    if unbound and unbound_name:
        graph.clear_collection(unbound_name)
        for name in sorted(set(unbound)):
            graph.add_to_collection(unbound_name, name)
    return result


# --- reading ---------------------------------------------------------------------------------


def read_meta_graph_file(filename):
    """The MetaGraphDef in a file, binary or text; IOError where there is none or it is none."""
    if not file_io.file_exists(filename):
        raise OSError(f"File {filename} does not exist.")
    content = file_io.read_file_to_string(filename, binary_mode=True)
    meta = MetaGraphDef()
    try:
        meta.ParseFromString(content)
        return meta
    except DecodeError:
        pass  # it may be text
    try:
        text_format.Parse(content.decode("utf-8"), meta)
    except (text_format.ParseError, UnicodeDecodeError) as e:
        raise OSError(f"Cannot parse file {filename}: {e}.") from e
    return meta


def import_scoped_meta_graph(meta_graph_or_file, clear_devices=False, graph=None, import_scope=None, input_map=None,
                             unbound_inputs_col_name="unbound_inputs", restore_collections_predicate=lambda key: True):  # fmt: skip
    """Add a MetaGraphDef's nodes and collections to a graph; returns its variables by name."""
    return import_with_elements(
        meta_graph_or_file,
        clear_devices,
        graph,
        import_scope,
        input_map,
        unbound_inputs_col_name,
        restore_collections_predicate,
    )[0]


def import_with_elements(meta_graph_or_file, clear_devices=False, graph=None, import_scope=None, input_map=None,
                         unbound_inputs_col_name="unbound_inputs", restore_collections_predicate=lambda key: True,
                         return_elements=None):  # fmt: skip
    """As `import_scoped_meta_graph`; returns (variables by name, the return elements)."""
    meta = (
        meta_graph_or_file if isinstance(meta_graph_or_file, MetaGraphDef) else read_meta_graph_file(meta_graph_or_file)
    )
    _check_bound(meta, input_map, unbound_inputs_col_name)
    graph = graph or get_default_graph()
    graph_def = meta.graph_def
    if clear_devices:
        graph_def = GraphDef()
        graph_def.CopyFrom(meta.graph_def)
        for node in graph_def.node:
            node.device = ""
    with graph.as_default():
        # Without a scope of its own, nodes go right into the name scope around.
        around = graph.get_name_scope()
        scope = graph.unique_name(import_scope, mark_as_used=False) if import_scope else around
        elements = import_graph_def(
            graph_def,
            name=import_scope or (f"{around}/" if around else ""),
            input_map=input_map,
            producer_op_list=meta.meta_info_def.stripped_op_list,
            return_elements=return_elements,
        )
        _restore_collections(meta, graph, scope, unbound_inputs_col_name, restore_collections_predicate)
    variables = {}
    for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=f"^{re.escape(scope)}/" if scope else None):
        variables[variable.name[len(scope) + 1 :] if scope else variable.name] = variable
    return variables, elements


import_scoped_meta_graph_with_return_elements = import_with_elements  # its name in TensorFlow


def _check_bound(meta, input_map, unbound_name):
    if not unbound_name or unbound_name not in meta.collection_def:
        return
    wanted = meta.collection_def[unbound_name].bytes_list.value
    missing = [n.decode() for n in wanted if n.decode() not in (input_map or {})]
    if missing:
        raise ValueError(f"Graph contains unbound inputs: {', '.join(missing)}; pass tensors for them in `input_map`")


def _restore_collections(meta, graph, scope, unbound_name, predicate):
    for key, held in sorted(meta.collection_def.items()):
        if key == unbound_name or not predicate(key):
            continue
        kind = held.WhichOneof("kind")
        if kind is None:
            logging.error("Cannot identify data type for collection %s. Skipping.", key)
            continue
        from_proto = get_from_proto_function(key)
        if from_proto is not None and kind == "bytes_list":
            proto_type = get_collection_proto_type(key)
            for value in held.bytes_list.value:
                graph.add_to_collection(key, from_proto(proto_type.FromString(value), import_scope=scope))
        elif kind == "node_list":
            for name in held.node_list.value:
                graph.add_to_collection(key, graph.as_graph_element(prepend_name_scope(name, scope)))
        else:
            for value in getattr(held, kind).value:
                graph.add_to_collection(key, int(value) if kind == "int64_list" else value)


def copy_scoped_meta_graph(from_scope, to_scope, from_graph=None, to_graph=None):
    """Draw what is under one name scope again under another, of this graph or a second one; returns its variables by
    name.
    """
    from_graph = from_graph or get_default_graph()
    to_graph = to_graph or get_default_graph()
    if from_graph is to_graph and from_scope == to_scope:
        raise ValueError(f"The scopes of a copy within one graph need to be different: both are {from_scope!r}")
    meta, _ = export_scoped_meta_graph(export_scope=from_scope, graph=from_graph)
    return import_scoped_meta_graph(meta, graph=to_graph, import_scope=to_scope)
