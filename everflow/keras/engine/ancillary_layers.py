"""Layers that hang on a functional model beside the way to its outputs: what `model.add_loss` and `model.add_metric` are
given becomes the input of one, so that every call of the model, also within another one, has its own loss.
"""

from __future__ import annotations

from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.known_classes import register_classes


class AddLoss(Layer):
    """Adds its input as a loss, and hands it on."""

    def __init__(self, unconditional, **kwargs):
        super().__init__(**kwargs)
        self.unconditional = unconditional

    def call(self, inputs):
        self.add_loss(inputs, inputs=not self.unconditional)
        return inputs

    def get_config(self):
        return {**super().get_config(), "unconditional": self.unconditional}


class AddMetric(Layer):
    """Reports its input as a metric, and hands it on."""

    def __init__(self, aggregation=None, metric_name=None, **kwargs):
        super().__init__(**kwargs)
        self.aggregation, self.metric_name = aggregation, metric_name

    def call(self, inputs):
        self.add_metric(inputs, self.aggregation, self.metric_name)
        return inputs

    def get_config(self):
        return {**super().get_config(), "aggregation": self.aggregation, "metric_name": self.metric_name}


register_classes(AddLoss=AddLoss, AddMetric=AddMetric)
