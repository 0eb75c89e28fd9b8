"""tf.estimator.inputs: input functions over data in memory."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.estimator.inputs.numpy_input import numpy_input_fn
from everflow.estimator.inputs.pandas_input import pandas_input_fn
