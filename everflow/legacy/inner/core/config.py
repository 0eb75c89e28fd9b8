"""Names that tensorflow.python.framework.config has for what is in tf.config.optimizer."""

# ruff: noqa: F401  Names handed on are the purpose of this file.

from everflow.config.optimizer import get_experimental_options as get_optimizer_experimental_options
from everflow.config.optimizer import get_jit as get_optimizer_jit
from everflow.config.optimizer import set_experimental_options as set_optimizer_experimental_options
from everflow.config.optimizer import set_jit as set_optimizer_jit
