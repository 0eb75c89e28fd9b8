"""tf.estimator: models as objects that train, evaluate, predict and export themselves from one model function."""

# The re-exports are the purpose of this file, in the families' order rather than the alphabet's.
# ruff: noqa: F401, I001

from __future__ import annotations

# --- sessions and hooks, which are tf.train's
from everflow.train.hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    ProfilerHook,
    SecondOrStepTimer,
    StepCounterHook,
    StopAtStepHook,
    SummarySaverHook,
)
from everflow.train.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from everflow.train.warm_starting import VocabInfo

# --- the estimator, what it is made of and what it is run with
from everflow.estimator import experimental, export, inputs, tpu
from everflow.estimator.estimator import Estimator
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.run_config import RunConfig
from everflow.estimator.spec import EstimatorSpec
from everflow.estimator.warm_start_settings import WarmStartSettings

# --- training and evaluating together
from everflow.estimator.extenders import add_metrics
from everflow.estimator.exporter import BestExporter, Exporter, FinalExporter, LatestExporter
from everflow.estimator.training import EvalSpec, TrainSpec, train_and_evaluate

# --- ready-made models
from everflow.estimator.canned.baseline import BaselineClassifier, BaselineEstimator, BaselineRegressor
from everflow.estimator.canned.boosted_trees import BoostedTreesClassifier, BoostedTreesEstimator, BoostedTreesRegressor
from everflow.estimator.canned.dnn import DNNClassifier, DNNEstimator, DNNRegressor
from everflow.estimator.canned.dnn_linear_combined import (
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
)
from everflow.estimator.canned.linear import LinearClassifier, LinearEstimator, LinearRegressor
from everflow.estimator.canned.parsing import classifier_parse_example_spec, regressor_parse_example_spec

# --- heads
from everflow.estimator.head import (
    BinaryClassHead,
    Head,
    LogisticRegressionHead,
    MultiClassHead,
    MultiLabelHead,
    PoissonRegressionHead,
    RegressionHead,
)
from everflow.estimator.multi_head import MultiHead
