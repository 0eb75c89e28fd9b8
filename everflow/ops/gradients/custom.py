"""`tf.custom_gradient`: functions that bring their own derivative, as an `IdentityN` whose gradient is overridden."""

from __future__ import annotations

import inspect

from everflow.framework import nest, tapes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.registry import RegisterGradient
from everflow.framework.scopes import control_dependencies, executing_eagerly, get_default_graph
from everflow.ops import array
from everflow.ops.gradients.reverse import gradients
from everflow.ops.gradients.tape import GradientTape
from everflow.ops.variables.scope import get_variable_scope
from everflow.platform import logging
from everflow.platform.signatures import standing_for

_used_numbers: set[int] = set()


def custom_gradient(f):
    """Decorator for `f(*args)` that returns `(result, grad_fn)`; `grad_fn(*result_grads)` gives the gradients of the
    args.

    A function that uses variables takes `variables=` in `grad_fn`, and gives their gradients as a second, list-valued
    result.

    Args:
        f: The function.

    Returns:
        A function that returns only the result.

    Raises:
        TypeError: If `grad_fn` can't take `variables` that are used.
        ValueError: If keyword arguments are given while drawing a graph.

    Example:
        >>> @tf.custom_gradient
        ... def clipped(x):
        ...     return x, lambda grad: tf.clip_by_value(grad, -1.0, 1.0)
        >>> x = tf.constant(2.0)
        >>> sess.run(tf.gradients(100.0 * clipped(x), x))
        [np.float32(1.0)]
    """

    @standing_for(f)
    def decorated(*args, **kwargs):
        if executing_eagerly():
            return _apply_eagerly(f, args, kwargs)
        if kwargs:
            raise ValueError(
                f"In a graph, a function with a custom gradient takes no keyword arguments; got {sorted(kwargs)}"
            )
        return _apply(f, args)

    return decorated


def _apply(f, args):
    graph = get_default_graph()
    args = [convert_to_tensor(x) for x in args]
    name = _unused_name(graph)
    known = _variables(graph)
    result, grad_fn = f(*args)
    plain = [v.name for op, v in _variables(graph).items() if op not in known and not hasattr(v, "handle")]
    if plain:
        raise TypeError(f"A @custom_gradient makes a ResourceVariable only: make {plain} with use_resource=True")
    flat = nest.flatten(result)
    count = len(flat)
    # TensorFlow looks for variables behind copies of the results; the nodes stay in the graph.
    copies = [array.identity(x) for x in flat]
    variables = _variables_behind(graph, copies, args, known)
    takes_variables = _takes_variables(grad_fn)
    if takes_variables and not variables:
        if not get_variable_scope().use_resource:
            raise TypeError(
                "grad_fn takes `variables`; @custom_gradient sees those made under a variable_scope with use_resource=True"
            )
        logging.warn(
            "The grad_fn of a @custom_gradient takes `variables`, but the function itself used no ResourceVariable."
        )
    if variables:
        if not takes_variables:
            raise _no_place_for(variables)

    @RegisterGradient(name)
    def gradient(op, *result_grads):
        if variables:
            input_grads, variable_grads = grad_fn(*result_grads[:count], variables=variables)
            if len(variable_grads) != len(variables):
                raise ValueError(
                    f"grad_fn must give a gradient for each of {len(variables)} variables, but gave {len(variable_grads)}"
                )
        else:
            input_grads, variable_grads = grad_fn(*result_grads[:count]), []
        # The results are inputs of the IdentityN as well: what they need comes by way of the args.
        return [None] * count + nest.flatten(input_grads) + list(variable_grads)

    with graph.gradient_override_map({"IdentityN": name}):
        everything = array.identity_n(flat + args + variables)
    for variable in variables:
        convert_to_tensor(variable)
    return nest.pack_sequence_as(structure=result, flat_sequence=everything[:count])


def _no_place_for(variables):
    """What is said where a function uses variables that its `grad_fn` doesn't ask for."""
    return TypeError(
        f"The function uses variables, {[v.name for v in variables]}: its grad_fn must take a keyword argument 'variables'"
    )


