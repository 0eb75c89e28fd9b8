"""What a compiled model has by its names inside TensorFlow: libraries and tests that look into a model ask for these."""

from __future__ import annotations

from everflow.framework import nest
from everflow.framework.scopes import executing_eagerly
from everflow.keras.engine import data_checks, workers
from everflow.keras.engine.tracked_attributes import untracked
from everflow.platform import logging
from everflow.platform.inspection import getfullargspec
from everflow.platform.signatures import takes


class InnerNames:
    """The part of a model that answers to TensorFlow's own names."""

    _training_endpoints = property(lambda self: self._endpoints)
    _output_loss_metrics = property(lambda self: [e.loss_metric for e in self._endpoints if e.loss_metric is not None])
    _per_output_metrics = property(lambda self: [{m.name: m for m in e.metrics} for e in self._endpoints])
    _per_output_weighted_metrics = property(
        lambda self: [{m.name: m for m in e.weighted_metrics} for e in self._endpoints]
    )
    _sample_weight_modes = property(lambda self: [e.sample_weight_mode for e in self._endpoints])
    _feed_output_shapes = property(
        lambda self: [e.feed_output_shape for e in self._endpoints if e.has_feedable_training_target()]
    )
    _feed_loss_fns = property(lambda self: [e.loss for e in self._endpoints if e.has_feedable_training_target()])

    _layer_call_argspecs = property(lambda self: {layer: getfullargspec(layer.call) for layer in self.layers})
    _nodes_by_depth = property(lambda self: self._topology.nodes_by_depth)
    _layers_by_depth = property(lambda self: self._topology.layers_by_depth)

    @property
    def _network_nodes(self):
        """A key for each call of a layer that is part of the model."""
        return {
            f"{layer.name}_ib-{index}"
            for layer in self._topology.layers
            for index in range(len(layer._inbound_nodes))
            if self._topology.has(layer, index)
        }

    def _assert_compile_was_called(self):
        self._assert_compiled()

    def _get_training_eval_metrics(self):
        """What the functions report besides the loss."""
        return self._reported()

    def _in_multi_worker_mode(self):
        """Whether other processes train the same model."""
        return workers.worker() is not None

    def _get_callback_model(self):
        """The model that callbacks see."""
        return getattr(self, "callback_model", None) or self

    def _check_trainable_weights_consistency(self):
        """A warning where `trainable` was changed since the model was compiled."""
        compiled = self._collected_trainable_weights
        if compiled is not None and len(compiled) != len(self.trainable_weights):
            logging.log_first_n(
                logging.WARN,
                f"Model {self.name} was compiled with {len(compiled)} trainable weights and has {len(self.trainable_weights)} now: a change "
                "of `trainable` counts only after `compile` is called again.",
                1,
            )

    def _validate_or_infer_batch_size(self, batch_size, steps, x):
        """The size of batches: the one given, the one the model was made for, or 32 for arrays."""
        if batch_size is not None:
            data_checks.check_batch_size(self, batch_size)
            return batch_size
        fixed = [t.shape.as_list()[0] for t in self._feed_inputs or () if t.shape.rank]
        if fixed and fixed[0] is not None:
            return fixed[0]
        return 32 if steps is None and x is not None and hasattr(nest.flatten(x)[0], "shape") else None

    def _add_unique_metric_name(self, metric_name, output_index):
        """A name that no metric of the model has yet."""
        return self._unique_metric_name(metric_name, self._endpoints[output_index], set(self.metrics_names))

    @takes(
        """x, y=None, sample_weight=None, class_weight=None, batch_size=None, check_steps=False, steps_name="steps",
        steps=None, validation_split=0, shuffle=False, extract_tensors_from_dataset=False"""
    )
    def _standardize_user_data(self, x, y, sample_weight, class_weight, batch_size, **looped):
        """(inputs, targets, weights) as lists; weights are None where there are none."""
        if batch_size is not None:
            data_checks.check_batch_size(self, batch_size)
        inputs, targets, weights = self._standardize(
            x, y, sample_weight=sample_weight, class_weight=class_weight, for_predict=y is None
        )
        return inputs, targets, weights if any(w is not None for w in weights) else None

    @untracked
    def _prepare_sample_weights(self, sample_weights=None):
        """Give each output its weights of samples: those given, or placeholders where it is to have some."""
        if sample_weights is None:
            for endpoint in self._endpoints:
                if endpoint.sample_weight_mode is not None and not executing_eagerly():
                    endpoint.make_sample_weight()
            return
        if len(sample_weights) != len(self._endpoints):
            raise ValueError(
                f"There are {len(self._endpoints)} outputs, {self.output_names}, and weights of samples for {len(sample_weights)}."
            )
        for endpoint, weight in zip(self._endpoints, sample_weights):
            endpoint.sample_weight = weight

    @untracked
    def _compile_weights_loss_and_weighted_metrics(self, sample_weights=None):
        """Draw what depends on the weights of samples anew."""
        self._prepare_sample_weights(sample_weights)
        if not executing_eagerly():
            self._draw_metrics("weighted_metrics")
            self.total_loss = self._draw_loss()

    def _recompile_weights_loss_and_weighted_metrics(self):
        """The same, where outputs lack weights that they are to have; whether that was so."""
        lacking = any(e.sample_weights_mismatch() for e in self._endpoints if not e.should_skip_target())
        if lacking:
            self._compile_weights_loss_and_weighted_metrics()
        return lacking
