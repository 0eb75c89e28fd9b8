"""A linear model as a Keras model of one layer, whose weights are all made before the first op: what the estimators use."""

from __future__ import annotations

from everflow.feature_column.columns import (
    CategoricalColumn,
    DenseColumn,
    assert_equal_batches,
    assert_for_layers,
    sorted_columns,
)
from everflow.feature_column.features_layers import LayerVariables, features_of_a_call
from everflow.feature_column.linear_model import weighted_sum, weights_size
from everflow.feature_column.serialization import deserialize_feature_columns, serialize_feature_columns
from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.training import Model
from everflow.ops import math
from everflow.ops.nn import activations as nn
from everflow.ops.variables.initializers import zeros_initializer
from everflow.ops.variables.scope import get_variable, variable_scope


class LinearModelLayer(Layer):
    """Sums of weights, [batch, units], for a dict of features."""

    def __init__(self, feature_columns, units=1, sparse_combiner="sum", trainable=True, name=None, **kwargs):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = sorted_columns(feature_columns, DenseColumn, CategoricalColumn)
        assert_for_layers(self._feature_columns)
        self._units = units
        self._sparse_combiner = sparse_combiner
        self._state_manager = LayerVariables(self, self.trainable)

    def build(self, input_shape):
        zeros = zeros_initializer()
        with variable_scope(self.name, auxiliary_name_scope=False):
            for column in self._feature_columns:
                with variable_scope(column.name, auxiliary_name_scope=False):
                    column.create_state(self._state_manager)
                    shape = (weights_size(column), self._units)
                    self._state_manager.create_variable(column, "weights", shape, dtypes.float32, initializer=zeros)
            made = {"trainable": self.trainable, "use_resource": True, "getter": get_variable}
            self.bias = self.add_weight("bias_weights", [self._units], dtypes.float32, zeros, **made)
        super().build(None)

    def call(self, features):
        cache = features_of_a_call(features)
        sums = []
        with name_scope(self.name):
            for column in self._feature_columns:
                with name_scope(column.name):
                    weights = self._state_manager.get_variable(column, "weights")
                    sums.append(weighted_sum(column, weights, cache, self._state_manager, self._sparse_combiner))
            assert_equal_batches(sums, self._feature_columns)
            total = math.add_n(sums, name="weighted_sum_no_bias")
            return nn.bias_add(total, self.bias, name="weighted_sum")

    def get_config(self):
        columns = serialize_feature_columns(self._feature_columns)
        own = {"feature_columns": columns, "units": self._units, "sparse_combiner": self._sparse_combiner}
        return {**super().get_config(), **own}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        columns = deserialize_feature_columns(config["feature_columns"], custom_objects)
        return cls(**{**config, "feature_columns": columns})


class LinearModel(Model):
    """As `tf.feature_column.linear_model`: sums of weights, [batch, units], for a dict of features."""

    def __init__(self, feature_columns, units=1, sparse_combiner="sum", trainable=True, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.layer = LinearModelLayer(feature_columns, units, sparse_combiner, trainable, name=self.name, **kwargs)

    def call(self, features):
        return self.layer(features)

    bias = property(lambda self: self.layer.bias, doc="The bias, a variable.")
