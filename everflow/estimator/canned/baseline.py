"""Models that ignore their features: they learn the mean of the labels, which others have to do better than."""

from __future__ import annotations

from everflow.estimator.canned.dnn import assert_features_are_dict
from everflow.estimator.canned.kinds import SUM, classifier, for_any_head, regressor
from everflow.estimator.canned.optimizers import get_optimizer_instance
from everflow.estimator.estimator import Estimator
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math
from everflow.ops.checks.values import assert_equal
from everflow.ops.variables.global_step import get_global_step
from everflow.ops.variables.initializers import zeros_initializer
from everflow.ops.variables.scope import get_variable, variable_scope
from everflow.platform.signatures import parameters

_LEARNING_RATE = 0.3


def batch_size_and_checks(features, weight_column):
    """(how many examples there are by the first feature, the ops that check that all features have as many); weights
    don't count.
    """
    assert_features_are_dict(features)
    if not features:
        raise ValueError(
            "The features should not be an empty dictionary: a baseline model needs one to count examples."
        )
    first, checks = None, []
    for feature in (feature for name, feature in features.items() if name != weight_column):
        size = array.shape(feature)[0]
        if first is None:
            first = size
        else:
            checks.append(assert_equal(first, size))
    return first, checks


def _logits(features, units, weight_column):
    batch_size, checks = batch_size_and_checks(features, weight_column)
    with control_dependencies(checks), variable_scope("baseline", values=tuple(features.values())):
        bias = get_variable("bias", shape=[units], initializer=zeros_initializer())
        return math.multiply(bias, array.ones([batch_size, units]))


_PARAMETERS = parameters(
    """head, model_dir=None, n_classes=2, label_dimension=1, weight_column=None, label_vocabulary=None,
    optimizer="Ftrl", config=None, loss_reduction=SUM""",
    SUM=SUM,
)


@for_any_head(_PARAMETERS)
class BaselineEstimator(Estimator):
    """A baseline for any head.

    Args:
        head: What turns the model's result into predictions and a loss: a head of `tf.contrib.estimator`.
        model_dir: The folder of checkpoints and event files.
        optimizer: An optimizer, a function that makes one, or its name.
        config: A `tf.estimator.RunConfig`: where and how to run.

    Example:
        >>> head = tf.estimator.RegressionHead()
        >>> tf.estimator.BaselineEstimator(head, model_dir="model").model_dir
        'model'
    """

    def _set_up(self, head, model_dir, optimizer, config):
        # Classifiers only, as in TensorFlow.
        weight_column = getattr(head, "_weight_column", None) if isinstance(self, BaselineClassifier) else None

        def model_fn(features, labels, mode, config):
            logits = _logits(features, head.logits_dimension, weight_column)
            return head.create_estimator_spec(
                features=features, mode=mode, logits=logits, labels=labels, train_op_fn=train_op_fn
            )

        def train_op_fn(loss):
            return get_optimizer_instance(optimizer, learning_rate=_LEARNING_RATE).minimize(
                loss, global_step=get_global_step()
            )

        Estimator.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config)


@classifier(_PARAMETERS)
class BaselineClassifier(BaselineEstimator):
    """Tells how frequent each class is.

    Args:
        model_dir: The folder of checkpoints and event files.
        n_classes: How many classes there are.
        weight_column: The feature that says how much each example counts.
        label_vocabulary: The labels as strings; None for whole numbers from 0.
        optimizer: An optimizer, a function that makes one, or its name.
        config: A `tf.estimator.RunConfig`: where and how to run.
        loss_reduction: How the losses of a batch become one: a value of `tf.losses.Reduction`.

    Example:
        >>> classifier = tf.estimator.BaselineClassifier(n_classes=3, model_dir="model")
        >>> data = tf.estimator.inputs.numpy_input_fn({"x": np.ones([4])}, np.array([0, 1, 2, 1]), shuffle=False)
        >>> classifier.train(data).get_variable_value("global_step")
        np.int64(1)
    """


@regressor(_PARAMETERS)
class BaselineRegressor(BaselineEstimator):
    """Predicts the mean of the labels.

    Args:
        model_dir: The folder of checkpoints and event files.
        label_dimension: How many numbers are to be predicted for each example.
        weight_column: The feature that says how much each example counts.
        optimizer: An optimizer, a function that makes one, or its name.
        config: A `tf.estimator.RunConfig`: where and how to run.
        loss_reduction: How the losses of a batch become one: a value of `tf.losses.Reduction`.

    Example:
        >>> regressor = tf.estimator.BaselineRegressor(model_dir="model")
        >>> data = tf.estimator.inputs.numpy_input_fn({"x": np.ones([4])}, np.ones([4], np.float32), shuffle=False)
        >>> regressor.train(data).get_variable_value("global_step")
        np.int64(1)
    """
