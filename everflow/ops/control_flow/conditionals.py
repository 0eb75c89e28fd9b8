"""`tf.cond`, `tf.case` and `tf.Assert`: branches built from Switch and Merge."""

from __future__ import annotations

import collections
import functools

from everflow.framework import dtypes, nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_n_to_tensor, convert_to_tensor
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import add_to_collection, control_dependencies, executing_eagerly, name_scope
from everflow.framework.static_values import constant_value, known_value
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.contexts import CondContext
from everflow.ops.control_flow.grouping import no_op
from everflow.ops.control_flow.primitives import check_pairs, merge, switch, with_common_indices
from everflow.ops.control_flow.switches import draws_functions
from everflow.ops.tensor_arrays.flows import flow_of, with_flows_of


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    """What `true_fn()` returns where `pred` is true when run, else what `false_fn()` returns. Only that branch's ops
    run.

    Args:
        pred: A scalar bool tensor; a Python bool picks the branch at once.
        true_fn: The function of the first branch.
        false_fn: The function of the other branch.
        strict: Whether a list of one tensor stays a list.
        name: The name of the operation in the graph.
        fn1: An older name of `true_fn`.
        fn2: An older name of `false_fn`.

    Returns:
        What the branch returns: a tensor, or the structure that both functions return.

    Raises:
        TypeError: If a branch is missing or is no function.
        ValueError: If both branches return different types or structures.

    Example:
        >>> x = tf.placeholder(tf.float32)
        >>> y = tf.cond(x > 0.0, lambda: tf.sqrt(x), lambda: tf.zeros_like(x))
        >>> sess.run(y, {x: 9.0}), sess.run(y, {x: -9.0})
        (np.float32(3.0), np.float32(0.0))
    """
    true_fn, false_fn = _renamed(true_fn, fn1, "true_fn", "fn1"), _renamed(false_fn, fn2, "false_fn", "fn2")
    if not callable(true_fn):
        raise TypeError("true_fn must be callable.")
    if not callable(false_fn):
        raise TypeError("false_fn must be callable.")
    with name_scope(name, "cond", [pred]) as scope:
        if executing_eagerly():
            result = true_fn() if pred else false_fn()
            return result if strict else _unpack_singleton(result)
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        if draws_functions():
            pred = convert_to_tensor(pred)
            # Imported when needed: its gradients are built on top of this module.
            from everflow.ops.control_flow.functional_branches import functional_cond

            return functional_cond(pred, true_fn, false_fn, scope)
        switched = switch(pred, pred)
        pivot_true = raw.Identity(input=switched[1], name="switch_t")
        pivot_false = raw.Identity(input=switched[0], name="switch_f")
        pred = raw.Identity(input=pred, name="pred_id")
        for tensor in (switched[0], pivot_true, pivot_false, pred):
            tensor.graph.prevent_fetching(tensor.op)
        context_true, original_true, result_true = _build_branch(pred, pivot_true, 1, true_fn, "true_fn")
        context_false, _, result_false = _build_branch(pred, pivot_false, 0, false_fn, "false_fn")
        if not strict:
            original_true = _unpack_singleton(original_true)
            result_true, result_false = _unpack_singleton(result_true), _unpack_singleton(result_false)
        flat_true, flat_false = _flat_results([result_true, result_false], [context_true, context_false])
        merges = [merge([f, t])[0] for f, t in zip(flat_false, flat_true)]
        merges = with_flows_of(nest.flatten(original_true, expand_composites=True), merges)
        # A context has those inside it with it.
        if context_true.outer_context is None:
            add_to_collection(GraphKeys.COND_CONTEXT, context_true)
            add_to_collection(GraphKeys.COND_CONTEXT, context_false)
        merges = nest.pack_sequence_as(original_true, merges, expand_composites=True)
        return merges if strict else _unpack_singleton(merges)


def _renamed(function, old, name, old_name):
    if old is None:
        if function is None:
            raise TypeError(f"cond(): {name} argument required")
        return function
    if function is not None:
        raise TypeError(f"cond(): {name} and {old_name} may not be set simultaneously.")
    return old


def _build_branch(pred, pivot, branch, function, what):
    """(context, what the function returned, the same as tensors of the branch)."""
    context = CondContext(pred, pivot, branch)
    with context:
        original = function()
        if original is None:
            raise ValueError(f"{what} must have a return value.")
        result = nest.map_structure(lambda x: context.output_of(flow_of(x)), original, expand_composites=True)
        context.ExitResult(result)
    return context, original, result


