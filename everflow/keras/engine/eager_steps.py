"""Training, testing and predicting on a batch when executing eagerly: the model is called in a traced function."""

from __future__ import annotations

import contextlib

import numpy as np

from everflow.framework import nest, strategy_context
from everflow.framework.composites import SparseTensor, SparseTensorValue
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import executing_eagerly_outside_functions
from everflow.keras import backend as K
from everflow.keras.backend.functions import dense
from everflow.keras.backend.state import fixed_learning_phase
from everflow.keras.engine import endpoints as ends
from everflow.keras.engine.batch_values import is_composite, tensor_of, value_of
from everflow.keras.engine.call_context import call_context
from everflow.ops import math
from everflow.ops.functions.traced import defun
from everflow.ops.gradients.tape import GradientTape
from everflow.ops.ragged.tensor import RaggedTensor


class EagerSteps:
    """The functions of a compiled model, each traced once for each kind of batch (or not at all, with `run_eagerly`)."""

    def __init__(self, model):
        self.model = model
        self._functions = {}

    def run(self, kind, inputs, targets, weights):
        """[loss, metrics…] of a batch, or the outputs for "predict", as arrays."""
        tensors = self._as_tensors(inputs, targets, weights)
        with K.eager_learning_phase_scope(self._phase(kind)):
            outputs = self._function(kind)(*tensors)
        return [value_of(x) for x in outputs]

    def as_function(self, kind):
        """A function of a list of inputs, targets and weights; for "train", the optimizer has its variables then."""
        model = self.model
        if kind == "train" and hasattr(model.optimizer, "_make_variables"):
            model.optimizer._make_variables(model._collected_trainable_weights)
        inputs, targets = len(model.inputs), len(self._fed())

        def function(values):
            return self.run(kind, values[:inputs], values[inputs : inputs + targets], values[inputs + targets :])

        return function

    def _as_tensors(self, inputs, targets, weights):
        return (
            [_as_tensor(x, like) for x, like in zip(inputs, self.model.inputs)],
            [_as_tensor(y, e.output) for y, e in zip(targets, self._fed())],
            [None if w is None else convert_to_tensor(np.asarray(w, "float32")) for w in weights],
        )

    def _phase(self, kind):
        """Whether layers are trained; a model that runs as a graph keeps to a phase that the program has fixed."""
        fixed = fixed_learning_phase() if self._is_graph else None
        return int(kind == "train") if fixed is None else fixed

    def _fed(self):
        return [e for e in self.model._endpoints if e.is_fed]

    def _function(self, kind):
        if kind not in self._functions:
            step = self._step(kind)
            if kind == "train" and not self.model._experimental_run_tf_function:
                self.model._check_trainable_weights_consistency()
            # The library's own code needs no conversion; layers convert the program's `call`s themselves.
            self._functions[kind] = step if self.model.run_eagerly else defun(step, autograph=False)
        return self._functions[kind]

    def _step(self, kind):
        """What is done with a batch of tensors."""
        return {"train": self._train, "test": self._test, "predict": self._predict}[kind]

    def _called(self, inputs, training):
        model = self.model
        model._clear_losses(drawn=not executing_eagerly_outside_functions())
        given = inputs[0] if len(inputs) == 1 else inputs
        if not model._is_graph_network and model._inputs_are_named:
            given = dict(zip(model.input_names, inputs))
        kwargs = {"training": training} if model._call_takes("training") else {}
        with contextlib.nullcontext() if training or not self._is_graph else call_context.without_updates():
            return nest.flatten(model(given, **kwargs))

    @property
    def _is_graph(self):
        """Whether the model runs as a graph of its own: there, only training runs what layers want to be updated."""
        return not (self.model._experimental_run_tf_function or self.model.run_eagerly)

    def _predict(self, inputs, targets, weights):
        return self._called(inputs, False)

    def _test(self, inputs, targets, weights):
        outputs = self._called(inputs, False)
        return [self._loss(outputs, targets, weights), *self._metrics(outputs, targets, weights)]

    def _train(self, inputs, targets, weights):
        model = self.model
        with GradientTape() as tape, model._trainable_as_compiled():
            outputs = self._called(inputs, True)
            loss = self._loss(outputs, targets, weights)
            scales = self._scales_losses()
            scaled = model.optimizer.get_scaled_loss(loss) if scales else loss
        trained = model._collected_trainable_weights
        trained = model.trainable_weights if trained is None else trained
        gradients = self._gradients(tape, scaled, trained) if trained else []
        if scales:
            gradients = model.optimizer.get_unscaled_gradients(gradients)
        pairs = [(g, v) for g, v in zip(gradients, trained) if g is not None]
        if trained and not pairs:
            raise ValueError(f"No gradients provided for any variable: {[v.name for v in trained]}.")
        if pairs:
            model.optimizer.apply_gradients(pairs)
        return [loss, *self._metrics(outputs, targets, weights)]

    def _scales_losses(self):
        """Whether the optimizer wants losses scaled, as those of mixed precision do."""
        return hasattr(self.model.optimizer, "get_scaled_loss")

    def _gradients(self, tape, loss, trained):
        gradients = tape.gradient(loss, trained)
        # As in TensorFlow, an optimizer clips the gradients of a graph, and no others.
        clipped = getattr(self.model.optimizer, "_clipped", None) if self._is_graph else None
        return clipped(gradients) if clipped else gradients

    def _bound(self, outputs, targets, weights):
        """The endpoints with this batch's tensors."""
        targets, weights = iter(targets), iter(weights or [None] * len(targets))
        for endpoint, output in zip(self.model._endpoints, outputs):
            target, weight = (next(targets), next(weights)) if endpoint.is_fed else (None, None)
            yield endpoint.bound_to(output, target, weight)

    def _loss(self, outputs, targets, weights):
        self._loss_results = {}
        total = ends.total_loss(self._bound(outputs, targets, weights), self._loss_results)
        own = self.model._losses_of_call() if executing_eagerly_outside_functions() else self.model.losses
        if own:
            own = strategy_context.part_of_replica(math.add_n(own))
            total = own if total is None else total + own
        if total is None:
            raise ValueError("The model has no loss to optimize: give `compile` a loss, or let a layer add one.")
        return total

    def _metrics(self, outputs, targets, weights):
        results = dict(self._loss_results)
        for endpoint in self._bound(outputs, targets, weights):
            for metric in endpoint.metrics:
                results[metric] = ends.call_metric(metric, endpoint.target, endpoint.output, None, endpoint.mask)
            for metric in endpoint.weighted_metrics:
                results[metric] = ends.call_metric(
                    metric, endpoint.target, endpoint.output, endpoint.sample_weight, endpoint.mask
                )
        return [results[metric] if metric in results else metric.result() for metric in self.model._reported()]


def _as_tensor(value, like):
    """An array as a tensor of the type that the model takes; a sparse matrix as a sparse one."""
    if hasattr(value, "numpy") or isinstance(value, (SparseTensor, RaggedTensor)):
        return value
    if hasattr(value, "tocoo") and isinstance(like, SparseTensor):
        matrix = value.tocoo()
        value = SparseTensorValue(np.stack([matrix.row, matrix.col], axis=1), matrix.data, matrix.shape)
    if is_composite(value):
        tensor = tensor_of(value)
        return tensor if tensor.dtype == like.dtype else math.cast(tensor, like.dtype)
    return convert_to_tensor(dense(value, like.dtype.base_dtype.as_numpy_dtype))
