"""Layers that keep no activations for the backward pass: reversible blocks, and `recompute_grad`."""

from __future__ import annotations

import functools
import re

import numpy as np

from everflow.framework import dtypes, nest
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.layers.base import Layer
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.grouping import tuple as in_one_step
from everflow.ops.functions.defun import Defun
from everflow.ops.gradients.custom import custom_gradient
from everflow.ops.gradients.reverse import gradients
from everflow.ops.variables.scope import get_variable_scope, variable_scope
from everflow.ops.variables.variable import global_variables


class RevBlock(Layer):
    """Layers y1 = x1 + f(x2), y2 = x2 + g(y1), whose inputs can be computed from their outputs; Gomez et al. (2017)."""

    def __init__(
        self,
        f,
        g,
        num_layers=1,
        f_side_input=None,
        g_side_input=None,
        use_efficient_backprop=True,
        name="revblock",
        **kwargs,
    ):
        super().__init__(name=name, **kwargs)
        self._functions = [_per_layer(function, num_layers) for function in (f, g)]
        self._side_inputs = [f_side_input or [], g_side_input or []]
        self.num_layers = num_layers
        self._use_efficient_backprop = use_efficient_backprop

    def _call_f_or_g(self, which, layer, x, sides=None):
        """f (0) or g (1) of a layer, in its own scope; with variables that are there already when it is called again."""
        sides = self._side_inputs[which] if sides is None else sides
        with variable_scope(
            f"revlayer_{layer}/{'fg'[which]}", use_resource=True, reuse=True if (which, layer) in self._seen else None
        ):
            self._seen.add((which, layer))
            function = self._functions[which][layer]
            return function(x, sides) if sides else function(x)

    def call(self, inputs, forward=True):
        x1, x2 = inputs
        if not forward:
            for layer in reversed(range(self.num_layers)):
                x1, x2 = self._inputs_of(layer, x1, x2)
            return x1, x2
        if self._use_efficient_backprop:
            return self._efficient(x1, x2)
        for layer in range(self.num_layers):
            x1, x2 = self._one_layer(layer, x1, x2)
        return x1, x2

    def forward(self, x1, x2):
        """The outputs of all layers."""
        return self([x1, x2])

    def backward(self, y1, y2):
        """The inputs that gave these outputs."""
        return self([y1, y2], forward=False)

    def build(self, _):
        self._seen = set()
        self.built = True

    def _one_layer(self, layer, x1, x2):
        y1 = x1 + self._call_f_or_g(0, layer, x2)
        y2 = x2 + self._call_f_or_g(1, layer, y1)
        return in_one_step([y1, y2]) if self._use_efficient_backprop else (y1, y2)

    def _inputs_of(self, layer, y1, y2):
        x2 = y2 - self._call_f_or_g(1, layer, array.stop_gradient(y1))
        x1 = y1 - self._call_f_or_g(0, layer, array.stop_gradient(x2))
        return x1, x2

    def _efficient(self, x1, x2):
        @custom_gradient
        def run(x1, x2, *_):
            y1, y2 = x1, x2
            for layer in range(self.num_layers):
                y1, y2 = self._one_layer(layer, y1, y2)

            def grad_fn(grad_y1, grad_y2, variables=None):
                return self._gradients([y1, y2, grad_y1, grad_y2], list(variables or []))

            return (y1, y2), grad_fn

        return run(x1, x2, *self._side_inputs[0], *self._side_inputs[1])

    def _gradients(self, values, variables):
        """Gradients of the inputs with the side inputs, and of the variables, from those of the outputs."""
        of_variables = {id(variable): [] for variable in variables}
        owned = _by_owner(variables)
        of_sides = [[[] for _ in sides] for sides in self._side_inputs]
        with variable_scope(self._scope, reuse=True, auxiliary_name_scope=False), name_scope(self.scope_name):
            for layer in reversed(range(self.num_layers)):
                users = [owned(layer, which) for which in "fg"]
                values, found = self._layer_gradients(layer, values, *users)
                for used, sides, parts in zip(users, of_sides, found):
                    for held, part in zip([*(of_variables[id(variable)] for variable in used), *sides], parts):
                        if part is not None:
                            held.append(part)
        sides = [_sum(parts) for held in of_sides for parts in held]
        return [*values[2:], *sides], [_sum(parts) for parts in of_variables.values()]

    def _layer_gradients(self, layer, values, f_variables, g_variables):
        """What went into a layer with its gradients; and for f and for g the gradients of variables and side inputs."""
        y1, y2, grad_y1, grad_y2 = values
        y1_here = array.stop_gradient(y1)
        g_sides = [array.stop_gradient(side) for side in self._side_inputs[1]]
        g_of = self._call_f_or_g(1, layer, y1_here, g_sides)
        x2 = y2 - g_of
        x2_here = array.stop_gradient(x2)
        f_sides = [array.stop_gradient(side) for side in self._side_inputs[0]]
        f_of = self._call_f_or_g(0, layer, x2_here, f_sides)
        x1 = y1 - f_of
        # g sees y1 = x1 + f(x2): x1 has a gradient through it, and x2 through both.
        through_g = gradients(g_of, y1_here, grad_y2)[0]
        grad_x1 = grad_y1 + through_g
        grad_x2 = gradients(f_of, x2_here, grad_y1)[0] + grad_y2
        grad_x2 = grad_x2 + gradients(f_of, x2_here, through_g)[0]
        of_g = gradients(g_of, [*g_variables, *g_sides], grad_y2)
        straight, around = (gradients(f_of, [*f_variables, *f_sides], grad) for grad in (grad_y1, through_g))
        of_f = [_sum([part for part in parts if part is not None]) for parts in zip(straight, around)]
        done = in_one_step([x1, x2, grad_x1, grad_x2, *of_f, *of_g])
        return done[:4], (done[4 : 4 + len(of_f)], done[4 + len(of_f) :])


