"""tf.contrib.eager: what eager programs were written with before it all moved to tf itself."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from typing import TYPE_CHECKING

from everflow.contrib.eager import metrics
from everflow.contrib.eager.callbacks import (
    ExecutionCallback,
    InfOrNanError,
    add_execution_callback,
    clear_execution_callbacks,
    errstate,
    inf_callback,
    inf_nan_callback,
    nan_callback,
    seterr,
)
from everflow.contrib.eager.differentiation import (
    gradients_function,
    implicit_gradients,
    implicit_value_and_gradients,
    value_and_gradients_function,
)
from everflow.contrib.eager.execution import (
    async_clear_error,
    async_wait,
    execution_mode,
    list_devices,
    num_gpus,
    run,
    set_execution_mode,
)
from everflow.contrib.eager.iterator import Iterator
from everflow.contrib.eager.network import Network, Sequential, restore_network_checkpoint, save_network_checkpoint
from everflow.contrib.eager.saver import Saver, get_optimizer_variables, restore_variables_on_create
from everflow.eager.mode import (
    ASYNC,
    DEVICE_PLACEMENT_EXPLICIT,
    DEVICE_PLACEMENT_SILENT,
    DEVICE_PLACEMENT_WARN,
    SYNC,
    enable_eager_execution,
)
from everflow.eager.py_function import py_function as py_func
from everflow.framework.lazy_names import lazy_names as _lazy_names
from everflow.framework.scopes import executing_eagerly
from everflow.framework.scopes import executing_eagerly as in_eager_mode
from everflow.framework.type_specs import TensorSpec
from everflow.ops.functions.traced import defun, function
from everflow.ops.gradients.custom import custom_gradient
from everflow.ops.gradients.tape import GradientTape
from everflow.ops.variables.auto_trackable import AutoTrackable as Checkpointable
from everflow.ops.variables.eager_store import EagerVariableStore
from everflow.ops.variables.resource import ResourceVariable as Variable
from everflow.ops.variables.template import make_template_internal as make_template
from everflow.test.modes import run_all_in_graph_and_eager_modes as run_all_tests_in_graph_and_eager_modes
from everflow.test.modes import run_in_graph_and_eager_modes as run_test_in_graph_and_eager_modes
from everflow.train.object_checkpoint import Checkpoint

if TYPE_CHECKING:  # loads grpc
    from everflow.config.connecting import experimental_connect_to_host as connect_to_remote_host
    from everflow.config.connecting import set_server_def
    from everflow.contrib.eager.remote import enable_remote_eager_execution

__getattr__, __dir__ = _lazy_names(__name__, __file__)
