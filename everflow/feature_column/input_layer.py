"""`tf.feature_column.input_layer`: features as one dense matrix; `InputLayer`, the same with variables to share."""

from __future__ import annotations

from everflow.feature_column.cache import FeatureTransformationCache
from everflow.feature_column.columns import DenseColumn, assert_equal_batches, sorted_columns
from everflow.feature_column.state import ScopedVariables, with_model_variables
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_collection
from everflow.ops import array
from everflow.ops.variables.scope import get_variable_scope, variable_scope
from everflow.ops.variables.template import make_template
from everflow.platform.signatures import takes


def input_layer(
    features, feature_columns, weight_collections=None, trainable=True, cols_to_vars=None, cols_to_output_tensors=None
):
    """What dense columns make of the features, side by side in the order of the columns' names: [batch, numbers].

    Args:
        features: Tensors by the names of features.
        feature_columns: The feature columns.
        weight_collections: The collections variables are added to, besides `GLOBAL_VARIABLES`.
        trainable: Whether variables are trained.
        cols_to_vars: A dictionary that is filled with the variables of each column.
        cols_to_output_tensors: A dictionary that is filled with the tensor of each column.

    Returns:
        A tensor.

    Raises:
        ValueError: If a column is of the wrong kind.

    Example:
        >>> price = tf.feature_column.numeric_column("price")
        >>> sess.run(tf.feature_column.input_layer({"price": [[1.0], [5.0]]}, [price]))
        array([[1.],
               [5.]], dtype=float32)
    """
    columns = sorted_columns(feature_columns, DenseColumn, by_function=True)
    with variable_scope(None, default_name="input_layer", values=features.values()):
        return _side_by_side(features, columns, weight_collections, trainable, cols_to_vars, cols_to_output_tensors)


def _side_by_side(features, columns, weight_collections, trainable, cols_to_vars=None, cols_to_output_tensors=None):
    cache = FeatureTransformationCache(features)
    outputs = []
    for column in columns:
        with variable_scope(None, default_name=column._var_scope_name):
            tensor = column.get_dense_tensor(
                cache, ScopedVariables(with_model_variables(weight_collections), trainable, weight_collections)
            )
            output = flat_rows(tensor, column)
            outputs.append(output)
            if cols_to_vars is not None:
                cols_to_vars[column] = get_collection(GraphKeys.GLOBAL_VARIABLES, scope=get_variable_scope().name)
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = output
    assert_equal_batches(outputs, columns)
    return array.concat(outputs, 1)


class InputLayer:
    """What `input_layer` does, as an object whose calls share their variables.

    Columns are looked at when the layer is called. `cols_to_vars` is taken and not filled, as in TensorFlow.

    >>> layer = tf.contrib.slim.InputLayer([tf.feature_column.numeric_column("price")])
    >>> layer({"price": [[1.5], [2.5]]}).shape
    TensorShape([Dimension(2), Dimension(1)])
    """

    @takes(
        """feature_columns, weight_collections=None, trainable=True, cols_to_vars=None,
        name="feature_column_input_layer", create_scope_now=True""",
    )
    def __init__(self, name, create_scope_now, cols_to_vars, **kept):
        self.__dict__.update({f"_{argument}": value for argument, value in kept.items()}, _name=name)
        self._template = make_template(name, self._layer, create_scope_now_=create_scope_now)

    def _layer(self, features):
        columns = sorted_columns(self._feature_columns, DenseColumn, by_function=True)
        return _side_by_side(features, columns, self._weight_collections, self._trainable)

    def __call__(self, features):
        return self._template(features)

    name = property(lambda self: self._name)
    variables = property(lambda self: self._template.variables)
    trainable_variables = property(lambda self: self._template.trainable_variables)
    non_trainable_variables = property(lambda self: self._template.non_trainable_variables)
    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables


def flat_rows(tensor, column):
    """A column's dense tensor as a matrix with a row for each example."""
    batch_size = array.shape(tensor)[0]
    return array.reshape(tensor, (batch_size, column.variable_shape.num_elements()))
