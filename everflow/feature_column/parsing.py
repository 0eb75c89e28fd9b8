"""`make_parse_example_spec`: what `tf.io.parse_example` has to know to give columns their features."""

from __future__ import annotations

from everflow.feature_column.columns import FeatureColumn


def make_parse_example_spec(feature_columns):
    """{key: FixedLenFeature or VarLenFeature} for all features that the columns need.

    Args:
        feature_columns: The feature columns.

    Returns:
        A dictionary for `tf.parse_example`.

    Raises:
        ValueError: If a column is of the wrong kind, or columns want something different of a feature.

    Example:
        >>> tf.feature_column.make_parse_example_spec([tf.feature_column.numeric_column("price")])
        {'price': FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)}
    """
    result = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"All feature_columns must be _FeatureColumn instances, not {column!r}")
        for key, spec in column.parse_example_spec.items():
            if key in result and spec != result[key]:
                raise ValueError(
                    f"Columns want key {key} parsed in two ways (different parse_spec): {spec} and {result[key]}."
                )
            result[key] = spec
    return result
