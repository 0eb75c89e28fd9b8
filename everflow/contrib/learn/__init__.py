"""tf.contrib.learn: estimators as they were before tf.estimator, preprocessing, and data sets."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.learn import datasets, learn_runner, monitors, preprocessing, utils
from everflow.contrib.learn.class_heads import multi_class_head, multi_label_head
from everflow.contrib.learn.column_inference import (
    infer_real_valued_columns_from_input,
    infer_real_valued_columns_from_input_fn,
)
from everflow.contrib.learn.dnn import DNNClassifier, DNNEstimator, DNNRegressor
from everflow.contrib.learn.dnn_linear_combined import (
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
)
from everflow.contrib.learn.dynamic_rnn_estimator import DynamicRnnEstimator
from everflow.contrib.learn.estimator import BaseEstimator, Estimator, Evaluable, NotFittedError, SKCompat, Trainable
from everflow.contrib.learn.experiment import Experiment
from everflow.contrib.learn.export_strategies import ExportStrategy, make_export_strategy
from everflow.contrib.learn.graph_actions import evaluate, infer, run_feeds, run_n, train
from everflow.contrib.learn.graph_io import (
    read_batch_examples,
    read_batch_features,
    read_batch_record_features,
    read_keyed_batch_examples,
    read_keyed_batch_examples_shared_queue,
    read_keyed_batch_features,
    read_keyed_batch_features_shared_queue,
)
from everflow.contrib.learn.heads import (
    Head,
    no_op_train_fn,
    poisson_regression_head,
    regression_head,
)
from everflow.contrib.learn.kmeans import KMeansClustering
from everflow.contrib.learn.linear import LinearClassifier, LinearEstimator, LinearRegressor
from everflow.contrib.learn.logistic_regressor import LogisticRegressor
from everflow.contrib.learn.metric_spec import MetricSpec
from everflow.contrib.learn.model_ops import InputFnOps, ModeKeys, ModelFnOps, PredictionKey, ProblemType
from everflow.contrib.learn.run_config import RunConfig, TaskType
from everflow.contrib.learn.serving import build_parsing_serving_input_fn
from everflow.contrib.learn.svm import SVM
from everflow.contrib.learn.svm_head import binary_svm_head, loss_only_head, multi_head
from everflow.contrib.learn.tables import (
    extract_dask_data,
    extract_dask_labels,
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
)
from everflow.train.hooks import NanLossDuringTrainingError
