"""`tf.cond` as an `If` op and `tf.switch_case` as a `Case` op, which call a function for each branch, and their
gradients.
"""

from __future__ import annotations

import functools

from everflow.framework import dtypes, nest
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.functions import call_attr
from everflow.framework.operation import Operation, Tensor
from everflow.framework.registry import gradient
from everflow.framework.scopes import control_dependencies, executing_eagerly, get_default_graph, name_scope
from everflow.ops import array, math
from everflow.ops.control_flow.contexts import mark_for_lowering
from everflow.ops.control_flow.primitives import check_pairs, with_common_indices
from everflow.ops.control_flow.switches import output_all_intermediates
from everflow.ops.functions.bodies import (
    CondBranchFuncGraph,
    add_placeholder,
    as_stored,
    define,
    finished,
    grow,
    intermediates_of,
    returned,
    unique_name,
)
from everflow.ops.functions.gradients import Backward, given
from everflow.ops.gradients.reverse import zeros_for
from everflow.ops.tensor_arrays.flows import flow_of, with_flows_of
from everflow.ops.variables.handles import handle_data


def functional_cond(pred, true_fn, false_fn, scope):
    """What the chosen branch returns, as outputs of an `If`; `scope` is its name with a slash."""
    if pred.shape.rank != 0:
        pred = array.squeeze(pred)
    branches = [_Branch(true_fn, pred, scope, "true"), _Branch(false_fn, pred, scope, "false")]
    return _chosen(pred, branches, scope, "true_fn and false_fn arguments to tf.cond", by_index=False)


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """What the function at an index returns; the default (or the last) where there is none of that index.

    Args:
        branch_index: A scalar int32 tensor.
        branch_fns: The functions, in a list, or as pairs with their numbers.
        default: The function for other numbers; the last one if None.
        name: The name of the operation in the graph.

    Returns:
        What the function returns.

    Raises:
        TypeError: If the functions are not given so.

    Example:
        >>> index = tf.placeholder(tf.int32, [])
        >>> chosen = tf.switch_case(index, [lambda: tf.constant(17), lambda: tf.constant(31)])
        >>> sess.run(chosen, {index: 0}), sess.run(chosen, {index: 5})
        (np.int32(17), np.int32(31))
    """
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"branch_index must be a Tensor, got {type(branch_index)}")
    functions = _functions_in_order(branch_fns)
    if default is not None:
        if not callable(default):
            raise TypeError("default must be callable.")
        functions.append(default)
    with name_scope(name, "case", [branch_index]), name_scope("indexed_case") as scope:
        eager, dtype = executing_eagerly(), branch_index.dtype.base_dtype
        if not (dtype.is_integer if eager else dtype == dtypes.int32):
            raise TypeError(f"branch_index must be a Tensor of type int32: {branch_index}")
        if eager:
            index = int(branch_index)
            return functions[index if 0 <= index < len(functions) else -1]()
        return functional_case(branch_index, functions, scope)


def functional_case(branch_index, functions, scope):
    """What the function at an index returns, as outputs of a `Case`; `scope` is its name with a slash."""
    branches = [_Branch(function, branch_index, scope, f"branch{i}") for i, function in enumerate(functions)]
    return _chosen(branch_index, branches, scope, "branch_fns arguments to tf.switch_case", by_index=True)


def _functions_in_order(branch_fns):
    if not isinstance(branch_fns, (dict, list, tuple)):
        raise TypeError("branch_fns must be a dict or list of callables or of pairs of an index and a callable")
    if not branch_fns:
        raise ValueError("branch_fns must not be empty")
    pairs = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    if all(callable(item) for item in pairs):
        pairs = list(enumerate(pairs))
    check_pairs("branch_fns", pairs)
    for key, _ in pairs:
        if not isinstance(key, int):
            raise TypeError(f"key must be a Python `int`, got {type(key)}")
    keys = sorted(key for key, _ in pairs)
    if keys != list(range(len(keys))):
        raise ValueError(f"The keys of branch_fns must be contiguous, 0 to {len(keys) - 1}, but are {keys}")
    return [function for _, function in sorted(pairs, key=lambda pair: pair[0])]


