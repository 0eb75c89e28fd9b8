"""tf.contrib.learn.utils: exporting, and the input of what is exported."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.learn import export_strategies as saved_model_export_utils
from everflow.contrib.learn.export_strategies import make_export_strategy
from everflow.contrib.learn.model_ops import InputFnOps
from everflow.contrib.learn.serving import build_parsing_serving_input_fn
