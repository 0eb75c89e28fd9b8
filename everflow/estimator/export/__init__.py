"""tf.estimator.export: what a SavedModel of an estimator is fed with, and what it gives."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.estimator.export.outputs import ClassificationOutput, ExportOutput, PredictOutput, RegressionOutput
from everflow.estimator.export.receivers import (
    ServingInputReceiver,
    TensorServingInputReceiver,
    build_parsing_serving_input_receiver_fn,
    build_raw_serving_input_receiver_fn,
)