def _apply_eagerly(f, args, kwargs):
    """The result, with `grad_fn` on the tapes in place of the operations inside."""
    args = nest.map_structure(convert_to_tensor, list(args))
    inputs = nest.flatten(args)
    with tapes.stop_recording(), GradientTape() as watcher:
        result, grad_fn = f(*args, **kwargs)
    given = {id(x) for x in inputs}
    variables = [v for v in watcher.watched_variables() if id(v.handle) not in given]
    takes_variables = _takes_variables(grad_fn)
    if variables and not takes_variables:
        raise _no_place_for(variables)
    for variable in variables:
        tapes.variable_accessed(variable)
    # A result that is an argument must be another tensor, or its gradient would come to the argument directly.
    flat = [array.identity(x) if id(x) in given else x for x in map(convert_to_tensor, nest.flatten(result))]

    def gradient(*result_grads):
        if not variables:
            return nest.flatten(grad_fn(*result_grads))
        input_grads, variable_grads = grad_fn(*result_grads, variables=variables)
        return nest.flatten(input_grads) + list(variable_grads)

    if tapes.watch_any([*inputs, *(v.handle for v in variables)]):
        tapes.record(tapes.CallRecord([*inputs, *(v.handle for v in variables)], flat, gradient))
    return nest.pack_sequence_as(result, flat)


def _unused_name(graph):
    """TensorFlow numbers these by the tensors that the process has made; so does this for its first graph."""
    number = sum(len(op.outputs) for op in graph.get_operations()) + len(_used_numbers) + 1
    while number in _used_numbers:
        number += 1
    _used_numbers.add(number)
    return f"CustomGradient-{number}"


def _variables(graph):
    found = {}
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES):
        for variable in graph.get_collection(key):
            found[variable.op] = variable
    # The body of a function knows variables that are made elsewhere by what stands for their handles.
    for variable in getattr(graph, "accessed", {}).values():
        found[graph.capture(variable.handle).op] = variable
    return found


def _variables_behind(graph, results, args, known):
    """The variables that the results depend on other than by way of the args, in the order in which they were made."""
    stop = {t.op for t in args}
    stack, seen = [t.op for t in results], set()
    while stack:
        op = stack.pop()
        if op not in seen and op not in stop:
            seen.add(op)
            stack.extend(t.op for t in op.inputs)
    found = {**known, **_variables(graph)}
    return [found[op] for op in sorted(found, key=lambda op: op._id) if op in seen]


def _takes_variables(function):
    parameters = inspect.signature(function).parameters.values()
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)


def grad_pass_through(f):
    """`f` with the gradient of the identity, for functions that have none: `tf.grad_pass_through(tf.round)(x)`.

    Args:
        f: The function.

    Returns:
        A function with the values of `f`.

    Example:
        >>> x = tf.constant(1.6)
        >>> with tf.variable_scope("s", use_resource=True):
        ...     y = tf.grad_pass_through(tf.round)(x)
        >>> sess.run([y, tf.gradients(y, x)[0]])
        [np.float32(2.0), np.float32(1.0)]
    """

    @custom_gradient
    def passing(*args, **kwargs):
        def grad(*result_grads, variables=None, **unused):
            # Variables inside get no gradient.
            return result_grads if variables is None else (result_grads, [None] * len(variables))

        return f(*args, **kwargs), grad

    @standing_for(f)
    def decorated(*args, **kwargs):
        return passing(*args, **kwargs)

    return decorated


def recompute_grad(f):
    """`f`, whose gradient computes it again instead of keeping what is inside: less memory, more time.

    Args:
        f: The function.

    Returns:
        A function with the values of `f`.

    Example:
        >>> x = tf.constant(2.0)
        >>> with tf.variable_scope("s", use_resource=True):
        ...     y = tf.recompute_grad(lambda t: t * t)(x)
        >>> sess.run(tf.gradients(y, x))
        [np.float32(4.0)]
    """

    @custom_gradient
    def recomputing(*args, **kwargs):
        result = f(*args, **kwargs)

        def grad(*result_grads, variables=None):
            found = _recomputed_gradients(f, args, kwargs, list(variables or []), list(result_grads))
            of_args = found[: len(args)]
            return of_args if variables is None else (of_args, found[len(args) :])

        return result, grad

    @standing_for(f)
    def decorated(*args, **kwargs):
        return recomputing(*args, **kwargs)

    return decorated


def _recomputed_gradients(f, args, kwargs, variables, result_grads):
    sources = list(args) + variables
    if not executing_eagerly():
        with control_dependencies(result_grads):
            again = f(*args, **kwargs)
        return gradients(nest.flatten(again), sources, grad_ys=result_grads)
    with GradientTape() as tape:
        tape.watch(sources)
        again = f(*args, **kwargs)
    return tape.gradient(nest.flatten(again), sources, result_grads)