def _unpack_singleton(result):
    return (
        result[0]
        if isinstance(result, (list, tuple)) and not hasattr(result, "_fields") and len(result) == 1
        else result
    )


def _flat_results(results, contexts):
    """The tensors that each of two branches returns, which must be alike; slices' indices become so."""
    results = with_common_indices(results, [lambda c=context: c for context in contexts])
    # An op stands for itself as a bool tensor, so ops and tensors may be mixed.
    try:
        nest.assert_same_structure(*results, expand_composites=True)
    except (TypeError, ValueError) as e:
        raise type(e)(f"true_fn and false_fn return different structures: {e}") from None
    flat_true, flat_false = (nest.flatten(result, expand_composites=True) for result in results)
    if not flat_true:
        raise ValueError("true_fn and false_fn return nothing: give cond() at least a tensor or an op of each")
    for t, f in zip(flat_true, flat_false):
        if t.dtype.base_dtype != f.dtype.base_dtype:
            raise ValueError(
                f"true_fn returns {t.dtype.name} where false_fn returns {f.dtype.name}: both must have the same type"
            )
    return flat_true, flat_false


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """As `cond`, but takes the branch at once where the predicate is known while building."""
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    value = smart_constant_value(pred)
    if value is not None:
        return true_fn() if value else false_fn()
    return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


def smart_constant_value(pred):
    """The value of a predicate where it is known while building, else None; TypeError for something that is none."""
    if isinstance(pred, Tensor):
        value = constant_value(pred)
        # What constants are computed into counts as known here, other than elsewhere while building.
        return known_value(pred) if value is None else value
    if isinstance(pred, bool) or (not hasattr(pred, "_is_tensor_like") and pred in (0, 1)):
        return bool(pred)
    if hasattr(pred, "_is_tensor_like"):
        return None
    raise TypeError(f"pred must be a tensor, a Python bool, 0 or 1, not {type(pred)}")


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """What the function of the first true predicate returns; `default()` where none is true.

    Args:
        pred_fn_pairs: Pairs of a bool tensor and a function without arguments, in a list or dictionary.
        default: The function for when none is true; if None, that one must be is checked.
        exclusive: Whether to check that no more than one is true.
        strict: Whether a list of one tensor stays a list.
        name: The name of the operation in the graph.

    Returns:
        What the function returns; all must return the same types and structure.

    Raises:
        TypeError: If the pairs are not pairs of a bool tensor and a function.

    Example:
        >>> x = tf.constant(1.5)
        >>> sess.run(tf.case([(x < 1.0, lambda: 10), (x < 2.0, lambda: 20)], default=lambda: 30))
        np.int32(20)
    """
    return _case(cond, pred_fn_pairs, default, exclusive, name, allow_python_preds=False, strict=strict)


def smart_case(pred_fn_pairs, default=None, exclusive=False, name="smart_case"):
    """As `case`, but leaves out branches whose predicates are known while building."""
    return _case(smart_cond, pred_fn_pairs, default, exclusive, name, allow_python_preds=True)


def _case(cond_fn, pred_fn_pairs, default, exclusive, name, allow_python_preds=False, **cond_kwargs):
    unordered = isinstance(pred_fn_pairs, dict) and not isinstance(pred_fn_pairs, collections.OrderedDict)
    if unordered and not exclusive and executing_eagerly():
        raise ValueError("Executing eagerly, a dictionary has no order in which to ask: give a list, or exclusive=True")
    preds, actions = _check_pairs(pred_fn_pairs, allow_python_preds)
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    with name_scope(name, "case", [preds]):
        if default is None:
            default, preds, actions = _last_as_default(preds, actions)
        function = default
        for pred, action in reversed(list(zip(preds, actions))):
            function = functools.partial(cond_fn, pred, true_fn=action, false_fn=function, **cond_kwargs)
        if not exclusive:
            return function()
        with control_dependencies([_assert_at_most(preds, 1, "Input error: exclusive=True")]):
            return function()