def _chosen(selector, branches, scope, what, by_index):
    """The results of the branch that is chosen when run."""
    first = branches[0]
    structures = with_common_indices([b.structure for b in branches], [b.graph.as_default for b in branches])
    for branch, structure in zip(branches, structures):
        branch.structure, branch.outputs = structure, nest.flatten(structure, expand_composites=True)
    for other in branches[1:]:
        try:
            nest.assert_same_structure(first.structure, other.structure, expand_composites=True)
        except (TypeError, ValueError) as e:
            as_many = len(nest.flatten(first.structure)) == len(nest.flatten(other.structure))
            error = TypeError if as_many else AssertionError
            raise error(f"{what} must return values of the same structure: {e}") from None
        for a, b in zip(first.outputs, other.outputs):
            if a.dtype.base_dtype != b.dtype.base_dtype:
                raise TypeError(f"{what} must return values of the same dtypes: {a}, {b}")
    captured = list(dict.fromkeys(t for branch in branches for t in branch.graph._captures))
    functions = [branch.define(captured) for branch in branches]
    shapes = _common_shapes([b.outputs for b in branches])
    with control_dependencies([op for branch in branches for op in branch.graph.control_captures]):
        op = _build(selector, captured, functions, first.outputs, shapes, by_index, scope)
    if output_all_intermediates():
        bodies = [function.body() for function in functions]
        optionals = [[_optional(body, t) for t in intermediates_of(body)] for body in bodies]
        _give_more(op, functions, bodies, optionals, get_default_graph())
    if not first.outputs:
        raise IndexError(f"{what} return nothing, so there is nothing to hand on: return a tensor or an operation")
    outputs = [array.identity(t) for t in op.outputs[: len(first.outputs)]]
    flat = nest.flatten(first.original, expand_composites=True)
    return nest.pack_sequence_as(first.original, with_flows_of(flat, outputs), expand_composites=True)


def _common_shapes(results):
    """For each result the shape that all branches agree on."""
    return [
        functools.reduce(lambda a, b: a.most_specific_compatible_shape(b), (t.shape for t in same))
        for same in zip(*results)
    ]


class _Branch:
    """One branch: its body, and what its function returned."""

    def __init__(self, function, selector, scope, which):
        self.name = unique_name(f"{scope}{which}".replace("/", "_"))
        outer = get_default_graph()
        self.graph = graph = CondBranchFuncGraph(self.name, outer)
        graph.belong_to(outer)
        self.selector = selector
        with graph.as_default():
            self.original = function()
            results = [] if self.original is None else nest.flatten(self.original, expand_composites=True)
            self.outputs = finished(graph, [self.result(x) for x in results])
            if self.original is None:
                self.original = []
            self.structure = nest.pack_sequence_as(self.original, self.outputs, expand_composites=True)

    def result(self, value):
        if isinstance(value, Operation):
            # An op has no value: what was chosen by stands for its having run.
            with control_dependencies([value]):
                return array.identity(self.selector)
        return convert_to_tensor(flow_of(value))

    def define(self, captured):
        inputs = [
            self.graph._captures[t] if t in self.graph._captures else add_placeholder(self.graph, t) for t in captured
        ]
        return define(self.graph.body(inputs, self.outputs), self.name, self.graph.outer_graph)


def _build(selector, values, functions, like, shapes, by_index, name=None):
    options = {"input": list(values), "Tout": [t.dtype.base_dtype for t in like], "output_shapes": shapes, "name": name}
    calls = [call_attr(f.name) for f in functions]
    if by_index:
        made = raw.Case(branch_index=selector, branches=calls, **options)
    else:
        build = raw.If if any(f.op_definition.is_stateful for f in functions) else raw.StatelessIf
        made = build(cond=selector, then_branch=calls[0], else_branch=calls[1], **options)
    op = made[0].op if like else get_default_graph().get_operations()[-1]
    mark_for_lowering(op)
    for tensor, result, shape in zip(op.outputs, like, shapes):
        tensor.set_shape(shape)
        tensor._handle_data = result._handle_data
    return op


def _branches_of(op):
    calls = op.attrs["branches"] if op.type == "Case" else [op.attrs["then_branch"], op.attrs["else_branch"]]
    return [op.graph._get_function(call.name) for call in calls]


class _BranchBackward(CondBranchFuncGraph):
    """The body of a branch's gradient: what the branch computed comes as an optional, since another branch may have run."""

    def __init__(self, body, name, outer_graph):
        super().__init__(name, outer_graph)
        self._body, self._branch = body, body.graph
        self._given = {*body.inputs, *body.outputs}
        # The optionals that an earlier gradient has had made, by the tensors in them, and those that this one needs.
        self._made = {o.op.inputs[0] for o in body.outputs if _is_optional(o)}
        self.optionals = {}
        self._values = {}

    def take_gradient(self, gradient):
        """What a gradient outside is captured for tells its name."""
        return gradient

    def capture(self, tensor, consumer=None):
        if tensor.is_in(self) or not tensor.is_in(self._branch) or tensor in self._given:
            return super().capture(tensor, consumer)
        if tensor not in self._values:
            # The branch has it at once: nodes that differentiating it adds to the branch later come after it.
            if tensor not in self._made:
                self.optionals[tensor] = _optional(self._body, tensor)
            held = self._placeholder(dtypes.variant, self._capture_name(tensor, consumer), [])
            self._captures[tensor] = held
            with self.as_default():
                [value] = raw.OptionalGetValue(
                    optional=held, output_types=[tensor.dtype.base_dtype], output_shapes=[tensor.shape]
                )
            value._handle_data = tensor._handle_data
            self._values[tensor] = value
        return self._values[tensor]


