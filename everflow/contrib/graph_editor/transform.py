"""Copying a part of a graph, with handlers that say what becomes of its operations, inputs and surroundings."""

from __future__ import annotations

from everflow.contrib.graph_editor import elements, select, subgraph, util
from everflow.framework.graph import Graph
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Operation, Tensor


class _Run:
    """One transformation while it goes on, the `info` of handlers. Names that end in `_` are of the new side."""

    def __init__(self, sgv, dst_graph, dst_scope, src_scope):
        self.sgv, self.graph, self.graph_ = sgv, sgv.graph, dst_graph
        self.scope, self.scope_ = elements.scope_finalize(src_scope), elements.scope_finalize(dst_scope)
        self.ops = frozenset(sgv.ops)
        self.sgv_inputs_set = frozenset(sgv.inputs)
        self.transformed_ops, self.transformed_ts = {}, {}
        self._frames = {}

    def new_frame(self, name):
        """The name of a copied loop's frame: loops of one graph that share a frame would run as one."""
        if name not in self._frames:
            self._frames[name] = self.graph_.unique_name(self.scope_ + name)
        return self._frames[name]

    def new_name(self, name):
        """A name of the source, below the new scope."""
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name[len(self.scope) :]


class TransformerInfo:
    """What became of what."""

    def __init__(self, info):
        self._graph, self._scope, self._graph_, self._scope_ = info.graph, info.scope, info.graph_, info.scope_
        self._new = {**info.transformed_ops, **info.transformed_ts}
        self._old = {new: old for old, new in self._new.items()}
        self._ops = dict(info.transformed_ops)

    def _found(self, table, graph, element, missing_fn):
        """What belongs to each leaf of a structure; names stand for elements, and give names."""

        def one(item):
            named = isinstance(item, str)
            key = graph.as_graph_element(item) if named else item
            made = table.get(key)
            if made is None:
                return None if missing_fn is None else missing_fn(item)
            return made.name if named else made

        return util.transform_tree(element, one)

    def transformed(self, original, missing_fn=None):
        """What an element became; None, or what `missing_fn` gives, where it wasn't part of this."""
        return self._found(self._new, self._graph, original, missing_fn)

    def original(self, transformed, missing_fn=None):
        """What an element was made from."""
        return self._found(self._old, self._graph_, transformed, missing_fn)

    def __str__(self):
        same = self._graph is self._graph_
        there = "" if same else f" to graph[{id(self._graph_)}]"
        where = f"  {'Within' if same else 'From'} graph[{id(self._graph)}]{there}"
        lines = ["Transform result info:", where]
        if self._scope:
            lines.append(f"  Scope source: {self._scope}")
        if self._scope_:
            lines.append(f"  Scope destination: {self._scope_}")
        lines += ["Operations mapping:", *(f"  {old.name} => {new.name}" for old, new in self._ops.items())]
        return "\n".join(lines) + "\n"


# --- handlers ------------------------------------------------------------------------------------


def replace_t_with_placeholder_handler(info, t):
    """A placeholder in the place of a tensor."""
    with info.graph_.as_default():
        return elements.make_placeholder_from_tensor(t, scope=info.scope_)


def keep_t_if_possible_handler(info, t):
    """The tensor itself where the copy is in its graph, else a placeholder."""
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def transform_op_if_inside_handler(info, op, keep_if_possible=True):
    """The copy of an operation that is part of this; itself where it isn't but could stay, else None."""
    if op in info.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


def assign_renamed_collections_handler(info, elem, elem_):
    """Put a copy into the collections of its original; those of the program's own are named below the new scope."""
    standard = {value for key, value in vars(GraphKeys).items() if isinstance(value, str) and not key.startswith("__")}
    for name in info.graph.get_all_collection_keys():
        if any(item is elem for item in info.graph.get_collection_ref(name)):
            info.graph_.add_to_collection(name if name in standard else info.scope_ + str(name), elem_)


def copy_op_handler(info, op, new_inputs, copy_shape=False, nodedef_fn=None):
    """(copy, its outputs). `nodedef_fn` may change the NodeDef first."""
    node_def = type(op.node_def)()
    node_def.CopyFrom(op.node_def)
    node_def.name = info.new_name(op.name)
    if nodedef_fn is not None:
        node_def = nodedef_fn(node_def)
    if node_def.op in ("Enter", "RefEnter"):
        node_def.attr["frame_name"].s = info.new_frame(node_def.attr["frame_name"].s.decode()).encode()
    attrs = {key: value for key, value in node_def.attr.items() if key != "_output_shapes"}
    with info.graph_.as_default(), info.graph_.control_dependencies(None):
        given = {"name": node_def.name, "attrs": attrs, "compute_device": False}
        copied = info.graph_.create_op(node_def.op, list(new_inputs), [t.dtype for t in op.outputs], **given)
    copied._set_device_from_string(node_def.device)
    if copy_shape:
        for old, new in zip(op.outputs, copied.outputs):
            new.set_shape(old.shape)
    return copied, copied.outputs


