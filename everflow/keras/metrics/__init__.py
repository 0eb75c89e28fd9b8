"""tf.keras.metrics: how good predictions are, as functions of samples, and as objects that count over batches."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.keras.engine.known_classes import register_classes as _register_classes
from everflow.keras.generic import reading_and_writing
from everflow.keras.losses import (
    KLD,
    MAE,
    MAPE,
    MSE,
    MSLE,
    binary_crossentropy,
    categorical_crossentropy,
    categorical_hinge,
    cosine,
    cosine_proximity,
    cosine_similarity,
    hinge,
    kld,
    kullback_leibler_divergence,
    logcosh,
    mae,
    mape,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    mse,
    msle,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from everflow.keras.metrics.confusion import (
    FalseNegatives,
    FalsePositives,
    MeanIoU,
    Precision,
    Recall,
    SensitivityAtSpecificity,
    SpecificityAtSensitivity,
    TrueNegatives,
    TruePositives,
)
from everflow.keras.metrics.curves import AUC
from everflow.keras.metrics.functions import (
    accuracy,
    binary_accuracy,
    categorical_accuracy,
    sparse_categorical_accuracy,
    sparse_top_k_categorical_accuracy,
    top_k_categorical_accuracy,
)
from everflow.keras.metrics.metric import Metric, clone_metric, clone_metrics
from everflow.keras.metrics.reductions import (
    Mean,
    MeanMetricWrapper,
    MeanRelativeError,
    MeanTensor,
    RootMeanSquaredError,
    Sum,
    SumOverBatchSizeMetricWrapper,
)
from everflow.keras.metrics.reductions import mean_of_function as _mean

Accuracy = _mean("Accuracy", accuracy, at="[1, 2, 3, 4], [1, 2, 0, 4]", gives="np.float32(0.75)")
BinaryAccuracy = _mean("BinaryAccuracy", binary_accuracy, arguments=[("threshold", 0.5)], gives="np.float32(0.5)")
CategoricalAccuracy = _mean("CategoricalAccuracy", categorical_accuracy, gives="np.float32(0.0)")
SparseCategoricalAccuracy = _mean(
    "SparseCategoricalAccuracy",
    sparse_categorical_accuracy,
    at="[[1], [0]], [[0.1, 0.9], [0.2, 0.8]]",
    gives="np.float32(0.5)",
)
TopKCategoricalAccuracy = _mean(
    "TopKCategoricalAccuracy", top_k_categorical_accuracy, arguments=[("k", 5)], gives="np.float32(1.0)"
)
SparseTopKCategoricalAccuracy = _mean(
    "SparseTopKCategoricalAccuracy",
    sparse_top_k_categorical_accuracy,
    arguments=[("k", 5)],
    at="[[2]], [[0.1, 0.2, 0.3, 0.1, 0.1, 0.2]]",
    gives="np.float32(1.0)",
)
BinaryCrossentropy = _mean(
    "BinaryCrossentropy",
    binary_crossentropy,
    arguments=[("from_logits", False), ("label_smoothing", 0)],
    gives="np.float32(0.69314694)",
)
CategoricalCrossentropy = _mean(
    "CategoricalCrossentropy",
    categorical_crossentropy,
    arguments=[("from_logits", False), ("label_smoothing", 0)],
    gives="np.float32(0.6931472)",
)
SparseCategoricalCrossentropy = _mean(
    "SparseCategoricalCrossentropy",
    sparse_categorical_crossentropy,
    arguments=[("from_logits", False), ("axis", -1)],
    at="[[1]], [[0.5, 0.5]]",
    gives="np.float32(0.6931472)",
)

_register_classes(Mean=Mean, Metric=Metric)
CosineSimilarity = _mean(
    "CosineSimilarity", cosine_proximity, "cosine_similarity", arguments=[("axis", -1)], gives="np.float32(0.70710677)"
)
MeanSquaredError = _mean("MeanSquaredError", mean_squared_error, gives="np.float32(0.25)")
MeanAbsoluteError = _mean("MeanAbsoluteError", mean_absolute_error, gives="np.float32(0.5)")
MeanAbsolutePercentageError = _mean(
    "MeanAbsolutePercentageError", mean_absolute_percentage_error, gives="np.float32(2.5000003e+08)"
)
MeanSquaredLogarithmicError = _mean(
    "MeanSquaredLogarithmicError", mean_squared_logarithmic_error, gives="np.float32(0.123581424)"
)
Hinge = _mean("Hinge", hinge, gives="np.float32(1.0)")
SquaredHinge = _mean("SquaredHinge", squared_hinge, gives="np.float32(1.25)")
CategoricalHinge = _mean("CategoricalHinge", categorical_hinge, gives="np.float32(1.0)")
KLDivergence = _mean("KLDivergence", kullback_leibler_divergence, gives="np.float32(0.69314563)")
Poisson = _mean("Poisson", poisson, gives="np.float32(0.8465735)")
LogCoshError = _mean("LogCoshError", logcosh, gives="np.float32(0.120114475)")


serialize, deserialize = reading_and_writing("metric", globals(), "Accuracy()", "metric function")


def get(identifier):
    """A metric from its name, a written one, a function or an object.

    Args:
        identifier: A name, a dictionary, an object or function, or None.

    Returns:
        A function or object.

    Raises:
        ValueError: If it stands for none.

    Example:
        >>> tf.keras.metrics.get("mse") is tf.keras.metrics.mean_squared_error
        True
    """
    if isinstance(identifier, (dict, str)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret metric function identifier: {identifier}")
