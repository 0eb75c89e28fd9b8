"""`tensorflow.python.keras.testing_utils`: what tests of Keras programs are made of. Models of every kind in models.py,
a layer put to the test in layers.py, the kinds and modes a test is to run with in scopes.py.
"""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.legacy.inner.keras_testing.layers import layer_test
from everflow.legacy.inner.keras_testing.materials import (
    disable_v2_dtype_behavior,
    enable_v2_dtype_behavior,
    get_expected_metric_variable_names,
    get_test_data,
    get_v2_optimizer,
)
from everflow.legacy.inner.keras_testing.models import (
    _MultiIOSubclassModel,
    _MultiIOSubclassModelCustomBuild,
    _SmallSubclassMLP,
    _SmallSubclassMLPCustomBuild,
    _SubclassModel,
    _SubclassModelCustomBuild,
    get_model_from_layers,
    get_multi_io_model,
    get_small_functional_mlp,
    get_small_mlp,
    get_small_sequential_mlp,
    get_small_subclass_mlp,
    get_small_subclass_mlp_with_custom_build,
)
from everflow.legacy.inner.keras_testing.scopes import (
    experimental_run_tf_function_scope,
    get_model_type,
    model_type_scope,
    run_eagerly_scope,
    should_run_eagerly,
    should_run_tf_function,
)
