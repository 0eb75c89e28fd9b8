"""`classifier_parse_example_spec` and `regressor_parse_example_spec`: features of columns, label and weight."""

from __future__ import annotations

from everflow.feature_column.columns import assert_for_layers
from everflow.feature_column.numeric import NumericColumn, numeric_column
from everflow.feature_column.parsing import make_parse_example_spec
from everflow.framework import dtypes
from everflow.ops.io.examples import FixedLenFeature


def classifier_parse_example_spec(
    feature_columns, label_key, label_dtype=dtypes.int64, label_default=None, weight_column=None
):
    """What `tf.io.parse_example` needs to give a classifier its features, its label (one class) and its weights.

    Args:
        feature_columns: The feature columns that the model sees.
        label_key: The name of the label.
        label_dtype: The type of the label.
        label_default: The label where an example has none; None makes that an error.
        weight_column: The feature that says how much each example counts.

    Returns:
        A dictionary for `tf.parse_example`.

    Raises:
        ValueError: If a name is taken twice.

    Example:
        >>> sorted(tf.estimator.classifier_parse_example_spec([tf.feature_column.numeric_column("x")], "label"))
        ['label', 'x']
    """
    label = FixedLenFeature((1,), label_dtype, label_default)
    return _with_label_and_weight(make_parse_example_spec(feature_columns), label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns, label_key, label_dtype=dtypes.float32, label_default=None, label_dimension=1, weight_column=None
):
    """What `tf.io.parse_example` needs to give a regressor its features, its label of some numbers and weights.

    Args:
        feature_columns: The feature columns that the model sees.
        label_key: The name of the label.
        label_dtype: The type of the label.
        label_default: The label where an example has none; None makes that an error.
        label_dimension: How many numbers are to be predicted for each example.
        weight_column: The feature that says how much each example counts.

    Returns:
        A dictionary for `tf.parse_example`.

    Raises:
        ValueError: If a name is taken twice.

    Example:
        >>> sorted(tf.estimator.regressor_parse_example_spec([tf.feature_column.numeric_column("x")], "label"))
        ['label', 'x']
    """
    label = FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_label_and_weight(make_parse_example_spec(feature_columns), label_key, label, weight_column)


def classifier_parse_example_spec_v2(
    feature_columns, label_key, label_dtype=dtypes.int64, label_default=None, weight_column=None
):
    """As `classifier_parse_example_spec`, for columns of TensorFlow 2."""
    assert_for_layers(feature_columns)
    return classifier_parse_example_spec(feature_columns, label_key, label_dtype, label_default, weight_column)


def regressor_parse_example_spec_v2(
    feature_columns, label_key, label_dtype=dtypes.float32, label_default=None, label_dimension=1, weight_column=None
):
    """As `regressor_parse_example_spec`, for columns of TensorFlow 2."""
    assert_for_layers(feature_columns)
    return regressor_parse_example_spec(
        feature_columns, label_key, label_dtype, label_default, label_dimension, weight_column
    )


def _with_label_and_weight(spec, label_key, label, weight_column):
    if label_key in spec:
        raise ValueError(f"label should not be used as feature. label_key: {label_key}, features: {spec.keys()}")
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column)
    if not isinstance(weight_column, NumericColumn):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. "
            f"Given type: {type(weight_column)} value: {weight_column}"
        )
    if weight_column.key in spec:
        raise ValueError(
            f"weight_column should not be used as feature. weight_column: {weight_column.key}, features: {spec.keys()}"
        )
    return {**spec, **weight_column.parse_example_spec}
