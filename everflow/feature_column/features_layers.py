"""Layers over feature columns: `tf.keras.layers.DenseFeatures` and `tf.keras.experimental.SequenceFeatures`."""

from __future__ import annotations

from everflow.feature_column.cache import FeatureTransformationCache
from everflow.feature_column.columns import (
    DenseColumn,
    SequenceDenseColumn,
    assert_equal_batches,
    assert_for_layers,
    sorted_columns,
)
from everflow.feature_column.input_layer import flat_rows
from everflow.feature_column.sequence import equal_lengths, flat_steps
from everflow.feature_column.serialization import deserialize_feature_columns, serialize_feature_columns
from everflow.feature_column.state import Resources
from everflow.framework.scopes import name_scope
from everflow.keras.engine.base_layer import Layer
from everflow.keras.generic import CustomObjectScope
from everflow.ops import array
from everflow.ops.variables.scope import get_variable, variable_scope


class LayerVariables(Resources):
    """Makes the variables of columns as weights of a layer."""

    _getter: dict = {"getter": get_variable}  # the scopes around say how a variable is made

    def __init__(self, layer, trainable):
        super().__init__()
        self._layer = layer
        self._trainable = trainable
        self._made = {}

    def create_variable(
        self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True, initializer=None
    ):
        """Make a variable of a column; a column has at most one of each name."""
        if (feature_column, name) in self._made:
            raise ValueError("Variable already exists.")
        made = {"trainable": self._trainable and trainable, "use_resource": use_resource}
        variable = self._layer.add_weight(name, shape, dtype, initializer, **made, **self._getter)
        self._made[feature_column, name] = variable
        return variable

    def get_variable(self, feature_column, name):
        """A variable that the column made before."""
        if (feature_column, name) not in self._made:
            raise ValueError("Variable does not exist.")
        return self._made[feature_column, name]


def features_of_a_call(features):
    """The features that a layer over columns was called with."""
    if not isinstance(features, dict):
        raise ValueError(f"We expected a dictionary here, of features by their keys, and got {features}.")
    return FeatureTransformationCache(features)


class _FeaturesLayer(Layer):
    """A layer whose weights are those of its columns."""

    _kind = DenseColumn
    # Models built from columns ask their first layer for it.
    _is_feature_layer = True

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = sorted_columns(feature_columns, self._kind)
        self._state_manager = LayerVariables(self, self.trainable)
        assert_for_layers(self._feature_columns)

    def build(self, _):
        for column in self._feature_columns:
            with (
                variable_scope(self.name, auxiliary_name_scope=False),
                variable_scope(column.name, auxiliary_name_scope=False),
            ):
                column.create_state(self._state_manager)
        super().build(None)

    def _width(self):
        return sum(column.variable_shape.num_elements() for column in self._feature_columns)

    def get_config(self):
        return {**super().get_config(), "feature_columns": serialize_feature_columns(self._feature_columns)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        with CustomObjectScope(custom_objects or {}):
            config["feature_columns"] = deserialize_feature_columns(config["feature_columns"])
        return cls(**config)


class DenseFeatures(_FeaturesLayer):
    """What dense columns make of a dict of features, side by side in the order of the columns' names: [batch, numbers].

    Args:
        feature_columns: The feature columns.
        trainable: Whether its weights are trained.
        name: Its name.

    Example:
        >>> columns = [tf.feature_column.numeric_column("price")]
        >>> sess.run(tf.keras.layers.DenseFeatures(columns)({"price": tf.constant([[1.0], [5.0]])}))
        array([[1.],
               [5.]], dtype=float32)
    """

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super().__init__(feature_columns, trainable, name, **kwargs)

    def call(self, features, cols_to_output_tensors=None):
        """The matrix; a dict `cols_to_output_tensors` is filled with each column's part of it."""
        cache = features_of_a_call(features)
        outputs = []
        for column in self._feature_columns:
            with name_scope(column.name):
                outputs.append(flat_rows(column.get_dense_tensor(cache, self._state_manager), column))
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = outputs[-1]
        assert_equal_batches(outputs, self._feature_columns)
        return array.concat(outputs, -1)

    def _target_shape(self, input_shape, num_elements):
        return (input_shape[0], num_elements)

    def compute_output_shape(self, input_shape):
        return self._target_shape(input_shape, self._width())


class SequenceFeatures(_FeaturesLayer):
    """What sequence columns make of a dict of features: ([batch, steps, numbers], the steps of each example).

    Args:
        feature_columns: The feature columns.
        trainable: Whether its weights are trained.
        name: Its name.

    Example:
        >>> columns = [tf.feature_column.sequence_numeric_column("price")]
        >>> prices = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2])
        >>> numbers, lengths = tf.keras.experimental.SequenceFeatures(columns)({"price": prices})
        >>> sess.run(lengths)
        array([2, 1])
    """

    _kind = SequenceDenseColumn

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super().__init__(feature_columns, trainable, name, **kwargs)

    def call(self, features):
        cache = features_of_a_call(features)
        outputs, lengths = [], []
        for column in self._feature_columns:
            with name_scope(column.name):
                tensor, length = column.get_sequence_dense_tensor(cache, self._state_manager)
                outputs.append(flat_steps(tensor, column))
                lengths.append(length)
        assert_equal_batches(outputs, self._feature_columns)
        length = equal_lengths(lengths)
        return array.concat(outputs, -1), length

    def _target_shape(self, input_shape, num_elements):
        return (*input_shape[:2], num_elements)

    def compute_output_shape(self, input_shape):
        return self._target_shape(input_shape, self._width())