class Transformer:
    """Copies a view of a graph. Its attributes are the handlers, to be replaced as one likes."""

    transform_op_handler = staticmethod(copy_op_handler)
    transform_control_input_handler = transform_original_op_handler = staticmethod(transform_op_if_inside_handler)
    transform_external_input_handler = staticmethod(replace_t_with_placeholder_handler)
    transform_external_hidden_input_handler = staticmethod(keep_t_if_possible_handler)
    assign_collections_handler = staticmethod(assign_renamed_collections_handler)

    def __call__(self, sgv, dst_graph, dst_scope, src_scope="", reuse_dst_scope=False):
        """(view of the copy, TransformerInfo). `src_scope` is taken off names, `dst_scope` is put before them."""
        sgv = subgraph.make_view(sgv)
        elements.check_type(dst_graph, Graph)
        dst_scope = elements.scope_finalize(dst_scope)
        if dst_scope and not reuse_dst_scope:
            dst_scope = elements.scope_finalize(dst_graph.unique_name(dst_scope[:-1]))
        if sgv.graph is dst_graph and not dst_scope and src_scope:
            dst_scope = elements.scope_finalize(dst_graph.unique_name(elements.scope_finalize(src_scope)[:-1]))
        info = _Run(sgv, dst_graph, dst_scope, src_scope)
        back_edges = []
        # Makers before users; only the back edges of loops come from operations that are made later.
        for op in sorted(sgv.ops, key=lambda op: op._id_value):
            self._transform_op(info, op, back_edges)
        for copied, index, t in back_edges:
            copied._update_input(index, info.transformed_ts[t])
        self._connect_controls(info)
        return self._view(info), TransformerInfo(info)

    def _transform_op(self, info, op, back_edges):
        new_inputs, later = [], []
        for index, t in enumerate(op.inputs):
            if t in info.sgv_inputs_set:
                new_inputs.append(self.transform_external_input_handler(info, t))
            elif t.op not in info.ops:
                new_inputs.append(self.transform_external_hidden_input_handler(info, t))
            elif t in info.transformed_ts:
                new_inputs.append(info.transformed_ts[t])
            else:
                # A loop's Merge: its first input stands in until the end of the loop is there.
                new_inputs.append(new_inputs[0])
                later.append((index, t))
        made, outputs = self.transform_op_handler(info, op, new_inputs)
        back_edges += [(made, index, t) for index, t in later]
        info.transformed_ops[op] = made
        if op is not made:
            self.assign_collections_handler(info, op, made)
        for old, new in zip(op.outputs, outputs):
            info.transformed_ts[old] = new
            if old is not new:
                self.assign_collections_handler(info, old, new)
        original = getattr(op, "_original_op", None)
        if original is not None and original in info.transformed_ops:
            made._original_op = self.transform_original_op_handler(info, original)

    def _connect_controls(self, info):
        for op, made in info.transformed_ops.items():
            if made is op:
                continue
            controls = [self.transform_control_input_handler(info, c) for c in op.control_inputs]
            others = (c for c in controls if c is not None and c is not made)
            made._add_control_inputs([c for c in others if c not in made.control_inputs])

    def _view(self, info):
        """The view of the copy, with the inputs and outputs that were copied, in the same order."""
        made = subgraph.SubGraphView(list(info.transformed_ops.values()))
        for own, old in ((made._inputs, info.sgv.inputs), (made._outputs, info.sgv.outputs)):
            here = set(own)
            own[:] = [new for t in old if (new := info.transformed_ts.get(t)) in here]
        return made


def copy(sgv, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False):
    """(view of the copy, TransformerInfo) of a part of a graph; placeholders take the place of its inputs."""
    sgv = subgraph.make_view(sgv)
    return Transformer()(sgv, dst_graph or sgv.graph, dst_scope, src_scope, reuse_dst_scope=reuse_dst_scope)


def copy_with_input_replacements(
    sgv, replacement_ts, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False
):
    """(view of the copy, TransformerInfo) of a part of a graph that takes other inputs, as a dict says."""
    sgv = subgraph.make_view(sgv)
    copier = Transformer()

    def replaced(info, t):
        return replacement_ts[t] if t in replacement_ts else keep_t_if_possible_handler(info, t)

    copier.transform_external_input_handler = copier.transform_external_hidden_input_handler = replaced
    return copier(sgv, dst_graph or sgv.graph, dst_scope, src_scope, reuse_dst_scope=reuse_dst_scope)


def graph_replace(target_ts, replacement_ts, dst_scope="", src_scope="", reuse_dst_scope=False):
    """Copies of tensors that are computed from `replacement_ts[t]` wherever they were from `t`.

    >>> y_of_z = tf.contrib.graph_editor.graph_replace(y, {x: z})
    """
    flat = elements.flatten_tree(target_ts)
    for t in flat:
        elements.check_type(t, Tensor, Operation)
    graph = elements.unique_graph(flat)
    ops = select.get_walks_intersection_ops(list(replacement_ts), flat, control_ios=elements.ControlOutputs(graph))
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    # The copy must see replaced tensors as coming from outside, whether or not what makes them is part of it.
    _, info = copy_with_input_replacements(ops, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)
    return info.transformed(target_ts, missing_fn=lambda t: t)
