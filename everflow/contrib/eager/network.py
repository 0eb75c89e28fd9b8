"""`tfe.Network`: layers made of layers, before `tf.keras.Model`. Names of variables are paths: net/dense/kernel."""

from __future__ import annotations

import os

from everflow.contrib.eager.saver import restore_variables_on_create
from everflow.framework.scopes import executing_eagerly, get_default_session
from everflow.keras.backend.state import unique_object_name
from everflow.keras.engine.base_layer import snake_case
from everflow.keras.engine.tracked_attributes import untracked
from everflow.layers.base import Layer
from everflow.ops.variables.scope import VariableScope, variable_scope
from everflow.platform import file_io
from everflow.train.saver import Saver


class Network(Layer):
    """A group of layers: `track_layer` in the constructor, calls of the layers in `call`.

    >>> class Net(tfe.Network):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.top = self.track_layer(tf.layers.Dense(10))
    ...     def call(self, x):
    ...         return self.top(x)
    """

    @untracked
    def __init__(self, name=None):
        if isinstance(name, VariableScope):
            raise ValueError("VariableScopes are not valid Network names.")
        if name is not None and "/" in name:
            raise ValueError(f"A Network's name can't have a '/' in it, as its variables' names do: {name!r}")
        super().__init__(name=name or snake_case(type(self).__name__))
        self._given_name = name
        self._named = False
        self._tracked_layers: dict = {}
        # Of `restore_network_checkpoint`: where variables that don't exist yet take their values from.
        self._restores: list = []

    @property
    def name(self):
        if not self._named:
            raise ValueError("The Network has no final name yet: call it first, or track it in another Network")
        return self._name

    def add_variable(
        self, name, shape, dtype=None, initializer=None, regularizer=None, trainable=True, constraint=None
    ):
        """A Network has the variables of its layers only: RuntimeError."""
        raise RuntimeError(f"A Network has no variables of its own: put {name!r} into a layer, and track that")

    def _take_name(self, name):
        self.__dict__["_name"], self.__dict__["_named"] = name, True

    def track_layer(self, layer):
        """Make a layer a part of the network; returns it."""
        if not isinstance(layer, Layer):
            raise TypeError(f"track_layer() takes a tf.layers.Layer or a Network, not a {type(layer)}")
        base = snake_case(type(layer).__name__)
        given = layer._given_name if isinstance(layer, Network) else layer._base_name
        name = given if given and given != base else self._free_name(base)
        if name in self._tracked_layers:
            raise ValueError(f"The Network has a layer named {name!r} already: give this one another name")
        if isinstance(layer, Network):
            layer._take_name(name)
        else:
            layer.__dict__["_name"] = name
        self._tracked_layers[name] = layer
        return layer

    def _free_name(self, base):
        count, name = 0, base
        while name in self._tracked_layers:
            count += 1
            name = f"{base}_{count}"
        return name

    def __call__(self, inputs, *args, **kwargs):
        """Call the layers, in the network's variable scope."""
        if not self._named:
            self._take_name(self._given_name or unique_object_name(snake_case(type(self).__name__), zero_based=True))
        with variable_scope(self._scope if self._scope is not None else self._name) as scope:
            self.__dict__["_scope"] = scope
            prefix = scope.name + "/"
            with _restoring(self._restores[-1:], prefix):
                outputs = self.call(inputs, *args, **kwargs)
        self.__dict__["built"] = True
        return outputs

    @property
    def layers(self):
        """The layers, in the order in which they were tracked."""
        return list(self._tracked_layers.values())

    def get_layer(self, name=None, index=None):
        """A layer by its name or position."""
        if index is not None:
            if index >= len(self._tracked_layers):
                raise ValueError(f"Was asked for layer {index}, but there are {len(self._tracked_layers)} layers.")
            return self.layers[index]
        if not name:
            raise ValueError("Which layer? get_layer() wants its name or its index")
        if name not in self._tracked_layers:
            raise ValueError(f"No such layer: {name}")
        return self._tracked_layers[name]

    def _nested_layers(self):
        return self.layers

    trainable_weights = property(
        lambda self: [w for layer in self.layers for w in layer.trainable_weights] if self.trainable else []
    )
    non_trainable_weights = property(
        lambda self: [w for w in self.weights if all(w is not t for t in self.trainable_weights)]
    )
    weights = property(lambda self: [w for layer in self.layers for w in layer.weights])
    losses = property(lambda self: [loss for layer in self.layers for loss in layer.losses])
    updates = property(lambda self: [update for layer in self.layers for update in layer.updates])


class Sequential(Network):
    """Layers and functions, one after the other.

    >>> net = tfe.Sequential([tf.layers.Dense(10), tf.nn.relu])
    """

    def __init__(self, layers_funcs=None, name=None):
        super().__init__(name=name)
        self._steps: list = []
        for step in layers_funcs or ():
            self.add(step)

    def add(self, layer_func):
        """Add a layer or a function at the end."""
        self._steps.append(self.track_layer(layer_func) if isinstance(layer_func, Layer) else layer_func)

    def call(self, inputs, training=None):
        """Pass inputs through all steps; layers that know of training are told of it."""
        for step in self._steps:
            if (
                training is not None
                and isinstance(step, Layer)
                and (isinstance(step, Sequential) or step._call_takes("training"))
            ):
                inputs = step(inputs, training=training)
            else:
                inputs = step(inputs)
        return inputs


# --- checkpoints by names inside the network ------------------------------------------------------


def _restoring(restores, prefix):
    if not restores:
        return restore_variables_on_create(None)
    path, map_func = restores[0]

    def inside(name):
        name = name.removeprefix(prefix)
        return name if map_func is None else map_func(name)

    return restore_variables_on_create(path, inside)


def _by_name(network, map_func):
    prefix = network._scope.name + "/"
    names = {v._shared_name.removeprefix(prefix): v for v in network.variables}
    return names if map_func is None else {map_func(name): v for name, v in names.items()}


def save_network_checkpoint(network, save_path, global_step=None, map_func=None):
    """Save a network's variables by their names inside it, in a folder to a file of its name; returns the path."""
    if not network.built:
        raise RuntimeError("The Network has no variables to save yet: call it on inputs first")
    if file_io.is_directory(save_path):
        save_path = os.path.join(save_path, network.name.replace("/", "_"))
    saver = Saver(_by_name(network, map_func))
    session = None if executing_eagerly() else get_default_session()
    return saver.save(session, save_path, global_step=global_step, write_meta_graph=False)


def restore_network_checkpoint(network, save_path, map_func=None):
    """Restore what `save_network_checkpoint` saved: now, or when a network that wasn't called yet makes its variables."""
    network._restores.append((save_path, map_func))
    if network.built:
        Saver(_by_name(network, map_func)).restore(None if executing_eagerly() else get_default_session(), save_path)
