"""Layers that keep no activations for the backward pass: reversible blocks rebuild them, `recompute_grad` computes them again."""

from __future__ import annotations

import functools

from everflow.framework import nest
from everflow.framework.scopes import control_dependencies
from everflow.layers.base import Layer
from everflow.ops import array
from everflow.ops.custom_gradient import custom_gradient
from everflow.ops.functions import Defun
from everflow.ops.gradients import gradients
from everflow.ops.grouping import tuple as in_one_step
from everflow.ops.variable_scope import get_variable_scope, variable_scope


class RevBlock(Layer):
    """Layers y1 = x1 + f(x2), y2 = x2 + g(y1), whose inputs can be computed from their outputs; Gomez et al. (2017)."""

    def __init__(self, f, g, num_layers=1, f_side_input=None, g_side_input=None, use_efficient_backprop=True, name="revblock", **kwargs):
        super().__init__(name=name, **kwargs)
        self._functions = [_per_layer(function, num_layers) for function in (f, g)]
        self._side_inputs = [f_side_input or [], g_side_input or []]
        self.num_layers = num_layers
        self._use_efficient_backprop = use_efficient_backprop

    def _call_f_or_g(self, which, layer, x):
        """f (0) or g (1) of a layer, in its own scope; with variables that are there already when it is called again."""
        with variable_scope(f"revlayer_{layer}/{'fg'[which]}", use_resource=True, reuse=True if (which, layer) in self._seen else None):
            self._seen.add((which, layer))
            function = self._functions[which][layer]
            return function(x, *self._side_inputs[which]) if self._side_inputs[which] else function(x)

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
        sides = [side for sides in self._side_inputs for side in nest.flatten(sides)]

        @custom_gradient
        def run(x1, x2, *_):
            y1, y2 = x1, x2
            for layer in range(self.num_layers):
                y1, y2 = self._one_layer(layer, y1, y2)

            def grad_fn(grad_y1, grad_y2, variables=None):
                return self._gradients(y1, y2, grad_y1, grad_y2, sides, list(variables or []))

            return (y1, y2), grad_fn

        return run(x1, x2, *sides)

    def _gradients(self, y1, y2, grad_y1, grad_y2, sides, variables):
        totals = {id(target): None for target in [*sides, *variables]}
        with variable_scope(self._scope, reuse=True):
            for layer in reversed(range(self.num_layers)):
                # The inputs of this layer, and f and g on them once more.
                y1_here, y2_here = array.stop_gradient(y1), y2
                g_of = self._call_f_or_g(1, layer, y1_here)
                x2 = array.stop_gradient(y2_here - g_of)
                f_of = self._call_f_or_g(0, layer, x2)
                x1 = array.stop_gradient(y1 - f_of)
                through_g, *g_rest = gradients(g_of, [y1_here, *sides, *variables], grad_y2)
                grad_y1 = grad_y1 if through_g is None else grad_y1 + through_g
                through_f, *f_rest = gradients(f_of, [x2, *sides, *variables], grad_y1)
                grad_y2 = grad_y2 if through_f is None else grad_y2 + through_f
                for target, *parts in zip([*sides, *variables], g_rest, f_rest):
                    for part in parts:
                        if part is not None:
                            before = totals[id(target)]
                            totals[id(target)] = part if before is None else before + part
                y1, y2 = x1, x2
        of_sides = [array.zeros_like(side) if totals[id(side)] is None else totals[id(side)] for side in sides]
        return [grad_y1, grad_y2, *of_sides], [totals[id(variable)] for variable in variables]


def _per_layer(function, count):
    functions = function if isinstance(function, list) else [function] * count
    if len(functions) != count:
        raise AssertionError
    return functions


def rev_block(x1, x2, f, g, num_layers=1, f_side_input=None, g_side_input=None, is_training=True):
    """The outputs of reversible layers; without training their activations may be kept as usual."""
    block = RevBlock(
        f=f,
        g=g,
        num_layers=num_layers,
        f_side_input=f_side_input,
        g_side_input=g_side_input,
        use_efficient_backprop=is_training,
        _reuse=get_variable_scope().reuse,
    )
    return block.forward(x1, x2)


def recompute_grad(fn, tupleize_grads=False):
    """Decorator: a function whose inner tensors are not kept for its gradient but computed again.

    >>> @tf.contrib.layers.recompute_grad
    ... def block(x): ...
    """

    @functools.wraps(fn)
    def wrapped(*args):
        scope = get_variable_scope()

        @custom_gradient
        def run(*inputs):
            results = fn(*inputs)

            def grad_fn(*grads, variables=None):
                copies = [array.identity(x) for x in inputs]
                needed = [grad for grad in grads if grad is not None]
                with control_dependencies(needed), variable_scope(scope, reuse=True, auxiliary_name_scope=False):
                    again = nest.flatten(fn(*copies))
                found = gradients(again, [*copies, *(variables or [])], list(grads))
                if tupleize_grads:
                    found = in_one_step(found)
                of_inputs = found[: len(copies)]
                return of_inputs if variables is None else (of_inputs, found[len(copies) :])

            return results, grad_fn

        # Only resource variables can be read again as they were.
        with variable_scope(scope, use_resource=True, auxiliary_name_scope=False):
            return run(*args)

    return wrapped


def _scale_gradient_grad(op, grad):
    return [grad * op.inputs[1], None]


@Defun(python_grad_func=_scale_gradient_grad, shape_func=lambda op: [op.inputs[0].get_shape()])
def scale_gradient(x, scale):
    """`x`, whose gradient is multiplied by `scale`."""
    return x
