"""`Network`: a layer made of layers, as a graph between inputs and outputs, or as a class with its own `call`."""

from __future__ import annotations

import json

from everflow.framework import nest
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape
from everflow.keras import __version__
from everflow.keras import backend as K
from everflow.keras.engine import network_config
from everflow.keras.engine.ancillary_layers import AddLoss, AddMetric
from everflow.keras.engine.base_layer import Layer, set_values, unique
from everflow.keras.engine.known_classes import known_class
from everflow.keras.engine.node import Node
from everflow.keras.engine.op_layers import give_history, needs_history
from everflow.keras.engine.summary import print_summary
from everflow.keras.engine.topology import Topology, refuse_legacy
from everflow.keras.engine.tracked_attributes import untracked
from everflow.keras.generic import named_config
from everflow.keras.saving import models
from everflow.keras.saving import weights as saved_weights
from everflow.keras.saving.json_data import default
from everflow.keras.saving.model_config import yaml_text


class Network(Layer):
    """Layers that are one layer together."""

    _object_identifier = "_tf_keras_network"

    def __init__(self, *args, **kwargs):
        if len(args) == 2 or (len(args) == 1 and "outputs" in kwargs) or ("inputs" in kwargs and "outputs" in kwargs):
            self._init_graph_network(*args, **kwargs)
        else:
            self._init_subclassed_network(**kwargs)

    def __setattr__(self, name, value):
        is_begun = "_is_graph_network" in self.__dict__ or "_is_tracking" in self.__dict__
        if not is_begun and isinstance(value, Layer):
            raise RuntimeError(
                f"{type(self).__name__} sets `{name}` to a layer before the model itself is there: "
                "you forgot to call `super().__init__()` first."
            )
        super().__setattr__(name, value)
        if self.__dict__.get("_is_tracking", True):
            # What a model of the program's own counts with is reported, whether or not `add_metric` is given it.
            for metric in nest.flatten(value):
                if isinstance(metric, known_class("Metric")) and all(metric is not known for known in self._metrics):
                    self._metrics.append(metric)

    # --- making ------------------------------------------------------------------------------

    @untracked
    def _init_network(self, name, trainable=True, dtype=None, dynamic=False):
        self._is_graph_network = False
        self._graph_layers = []
        Layer.__init__(self, trainable=trainable, name=name, dtype=dtype, dynamic=dynamic)
        self.inputs, self.outputs = [], []  # and no names for them, until they are known
        self.optimizer = None

    @untracked
    def _init_subclassed_network(self, name=None, **kwargs):
        unknown = set(kwargs) - {"trainable", "dtype", "dynamic", "autocast"}
        if unknown:
            raise TypeError("Keyword argument not understood:", unknown.pop())
        self._init_network(name, kwargs.get("trainable", True), kwargs.get("dtype"), kwargs.get("dynamic", False))
        self.built = False

    @untracked
    def _init_graph_network(self, inputs, outputs, name=None, **kwargs):
        for key in kwargs:
            if key != "trainable":
                raise TypeError(
                    f"A model of inputs and outputs takes the keywords `name` and `trainable`, not `{key}`."
                )
        if isinstance(inputs, list) and len(nest.flatten(inputs)) == 1:
            inputs = inputs[0]
        if isinstance(outputs, list) and len(nest.flatten(outputs)) == 1:
            outputs = outputs[0]
        flat_inputs, flat_outputs = nest.flatten(inputs), nest.flatten(outputs)
        if needs_history(outputs):
            give_history(outputs)
        if len({id(x) for x in flat_inputs}) != len(flat_inputs):
            raise ValueError(
                f"The list of inputs is redundant: the same tensor is in it more than once. Found: {flat_inputs}"
            )
        for x in flat_inputs:
            if not hasattr(x, "_keras_history"):
                raise ValueError(
                    f"Input tensors to a {type(self).__name__} must come from `tf.keras.Input`. Received: {x} (missing previous layer metadata)."
                )
        for x in flat_outputs:
            if not hasattr(x, "_keras_history"):
                raise ValueError(
                    f"Output tensors to a {type(self).__name__} must come from a layer; {x} doesn't "
                    "(`tf.keras.layers.Lambda` makes a layer of any function)."
                )
        self._init_network(name, kwargs.get("trainable", True))
        self._is_graph_network = True
        self._nested_inputs, self._nested_outputs = inputs, outputs
        self.inputs, self.outputs = flat_inputs, flat_outputs
        self.built = True
        self._input_coordinates = [x._keras_history for x in flat_inputs]
        self._output_coordinates = [x._keras_history for x in flat_outputs]
        self._topology = Topology(flat_inputs, flat_outputs)
        self._graph_layers = self._topology.layers
        self._input_layers = [c.layer for c in self._input_coordinates]
        self._output_layers = [c.layer for c in self._output_coordinates]
        self.input_names = [layer.name for layer in self._input_layers]
        self.output_names = _output_names(self._output_layers)
        self._note_placeholders()
        Node(self, [], [], [], inputs, outputs)

    def _note_placeholders(self):
        fed = [getattr(layer, "is_placeholder", False) for layer in self._input_layers]
        self._feed_inputs = [x for x, is_fed in zip(self.inputs, fed) if is_fed]
        self._feed_input_names = [name for name, is_fed in zip(self.input_names, fed) if is_fed]
        self._feed_input_shapes = [
            tuple(x.shape.as_list()) if x.shape.rank is not None else None for x in self._feed_inputs
        ]

    # --- facts -------------------------------------------------------------------------------

    layers = property(lambda self: list(self._nested_layers()), doc="The layers of the model.")

    @property
    def _layers(self):
        """The layers of the graph with their inputs, and what else holds some."""
        return unique([*self.__dict__.get("_graph_layers", ()), *Layer._layers.fget(self)])

    @_layers.setter
    def _layers(self, layers):
        self.__dict__["_graph_layers"] = layers

    def _holders_of_layers(self):
        return unique([*self.__dict__.get("_graph_layers", ()), *super()._holders_of_layers()])

    def _holders(self):
        return [*self.__dict__.get("_graph_layers", ()), *super()._holders()]

    @property
    def input(self):
        """The input tensor, or a list of several: those the model was made of, wherever else it is called."""
        if self._is_graph_network:
            return _one_or_nested(self.inputs, self._nested_inputs)
        return super().input

    @property
    def output(self):
        """The output tensor, or a list of several, of the model as it was made."""
        if self._is_graph_network:
            return _one_or_nested(self.outputs, self._nested_outputs)
        return super().output

    def get_layer(self, name=None, index=None):
        """A layer by its name or its position."""
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has {len(self.layers)} layers."
                )
            return self.layers[index]
        if not name:
            raise ValueError("`get_layer` needs the name of a layer, or its index.")
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    @property
    def dynamic(self):
        """Whether a layer, or the model itself, can only run eagerly."""
        return self._dynamic or any(layer.dynamic for layer in self._nested_layers())

    @property
    def stateful(self):
        """Whether a layer keeps its state from batch to batch."""
        return any(getattr(layer, "stateful", False) for layer in self._nested_layers())

    @stateful.setter
    def stateful(self, value):
        """The layers say it."""

    def reset_states(self):
        """Begin the states of recurrent layers anew."""
        for layer in self.layers:
            if hasattr(layer, "reset_states") and getattr(layer, "stateful", False):
                layer.reset_states()

    @property
    def state_updates(self):
        """The updates of layers that keep their state."""
        kept = [layer for layer in self.layers if getattr(layer, "stateful", False) and hasattr(layer, "updates")]
        return [update for layer in kept for update in layer.updates]

    def _assert_weights_created(self):
        if not self._is_graph_network and "build" in type(self).__dict__ and not self.built:
            raise ValueError(f"Model {self.name} has no weights yet: call it on inputs, or call `build(input_shape)`.")

    @property
    def weights(self):
        """All variables, layer by layer."""
        self._assert_weights_created()
        return unique(
            [w for layer in self.layers for w in layer.weights] + self._trainable_weights + self._non_trainable_weights
        )

    @property
    def trainable_weights(self):
        """Those of the layers, then those that the model holds itself."""
        self._assert_weights_created()
        if not self.trainable:
            return []
        return unique(self._weights_inside("trainable_weights") + self._trainable_weights)

    @property
    def non_trainable_weights(self):
        self._assert_weights_created()
        return Layer.non_trainable_weights.fget(self)

    @property
    def input_spec(self):
        """Of the inputs; None for a model with several."""
        if not self._is_graph_network:
            return None
        specs = [layer.input_spec for layer in self._input_layers]
        return None if len(specs) == 1 else [None] * len(specs)

    @input_spec.setter
    def input_spec(self, value):
        """The layers say it."""

    # --- updates -------------------------------------------------------------------------------

    @property
    def updates(self):
        """Updates of the layers; of a frozen model those that keep states."""
        if not self.trainable and not self.stateful:
            return []
        return Layer.updates.fget(self) if self.trainable else self.state_updates

    # --- building and calling ------------------------------------------------------------------

    def set_weights(self, weights):
        """Give its variables values, in the order of `weights`."""
        variables = self.weights
        set_values(f"model {self.name}", variables, weights, [tuple(v.shape.as_list()) for v in variables])

    def build(self, input_shape):
        """Make the weights of a subclassed model, for inputs of this shape (or these)."""
        if self._is_graph_network:
            self.built = True
            return
        if input_shape is None:
            raise ValueError(f"`build` needs the shape of the inputs of {self.name}.")
        if not isinstance(input_shape, (tuple, list, TensorShape)):
            raise ValueError(
                f"`build` takes a shape with the batch, as a tuple, or a list of shapes, not {input_shape!r}."
            )
        if input_shape and not self.inputs:

            def placeholders(shapes):
                if not isinstance(shapes, list):
                    return K.placeholder(shape=shapes)
                if not all(isinstance(s, (tuple, list, TensorShape)) for s in shapes):
                    raise ValueError(f"A list has a shape for each input, as [(None, 2)]; `build` was given {shapes}.")
                return [K.placeholder(shape=s) for s in shapes]

            x = placeholders(input_shape)
            kwargs = {"training": None} if self._call_takes("training") else {}
            try:
                self.call(x, **kwargs)
            except TypeError as e:
                raise ValueError(
                    f"`build` tries a model on inputs of type {K.floatx()}, which {self.name} doesn't take ({e}): "
                    "call it on real data instead."
                ) from e
        Layer.build(self, input_shape)

    build._is_default = True

    def _maybe_build(self, inputs):
        # Layers build themselves when they are called, unless the program's class has a `build` of its own.
        if not self.built and getattr(type(self).build, "_is_default", False):
            self.built = True
        super()._maybe_build(inputs)

    def call(self, inputs, training=None, mask=None):
        """Compute the outputs from the layers; a subclass says how in its own `call`."""
        if not self._is_graph_network:
            raise NotImplementedError(
                f"{type(self).__name__} needs a `call` method: it has neither one of its own nor inputs and outputs."
            )
        return self._run_graph(inputs, training=training, mask=mask)

    def _run_graph(self, inputs, training=None, mask=None):
        """The outputs for other inputs: every layer is called again."""
        by_name = isinstance(inputs, dict) and set(inputs) == set(self.input_names)
        flat = [inputs[name] for name in self.input_names] if by_name else nest.flatten(inputs)
        masks = [None] * len(flat) if mask is None else nest.flatten(mask)
        for x, m in zip(flat, masks):
            if m is not None:
                x._keras_mask = m
        computed = {id(x): y for x, y in zip(self.inputs, flat)}
        topology = self._topology
        # The first are input layers, which have nothing to do; those that are needed later are called like others.
        for depth in sorted(topology.nodes_by_depth, reverse=True)[1:]:
            for node in topology.nodes_by_depth[depth]:
                layer = node.outbound_layer
                if not all(id(x) in computed for x in nest.flatten(node.input_tensors)):
                    continue
                arguments = nest.map_structure(
                    lambda value: computed.get(id(value), value) if isinstance(value, Tensor) else value,
                    dict(node.arguments or {}),
                )
                if layer._call_takes("training") and arguments.get("training") is None:
                    arguments["training"] = training
                given = nest.map_structure(lambda x: computed[id(x)], node.input_tensors)
                outputs = layer(given, **arguments)
                for x, y in zip(nest.flatten(node.output_tensors), nest.flatten(outputs)):
                    computed[id(x)] = y
        return nest.pack_sequence_as(self._nested_outputs, [computed[id(x)] for x in self.outputs])

    def compute_mask(self, inputs, mask=None):
        if not self._is_graph_network:
            return None
        outputs = self._run_graph(inputs, mask=mask)
        return nest.map_structure(lambda t: getattr(t, "_keras_mask", None), outputs)

    def _pass_masks_on(self, inputs, outputs, masks):
        """The last layers have set the masks of the outputs."""
        if not self._is_graph_network:
            for tensor in nest.flatten(outputs):
                if tensor is not None and not hasattr(tensor, "_keras_mask"):
                    tensor._keras_mask = None

    def compute_output_shape(self, input_shape):
        """The shapes of the outputs for inputs of these shapes."""
        if not self._is_graph_network:
            return super().compute_output_shape(input_shape)
        several = isinstance(input_shape, list) and all(isinstance(s, (tuple, list, TensorShape)) for s in input_shape)
        shapes = list(input_shape) if several else [input_shape]
        if len(shapes) != len(self.inputs):
            raise ValueError(f"Invalid input_shape argument {input_shape}: model has {len(self.inputs)} tensor inputs.")
        known = {id(x): TensorShape(s) for x, s in zip(self.inputs, shapes)}
        for node in self._topology.in_order():
            if not nest.flatten(node.inbound_layers):
                continue
            given = nest.map_structure(lambda x: known[id(x)], node.input_tensors)
            made = node.outbound_layer.compute_output_shape(given)
            made = [made] if len(nest.flatten(node.output_tensors)) == 1 else made
            for x, shape in zip(nest.flatten(node.output_tensors), made):
                known[id(x)] = TensorShape(shape)
        result = [known[id(x)] for x in self.outputs]
        return result[0] if len(result) == 1 else result

    # --- as data ---------------------------------------------------------------------------------

    def get_config(self):
        """The graph of layers as plain data; a subclassed model has none."""
        if not self._is_graph_network:
            raise NotImplementedError
        return network_config.network_config(self)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A model from what `get_config` gave, with new weights."""
        inputs, outputs, created = network_config.reconstruct(config, custom_objects)
        model = cls(inputs=inputs, outputs=outputs, name=config.get("name"))
        model._insert_layers(list(created.values()))
        return model

    def _insert_layers(self, layers, relevant_nodes=None):
        """Layers that lead to no output, e.g. to a loss, join the model all the same."""
        layers = nest.flatten(layers)
        refuse_legacy(layers)
        extra = [layer for layer in layers if layer not in self._graph_layers]
        self.__dict__["_graph_layers"] = self._graph_layers + extra
        nodes = relevant_nodes or [node for layer in layers for node in layer._inbound_nodes]
        self._topology.insert(extra, nodes)

    def _graph_network_add_loss(self, loss):
        self._add_ancillary(AddLoss(unconditional=False), loss)

    def _graph_network_add_metric(self, value, aggregation, name):
        self._add_ancillary(AddMetric(aggregation, name), value)

    @untracked
    def _add_ancillary(self, layer, tensor):
        """Let a layer hang on what leads from the inputs to a tensor."""
        if needs_history(tensor, constants_too=True):
            give_history(tensor)
        way = Topology(self.inputs, [tensor])
        layer(tensor)
        nodes = [node for node in way.in_order() if node not in self._topology.nodes]
        new = [*way.layers, layer]
        self._insert_layers(new, [*nodes, layer._inbound_nodes[-1]])

    def _updated_config(self):
        return {**named_config(self), "keras_version": __version__, "backend": "tensorflow"}

    def to_json(self, **kwargs):
        """The configuration as JSON; `tf.keras.models.model_from_json` reads it."""
        return json.dumps(self._updated_config(), default=default, **kwargs)

    def to_yaml(self, **kwargs):
        """The configuration as YAML; `tf.keras.models.model_from_yaml` reads it."""
        return yaml_text(self._updated_config(), **kwargs)

    # --- files -----------------------------------------------------------------------------------

    def save(self, filepath, overwrite=True, include_optimizer=True, save_format=None, signatures=None):
        """Save the model with its weights and, if it is compiled, what training needs to go on."""
        models.save_model(self, filepath, overwrite, include_optimizer, save_format, signatures)

    def save_weights(self, filepath, overwrite=True, save_format=None):
        """Save the weights: HDF5 for paths that end in .h5 or .keras, else TensorFlow's checkpoints."""
        saved_weights.save(self, filepath, overwrite, save_format)

    def load_weights(self, filepath, by_name=False):
        """Load what `save_weights` saved; HDF5 files also by the names of layers."""
        return saved_weights.load(self, filepath, by_name)

    def _checkpoint_children(self):
        children = []
        with_weights = 0
        for i, layer in enumerate(self.__dict__.get("_graph_layers", ())):
            if layer.weights if layer.built or not isinstance(layer, Network) else ():
                children.append((f"layer_with_weights-{with_weights}", layer))
                with_weights += 1
            children.append((f"layer-{i}", layer))
        return (
            children + [c for c in super()._checkpoint_children() if c[0] != "optimizer"] + self._optimizer_children()
        )

    def _optimizer_children(self):
        optimizer = self.optimizer
        return [("optimizer", optimizer)] if hasattr(optimizer, "_checkpoint_children") else []

    def summary(self, line_length=None, positions=None, print_fn=None):
        """Print the layers with the shapes of their outputs and the number of their parameters."""
        if not self.built:
            raise ValueError(
                "This model has not yet been built: give its first layer an `input_shape`, call `build(input_shape)`, or let it see data."
            )
        print_summary(self, line_length=line_length, positions=positions, print_fn=print_fn)


def _one_or_nested(flat, nested):
    return flat[0] if len(flat) == 1 and not isinstance(nested, dict) else nested


def _output_names(layers):
    """The names of the output layers, with numbers where one has several outputs of the model."""
    names, counts = [], {}
    for layer in layers:
        if layer.name in counts:
            counts[layer.name] += 1
            names.append(f"{layer.name}_{counts[layer.name]}")
        else:
            counts[layer.name] = 0
            names.append(layer.name)
    return names
