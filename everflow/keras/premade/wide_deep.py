"""A linear model beside a deep one, each with an optimizer of its own."""

from __future__ import annotations

from everflow.framework import nest
from everflow.framework.scopes import executing_eagerly
from everflow.keras import activations, optimizers
from everflow.keras.engine.compiling import COMPILE_PARAMETERS
from everflow.keras.engine.known_classes import deserialize
from everflow.keras.engine.training import Model
from everflow.keras.generic import named_config
from everflow.keras.optimizers.optimizer import Optimizer
from everflow.keras.premade.linear import LinearModel
from everflow.ops.control_flow.grouping import group
from everflow.platform.signatures import takes


class _PartedOptimizer(Optimizer):
    """Two optimizers, the first for the weights of one model, the second for all others."""

    def __init__(self, first, second, model):
        super().__init__("PartedOptimizer")
        self._parts = first, second
        self._model = model

    def get_updates(self, loss, params):
        ours = {id(weight) for weight in self._model.trainable_weights}
        first, second = self._parts
        updates = first.get_updates(loss, [p for p in params if id(p) in ours])
        return updates + second.get_updates(loss, [p for p in params if id(p) not in ours])

    def apply_gradients(self, grads_and_vars, name=None):
        """An op that updates each variable by the optimizer of its model."""
        ours = {id(weight) for weight in self._model.trainable_weights}
        pairs = list(grads_and_vars)
        parts = [[p for p in pairs if id(p[1]) in ours], [p for p in pairs if id(p[1]) not in ours]]
        made = [optimizer.apply_gradients(part, name) for optimizer, part in zip(self._parts, parts) if part]
        return made[-1] if executing_eagerly() else group(*made)

    weights = property(lambda self: [weight for part in self._parts for weight in part.weights])

    def get_config(self):
        raise NotImplementedError("A model with two optimizers is saved without them")


class WideDeepModel(Model):
    """The sum of a linear model and a deep one, trained together; inputs are a list of those of the two.

    Args:
        linear_model: The linear model.
        dnn_model: The deep model.
        activation: The function applied to the sum.
        **kwargs: What every layer takes.

    Example:
        >>> deep = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        >>> model = tf.keras.experimental.WideDeepModel(tf.keras.experimental.LinearModel(), deep)
        >>> model([tf.ones([2, 3]), tf.ones([2, 4])]).shape.as_list()
        [2, 1]
    """

    def __init__(self, linear_model, dnn_model, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.linear_model = linear_model
        self.dnn_model = dnn_model
        self.activation = activations.get(activation)

    @takes(COMPILE_PARAMETERS)
    def compile(self, optimizer, **options):
        """As for other models; `optimizer` may be a pair, the first for the linear model."""
        if isinstance(optimizer, (list, tuple)):
            optimizer = _PartedOptimizer(*map(optimizers.get, optimizer), self.linear_model)
        super().compile(optimizer, **options)

    def call(self, inputs):
        if not isinstance(inputs, (tuple, list)) or len(inputs) != 2:
            linear_inputs = dnn_inputs = inputs
        else:
            linear_inputs, dnn_inputs = inputs
        output = nest.map_structure(lambda x, y: x + y, self.linear_model(linear_inputs), self.dnn_model(dnn_inputs))
        return nest.map_structure(self.activation, output) if self.activation else output

    def get_config(self):
        models = {name: named_config(getattr(self, name)) for name in ("linear_model", "dnn_model")}
        return {**models, "activation": activations.serialize(self.activation), "name": self.name}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        linear = config.pop("linear_model")
        known = {"LinearModel": LinearModel, **(custom_objects or {})}
        made = {
            "linear_model": known[linear["class_name"]].from_config(linear["config"])
            if linear["class_name"] in known
            else deserialize(linear)
        }
        return cls(**made, dnn_model=deserialize(config.pop("dnn_model"), custom_objects), **config)
