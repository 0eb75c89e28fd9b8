"""GGT (Agarwal and others, 2018): all gradients as one vector, preconditioned by the last few of them."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import (
    colocate_with,
    control_dependencies,
    executing_eagerly,
    get_collection_ref,
    get_default_graph,
    init_scope,
    name_scope,
)
from everflow.ops import array, math
from everflow.ops.control_flow import cond, group
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.variables import assign as state
from everflow.ops.variables.variable import Variable
from everflow.platform.signatures import inserted, options_of, takes
from everflow.train.optimizer import Optimizer

# As every optimizer's, but for the placement of gradients, and with more.
_GRADIENTS = {
    **options_of(Optimizer.compute_gradients, ["colocate_gradients_with_ops"]),
    "stop_gradients": None,
    "scale_loss_by_num_replicas": False,
}


class GGTOptimizer(Optimizer):
    """Divides the average of gradients by the root of the last `window` averages' second moments.

    All variables are one vector: `grad_buffer` holds `window` of them. Numbers may be tensors or functions.

    >>> train = tf.contrib.opt.GGTOptimizer(0.001, window=20).minimize(loss)
    """

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        use_locking=False,
        name="GGT",
        window=10,
        eps=1e-4,
        svd_eps=1e-6,
        sigma_eps=1e-2,
    ):
        super().__init__(use_locking, name)
        self._numbers = {"lr": learning_rate, "beta1": beta1, "window": window}
        self._numbers.update(eps=eps, svd_eps=svd_eps, sigma_eps=sigma_eps)

    @takes(inserted(_GRADIENTS, aggregation_method={"name": None}))
    def minimize(self, loss, global_step=None, **given):
        """An operation that changes variables so that `loss` gets smaller, and counts `global_step` up."""
        name = given.pop("name")
        return self.apply_gradients(self.compute_gradients(loss, **given), global_step=global_step, name=name)

    @takes(_GRADIENTS)
    def compute_gradients(self, loss, *, scale_loss_by_num_replicas=False, **given):
        """A list of (gradient, variable), where nothing flows through `stop_gradients`; a gradient may be None."""
        given["colocate_gradients_with_ops"] = False
        return self._found_gradients(loss, **given, scaled=scale_loss_by_num_replicas)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that updates all variables, and counts `global_step` up."""
        grads_and_vars = list(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("No variables provided.")
        present = [(self._converted(g), v) for g, v in grads_and_vars if g is not None]
        if not present:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in grads_and_vars]}.")
        if any(isinstance(g, IndexedSlices) for g, _ in present):
            raise NotImplementedError("GGTOptimizer takes dense gradients only.")
        with name_scope(name, self._name) as scope:
            numbers = self._number_tensors()
        parts = _parts([v for _, v in present])
        with init_scope():
            first, size = min((v for _, v in present), key=lambda v: v.name), max(end for _, end in parts)
            self._create_vectors(first, size, numbers["window"])
        with name_scope(scope):
            flattened = group(*(self._put(grad, v, *part) for (grad, v), part in zip(present, parts)))
            with control_dependencies([flattened]):
                finished = self._move([(v, *part) for (_, v), part in zip(present, parts)], numbers)
            if executing_eagerly():
                if global_step is not None:
                    global_step.assign_add(1)
                return None
            with control_dependencies([finished]):
                if global_step is None:
                    train = group(finished, name=scope)
                else:
                    train = state.assign_add(global_step, 1, name=scope).op
        get_collection_ref(GraphKeys.TRAIN_OP).append(train)
        return train

    def _number_tensors(self):
        """The numbers as tensors; those that come from functions follow the others."""
        by_kind = sorted(self._numbers.items(), key=lambda item: (callable(item[1]), item[0]))
        given = ((name, number() if callable(number) else number) for name, number in by_kind)
        return {name: convert_to_tensor(number, name=name) for name, number in given}

    def _create_vectors(self, first, size, window):
        dtype = first.dtype.base_dtype
        self._vector("global_step", first, lambda: math.cast(0.0, dtype))
        self._vector("grad_buffer", first, lambda: array.zeros([window, size], dtype))
        self._vector("moment1", first, lambda: array.zeros([size], dtype))
        self._vector("flat_grad", first, lambda: array.zeros([size], dtype))

    def _vector(self, name, beside, initial_value):
        key = (name, get_default_graph())
        if key not in self._non_slot_dict:
            value = initial_value()
            with colocate_with(beside.op):
                self._non_slot_dict[key] = Variable(value, name=name, trainable=False)

    def _vectors(self, *names):
        return (self._get_non_slot_variable(name, get_default_graph()) for name in names)

    def _put(self, grad, variable, start, end):
        """Write a gradient to its part of the one vector."""
        (flat,) = self._vectors("flat_grad")
        with name_scope("update_" + variable.op.name):
            values = array.reshape(grad, [-1])
            return state.scatter_update(flat, math.range(start, end), values)

    def _move(self, variables_and_parts, numbers):
        step, buffer, moment, flat = self._vectors("global_step", "grad_buffer", "moment1", "flat_grad")
        dtype = moment.dtype.base_dtype
        step = step.assign_add(1.0)
        beta1 = math.cast(numbers["beta1"], dtype)
        moment = moment.assign(beta1 * moment + (1.0 - beta1) * flat)
        window = numbers["window"]
        buffer = state.scatter_update(buffer, math.floormod(math.cast(step - 1.0, dtypes.int32), window), moment)
        names = ("eps", "svd_eps", "sigma_eps", "lr")
        eps, svd_eps, sigma_eps, rate = (math.cast(numbers[name], dtype) for name in names)
        filled = math.sqrt(math.minimum(step, math.cast(window, dtype)))
        gradient = array.expand_dims(moment, -1)
        direction = _preconditioned(gradient, array.transpose(buffer / filled), window, eps, svd_eps, sigma_eps)
        moved = [
            v.assign_sub(rate * array.reshape(direction[start:end], v.shape)) for v, start, end in variables_and_parts
        ]
        return group(*moved)


def _parts(variables):
    """(first element, end) of each variable in the one vector, where they lie by name."""
    parts, end = {}, 0
    for i, variable in sorted(enumerate(variables), key=lambda item: item[1].name):
        start, end = end, end + variable.shape.num_elements()
        parts[i] = start, end
    return [parts[i] for i in range(len(variables))]


def _preconditioned(gradient, columns, window, eps, svd_eps, sigma_eps):
    """The gradient times the inverse root of `columns @ columns.T`, found from the small matrix of products of columns."""
    dtype = gradient.dtype

    def within(diagonal):  # what the columns span, scaled along its axes
        along = math.matmul(columns, gradient, transpose_a=True)
        along = math.matmul(diagonal, math.matmul(axes, along, transpose_a=True))
        return math.matmul(columns, math.matmul(axes, along))

    products = math.matmul(columns, columns, transpose_a=True) + math.cast(linalg.eye(window), dtype) * svd_eps
    squares, axes, _ = linalg.svd(products)
    sigma = math.sqrt(squares)
    smallest = math.reduce_min(sigma)
    scale = math.cast(1.0, dtype) / math.pow(sigma + sigma_eps, 3)
    nothing = array.expand_dims(array.zeros([gradient.shape[0]], dtype), -1)
    inside = within(array.diag(scale))
    projected = within(array.diag(math.cast(1.0, dtype) / squares))
    outside = (gradient - projected) / smallest
    return cond(smallest > eps, lambda: math.add(inside, outside), lambda: math.add(nothing, inside))
