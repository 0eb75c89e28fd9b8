"""tf.contrib.opt: further optimizers, wrappers around optimizers, and scipy's as an optimizer."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.contrib.opt.adam_variants import AdaMaxOptimizer, LazyAdamOptimizer, NadamOptimizer
from everflow.contrib.opt.adam_with_step import AdamGSOptimizer, LazyAdamGSOptimizer
from everflow.contrib.opt.agn import AGNCustomGetter, AGNOptimizer
from everflow.contrib.opt.drop_stale import DropStaleGradientOptimizer
from everflow.contrib.opt.elastic_average import ElasticAverageCustomGetter, ElasticAverageOptimizer
from everflow.contrib.opt.external import ExternalOptimizerInterface, ScipyOptimizerInterface
from everflow.contrib.opt.ggt import GGTOptimizer
from everflow.contrib.opt.lars import LARSOptimizer
from everflow.contrib.opt.model_average import ModelAverageCustomGetter, ModelAverageOptimizer
from everflow.contrib.opt.reg_adagrad import RegAdagradOptimizer
from everflow.contrib.opt.shampoo import ShampooOptimizer
from everflow.contrib.opt.sign import AddSignOptimizer, PowerSignOptimizer
from everflow.contrib.opt.weight_decay import (
    AdamWOptimizer,
    DecoupledWeightDecayExtension,
    MomentumWOptimizer,
    extend_with_decoupled_weight_decay,
)
from everflow.contrib.opt.wrappers import (
    MovingAverageOptimizer,
    MultitaskOptimizerWrapper,
    VariableClippingOptimizer,
    clip_gradients_by_global_norm,
)