@gradient("If", "StatelessIf", "Case")
def _branches_grad(op, *grads):
    graph = get_default_graph()
    grads = given(op, grads)
    branches = _branches_of(op)
    bodies = [as_stored(f, op.inputs[1:]) for f in branches]
    backwards = [
        Backward(body, grads, f"{f.name}_grad", functools.partial(_BranchBackward, body), keep_slices=True)
        for f, body in zip(branches, bodies)
    ]
    # Every input gets a gradient, integers and flags too: zeros where none came. Not so the handles of tables and
    # iterators: TensorFlow takes them for variables, and the run fails.
    wanted = [x.dtype != dtypes.resource or handle_data(x)[1] is not None for x in op.inputs[1:]]
    for body, backward in zip(bodies, backwards):
        with backward.graph.as_default():
            pairs = [pair for *pair, want in zip(body.inputs, backward.results, wanted) if want]
            found = [zeros_for(x) if g is None else g for x, g in pairs]
            flat = returned(backward.graph, nest.flatten(found, expand_composites=True))
            backward.results = nest.pack_sequence_as(found, flat, expand_composites=True)
    structure = _made_alike(backwards)
    outside = _outside(op, branches, bodies, [b.graph for b in backwards], graph)
    values = list(dict.fromkeys(t for held in outside for t in held))
    functions = []
    for backward, held in zip(backwards, outside):
        back = backward.graph
        inputs = [held[t] if t in held else add_placeholder(back, t) for t in values]
        functions.append(define(back.body(inputs, backward.results), unique_name(back.name), graph, op.graph))
    shapes = _common_shapes([b.results for b in backwards])
    by_index = op.type == "Case"
    name = "gradient" if by_index else None
    made = _build(op.inputs[0], values, functions, backwards[0].results, shapes, by_index, name)
    outputs = [array.identity(t) for t in made.outputs]
    found = iter(nest.pack_sequence_as(structure, outputs, expand_composites=True))
    return [None] + [next(found) if want else None for want in wanted]


def _made_alike(backwards):
    """What gradients of branches consist of: where some branches have slices of an input, all of them give slices.
    Makes their results the tensors in that.
    """
    scopes = [backward.graph.as_default for backward in backwards]
    for place, same in enumerate(zip(*(backward.results for backward in backwards))):
        if any(isinstance(found, IndexedSlices) for found in same):
            for backward, found, scope in zip(backwards, same, scopes):
                with scope():
                    backward.results[place] = _as_slices(found)
    alike = with_common_indices([backward.results for backward in backwards], scopes)
    for backward, results in zip(backwards, alike):
        backward.results = nest.flatten(results, expand_composites=True)
    return alike[0]


def _as_slices(found):
    """A gradient as slices, all rows of it where it is dense."""
    if isinstance(found, Tensor):
        sizes = array.shape(found)
        return IndexedSlices(found, math.range(sizes[0]), sizes)
    if found.dense_shape is None:
        return IndexedSlices(found.values, found.indices, array.shape(found.values))
    return found


def _outside(op, branches, bodies, backs, graph):
    """For each branch {value outside: its placeholder in the backward body}. What a branch computes becomes an output
    of the op, as an optional that is empty when another branch has run; those of different branches share outputs.
    """
    # The optionals that an earlier gradient has had made.
    made = [{o.op.inputs[0]: op.outputs[i] for i, o in enumerate(b.outputs) if _is_optional(o)} for b in bodies]
    outputs = _give_more(op, branches, bodies, [list(back.optionals.values()) for back in backs], graph)
    found = []
    for body, back, known in zip(bodies, backs, made):
        # The first where a branch gives a value twice.
        seen = dict(zip(body.outputs[::-1], op.outputs[len(body.outputs) - 1 :: -1]))
        seen |= dict(zip(body.inputs, op.inputs[1:])) | known | dict(zip(back.optionals, outputs))
        found.append({seen.get(t, t): inside for t, inside in back._captures.items()})
    return found


def _is_optional(tensor):
    return tensor.op.type == "OptionalFromValue"


def _optional(body, tensor):
    """What a branch computes, as an optional."""
    with body.graph.as_default(), control_dependencies(None):
        return raw.OptionalFromValue(components=[tensor])


def _give_more(op, branches, bodies, optionals, graph):
    """Let an op give these optionals of its branches, too; returns these outputs."""
    count = max(map(len, optionals))
    if not count:
        return []
    functions = []
    for function, body, more in zip(branches, bodies, optionals):
        with body.graph.as_default(), control_dependencies(None):
            more += [raw.OptionalNone() for _ in range(count - len(more))]
        grown, name = body._replace(outputs=[*body.outputs, *more]), f"{function.name}_rewritten"
        if op.graph._is_function(name):  # another call of the same branch was differentiated
            name = unique_name(name)
        functions.append(define(grown, name, op.graph, graph))
    calls = [call_attr(f.name) for f in functions]
    return grow(
        op,
        more,
        Tout=[*op.attrs["Tout"], *(t.dtype.base_dtype for t in more)],
        # As the first branch gives them, which may tell more than all branches do together.
        output_shapes=[t.shape for t in (*bodies[0].outputs, *optionals[0])],
        **({"branches": calls} if op.type == "Case" else {"then_branch": calls[0], "else_branch": calls[1]}),
    )
