"""tf.contrib.estimator: heads to build estimators on, and functions that make estimators do more."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.estimator.boosted_trees import (
    boosted_trees_classifier_train_in_memory,
    boosted_trees_regressor_train_in_memory,
)
from everflow.contrib.estimator.extenders import clip_gradients_by_norm, forward_features
from everflow.contrib.estimator.heads import (
    binary_classification_head,
    logistic_regression_head,
    multi_class_head,
    multi_head,
    multi_label_head,
    poisson_regression_head,
    regression_head,
)
from everflow.contrib.estimator.layer_annotations import (
    DNNClassifierWithLayerAnnotations,
    DNNRegressorWithLayerAnnotations,
)
from everflow.contrib.estimator.rnn import RNNClassifier, RNNEstimator
from everflow.contrib.estimator.saved_model_estimator import SavedModelEstimator
from everflow.contrib.estimator.saved_models import (
    build_supervised_input_receiver_fn_from_input_fn,
    export_all_saved_models,
    export_saved_model_for_mode,
)
from everflow.contrib.estimator.towers import TowerOptimizer, replicate_model_fn
from everflow.estimator.canned.logit_functions import call_logit_fn
from everflow.estimator.experimental import (
    build_raw_supervised_input_receiver_fn,
    dnn_logit_fn_builder,
    linear_logit_fn_builder,
)
from everflow.estimator.extenders import add_metrics