def _assert_at_most(preds, count, message):
    """An op that fails where more than `count` predicates are true."""
    stacked = _stack_predicates(preds)
    number = raw.Sum(
        input=raw.Cast(x=stacked, DstT=dtypes.int32), reduction_indices=constant([0]), name="num_true_conds"
    )
    condition = raw.LessEqual(x=number, y=constant(count, name="n_true_conds"))
    names = ", ".join(getattr(p, "name", str(p)) for p in preds)
    return Assert(
        condition,
        [f"{message}: more than {count} conditions ({names}) evaluated as True:", stacked],
        summarize=len(preds),
    )


def _stack_predicates(preds):
    return raw.Pack(values=list(preds), name="preds_c") if len(preds) else convert_to_tensor([], name="preds_c")


def _last_as_default(preds, actions):
    """Without a default the last action takes its place, after assertions that it is the right one."""
    others, last, action = preds[:-1], preds[-1], actions[-1]

    def default():
        stacked = _stack_predicates(preds)
        message = f"Implementation error: selected default action #{len(others)} was called, but some of other predicates are True: "
        alone = _assert_at_most(others, 0, message)
        chosen = Assert(last, ["Input error: None of conditions evaluated as True:", stacked])
        with control_dependencies([alone, chosen]):
            return action()

    return default, others, actions[:-1]


def _check_pairs(pred_fn_pairs, allow_python_preds):
    if not isinstance(pred_fn_pairs, (list, tuple, dict)):
        raise TypeError(f"pred_fn_pairs must be a list or a dict, not {type(pred_fn_pairs)}")
    if isinstance(pred_fn_pairs, collections.OrderedDict):
        pairs = list(pred_fn_pairs.items())
    elif isinstance(pred_fn_pairs, dict):
        # Dicts have no order in the time of these programs; names give one.
        pairs = sorted(pred_fn_pairs.items(), key=lambda pair: getattr(pair[0], "name", str(pair[0])))
    else:
        pairs = list(pred_fn_pairs)
    check_pairs("pred_fn_pairs", pairs)
    for pred, _ in pairs:
        if isinstance(pred, Tensor):
            if pred.dtype != dtypes.bool:
                raise TypeError(f"pred must be Tensor of type bool: {pred.name}")
        elif not allow_python_preds:
            raise TypeError(f"pred must be a Tensor, got: {pred}")
        elif not isinstance(pred, bool):
            raise TypeError(f"pred must be a Python bool, got: {pred}")
    if not pairs:
        raise ValueError("pred_fn_pairs must have at least one pair of a predicate and a function")
    return tuple(zip(*pairs))


def summarized(tensor, summarize=None):
    """The first entries of an eager tensor as text: 3, or as many as asked for, all with -1."""
    entries = tensor.numpy().ravel().tolist() if tensor.shape.rank else [tensor.numpy()]
    most = len(entries) if summarize == -1 else summarize or 3
    return ", ".join([*map(str, entries[:most]), *(["..."] if len(entries) > most else [])])


def Assert(condition, data, summarize=None, name=None):
    """An op that raises InvalidArgumentError and shows `data` where `condition` is false when run.

    Args:
        condition: A bool, or a tensor of them that must all be true.
        data: The tensors to show when it is false.
        summarize: How many entries of each tensor to show.
        name: The name of the operation in the graph.

    Returns:
        The operation, for `tf.control_dependencies`. When executing eagerly, None.

    Raises:
        InvalidArgumentError: When executing eagerly and the condition is false; in a graph, when the operation runs.

    Example:
        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.control_dependencies([tf.Assert(tf.reduce_all(x > 0.0), [x])]):
        ...     y = tf.log(x)
        >>> sess.run(y)
        array([0.       , 0.6931472], dtype=float32)
    """
    if executing_eagerly():
        if not condition:
            shown = "\n".join(summarized(convert_to_tensor(d), summarize) for d in data)
            raise InvalidArgumentError(None, None, f"Expected '{condition!s}' to be true. Summarized data: {shown}")
        return None
    with name_scope(name, "Assert", [condition, data]):
        tensors = convert_n_to_tensor(data)
        if all(t.dtype in (dtypes.string, dtypes.int32) for t in tensors):
            return raw.Assert(condition=condition, data=data, summarize=summarize, name="Assert")
        # Data of other types is looked at only where the assertion fails.
        condition = convert_to_tensor(condition, name="Condition")
        guarded = cond(
            condition,
            no_op,
            lambda: raw.Assert(condition=condition, data=data, summarize=summarize, name="Assert"),
            name="AssertGuard",
        )
        return guarded.op if isinstance(guarded, Tensor) else guarded
