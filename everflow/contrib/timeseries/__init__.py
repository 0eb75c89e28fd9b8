"""tf.contrib.timeseries: series from files and arrays, and estimators that learn to go on with them."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.timeseries import saved_model_utils
from everflow.contrib.timeseries.ar_model import ARModel
from everflow.contrib.timeseries.estimators import ARRegressor, StructuralEnsembleRegressor, TimeSeriesRegressor
from everflow.contrib.timeseries.feature_keys import FilteringResults, TrainEvalFeatures
from everflow.contrib.timeseries.head import OneShotPredictionHead
from everflow.contrib.timeseries.input_pipeline import (
    CSVReader,
    NumpyReader,
    RandomWindowInputFn,
    WholeDatasetInputFn,
    predict_continuation_input_fn,
)