def _by_owner(variables):
    """A function from a layer and f or g to the variables it uses: of its own scope, and of no layer's."""
    owners = [(variable, re.search(r"revlayer_([0-9]+)/([fg])/", variable.name)) for variable in variables]

    def owned(layer, which):
        return [variable for variable, owner in owners if owner is None or owner.groups() == (str(layer), which)]

    return owned


def _sum(parts):
    """The sum of gradients, None where there are none."""
    return math.add_n(parts) if parts else None


def _per_layer(function, count):
    functions = function if isinstance(function, list) else [function] * count
    if len(functions) != count:
        raise AssertionError
    return functions


def rev_block(x1, x2, f, g, num_layers=1, f_side_input=None, g_side_input=None, is_training=True):
    """The outputs of reversible layers; without training their activations may be kept as usual."""
    block = RevBlock(f, g, num_layers, f_side_input, g_side_input, is_training, _reuse=get_variable_scope().reuse)
    return block.forward(x1, x2)


def recompute_grad(*args, **kwargs):
    """Decorator: a function whose inner tensors are not kept for its gradient but computed again.

    With `use_data_dep=True` values, not only the order of running, tie the second computation to the gradients; with
    `tupleize_grads=True` all gradients are there before any is used.

    >>> @tf.contrib.layers.recompute_grad
    ... def block(x): ...
    """
    if args and callable(args[0]):
        return _recomputed(*args, **kwargs)
    return functools.partial(_recomputed, **kwargs)


def _recomputed(fn, use_data_dep=False, tupleize_grads=False):
    @functools.wraps(fn)
    def wrapped(*args):
        scope = get_variable_scope()

        @custom_gradient
        def run(*inputs):
            with variable_scope(scope, auxiliary_name_scope=False):
                results = fn(*inputs)

            def grad_fn(*grads, variables=None):
                copies = [array.identity(x) for x in inputs]
                needed = [grad for grad in grads if grad is not None]
                with control_dependencies(needed):
                    if use_data_dep:
                        copies = _tied(needed, copies)
                    known = len(global_variables())
                    with variable_scope(scope, reuse=True):
                        again = nest.flatten(fn(*copies))
                    if len(global_variables()) != known:
                        raise ValueError(
                            "Variables are different in the second computation: the function made new ones. "
                            "The variables of what recompute_grad is given have to come from get_variable, in scopes whose names are given."
                        )
                found = gradients(again, [*copies, *(variables or [])], list(grads))
                if tupleize_grads:
                    found = _tied(found, found) if use_data_dep else in_one_step(found)
                of_inputs = found[: len(copies)]
                return of_inputs if variables is None else (of_inputs, found[len(copies) :])

            return results, grad_fn

        # Only resource variables can be read again as they were; `fn` has to ask for them by itself, as in TensorFlow.
        with variable_scope(scope, use_resource=True, auxiliary_name_scope=False):
            return run(*args)

    return wrapped


def _tied(first, then):
    """The tensors `then`, changed by next to nothing that is made of `first`: those have to be computed before."""
    values = [value for value in first if value is not None]
    total = math.add_n([_first_element(value) for value in values])
    bond = array.stop_gradient(np.finfo(total.dtype.as_numpy_dtype).tiny * total)
    return [None if value is None else array.identity(value) + bond for value in then]


def _first_element(x):
    rank = x.shape.ndims
    if rank is None:
        x, rank = array.reshape(x, [-1]), 1
    return array.reshape(array.slice_(x, constant([0] * rank, dtypes.int32), constant([1] * rank, dtypes.int32)), [])


def _scale_gradient_grad(op, grad):
    return [grad * op.inputs[1], None]


@Defun(python_grad_func=_scale_gradient_grad, shape_func=lambda op: [op.inputs[0].get_shape()])
def scale_gradient(x, scale):
    """`x`, whose gradient is multiplied by `scale`."""
    return x
