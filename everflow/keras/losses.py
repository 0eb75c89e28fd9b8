"""tf.keras.losses: how far predictions are from labels, as functions of samples, and as objects that reduce them."""

from __future__ import annotations

import inspect

from everflow.distribute.context import has_strategy
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.keras import backend as K
from everflow.keras.generic import from_identifier, reading_and_writing
from everflow.keras.loss_reduction import Reduction, compute_weighted_loss
from everflow.ops import array, math
from everflow.ops.control_flow.conditionals import smart_cond
from everflow.ops.nn import activations as nn
from everflow.ops.nn.normalization import l2_normalize
from everflow.platform.signatures import constructor

# --- functions -----------------------------------------------------------------------------------


def _tensors(y_true, y_pred):
    y_pred = convert_to_tensor(y_pred)
    return math.cast(y_true, y_pred.dtype), y_pred


def mean_squared_error(y_true, y_pred):
    """The mean of (y_true - y_pred)² over the last axis.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.losses.MSE(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
        array([0.25], dtype=float32)
    """
    y_true, y_pred = _tensors(y_true, y_pred)
    return K.mean(math.squared_difference(y_pred, y_true), axis=-1)


def mean_absolute_error(y_true, y_pred):
    """The mean of |y_true - y_pred| over the last axis.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.losses.MAE(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
        array([0.5], dtype=float32)
    """
    y_true, y_pred = _tensors(y_true, y_pred)
    return K.mean(math.abs(y_pred - y_true), axis=-1)


def mean_absolute_percentage_error(y_true, y_pred):
    """The mean of 100 * |y_true - y_pred| / |y_true| over the last axis.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.losses.MAPE(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
        array([2.5000003e+08], dtype=float32)
    """
    y_true, y_pred = _tensors(y_true, y_pred)
    difference = math.abs((y_true - y_pred) / K.clip(math.abs(y_true), K.epsilon(), None))
    return 100.0 * K.mean(difference, axis=-1)


def mean_squared_logarithmic_error(y_true, y_pred):
    """The mean of (log(y_true + 1) - log(y_pred + 1))² over the last axis.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.losses.MSLE(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
        array([0.12358142], dtype=float32)
    """
    y_true, y_pred = _tensors(y_true, y_pred)
    predicted = math.log(K.clip(y_pred, K.epsilon(), None) + 1.0)
    wanted = math.log(K.clip(y_true, K.epsilon(), None) + 1.0)
    return K.mean(math.squared_difference(predicted, wanted), axis=-1)


def _maybe_convert_labels(y_true):
    """Labels 0 and 1 as -1 and 1; others as they are."""
    """Labels -1 and 1, where 0 and 1 may have been given."""
    is_binary = math.reduce_all(math.logical_or(math.equal(y_true, 0), math.equal(y_true, 1)))
    return smart_cond(is_binary, lambda: 2.0 * y_true - 1.0, lambda: y_true)


def squared_hinge(y_true, y_pred):
    """The mean of max(0, 1 - y_true * y_pred)² over the last axis; labels are -1 and 1, or 0 and 1.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.losses.squared_hinge(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
        array([1.25], dtype=float32)
    """
    y_true, y_pred = _tensors(y_true, y_pred)
    y_true = _maybe_convert_labels(y_true)
    return K.mean(math.square(math.maximum(1.0 - y_true * y_pred, 0.0)), axis=-1)


def hinge(y_true, y_pred):
    """The mean of max(0, 1 - y_true * y_pred) over the last axis; labels are -1 and 1, or 0 and 1.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.losses.hinge(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
        array([1.], dtype=float32)
    """
    y_true, y_pred = _tensors(y_true, y_pred)
    y_true = _maybe_convert_labels(y_true)
    return K.mean(math.maximum(1.0 - y_true * y_pred, 0.0), axis=-1)


def categorical_hinge(y_true, y_pred):
    """How far the score of the right class is from being one above the best of the others.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.losses.categorical_hinge(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
        array([1.], dtype=float32)
    """
    y_true, y_pred = _tensors(y_true, y_pred)
    right = math.reduce_sum(y_true * y_pred, axis=-1)
    wrong = math.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return math.maximum(0.0, wrong - right + 1.0)


def huber_loss(y_true, y_pred, delta=1.0):
    """Half the square of small errors, and a straight line beyond delta; for each element."""
    y_pred = math.cast(y_pred, K.floatx())
    y_true = math.cast(y_true, K.floatx())
    error = math.abs(math.subtract(y_pred, y_true))
    quadratic = math.minimum(error, delta)
    linear = math.subtract(error, quadratic)
    half = convert_to_tensor(0.5, dtype=quadratic.dtype)
    return math.add(math.multiply(half, math.multiply(quadratic, quadratic)), math.multiply(delta, linear))


def logcosh(y_true, y_pred):
    """The mean of log(cosh(y_pred - y_true)) over the last axis.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.losses.logcosh(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
        array([0.12011448], dtype=float32)
    """
    y_true, y_pred = _tensors(y_true, y_pred)
    x = y_pred - y_true
    return K.mean(x + nn.softplus(-2.0 * x) - math.log(2.0), axis=-1)


def _smoothing(label_smoothing):
    return convert_to_tensor(label_smoothing, dtype=K.floatx())


def categorical_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0):
    """The cross entropy of rows that hold one-hot labels and probabilities (or scores, with `from_logits`).

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.
        from_logits: Whether predictions are scores that have not been through a sigmoid or softmax.
        label_smoothing: How far labels are moved towards all classes being equal, between 0 and 1.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.losses.categorical_crossentropy(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
        array([0.6931472], dtype=float32)
    """
    y_true, y_pred = _tensors(y_true, y_pred)
    label_smoothing = _smoothing(label_smoothing)

    def smoothed():
        classes = math.cast(array.shape(y_true)[1], y_pred.dtype)
        return y_true * (1.0 - label_smoothing) + (label_smoothing / classes)

    y_true = smart_cond(label_smoothing, smoothed, lambda: y_true)
    return K.categorical_crossentropy(y_true, y_pred, from_logits=from_logits)


def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, axis=-1):
    """The cross entropy of numbers of classes and rows of probabilities (or scores, with `from_logits`).

    Args:
        y_true: The right classes.
        y_pred: Probabilities: one axis more.
        from_logits: Whether predictions are scores that have not been through a sigmoid or softmax.
        axis: The axis to work along; negative ones count from the last.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.losses.sparse_categorical_crossentropy(tf.constant([1]), tf.constant([[0.5, 0.5]])))
        array([0.6931472], dtype=float32)
    """
    return K.sparse_categorical_crossentropy(y_true, y_pred, from_logits=from_logits, axis=axis)


def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0):
    """The mean cross entropy of labels 0 and 1 and probabilities (or scores, with `from_logits`) over the last axis.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.
        from_logits: Whether predictions are scores that have not been through a sigmoid or softmax.
        label_smoothing: How far labels are moved towards all classes being equal, between 0 and 1.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.losses.binary_crossentropy(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
        array([0.69314694], dtype=float32)
    """
    y_true, y_pred = _tensors(y_true, y_pred)
    label_smoothing = _smoothing(label_smoothing)
    y_true = smart_cond(
        label_smoothing, lambda: y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing, lambda: y_true
    )
    return K.mean(K.binary_crossentropy(y_true, y_pred, from_logits=from_logits), axis=-1)


def kullback_leibler_divergence(y_true, y_pred):
    """The divergence of predicted probabilities from the wanted ones.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.losses.KLD(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
        array([0.69314563], dtype=float32)
    """
    y_true, y_pred = _tensors(y_true, y_pred)
    y_true = K.clip(y_true, K.epsilon(), 1)
    y_pred = K.clip(y_pred, K.epsilon(), 1)
    return math.reduce_sum(y_true * math.log(y_true / y_pred), axis=-1)


def poisson(y_true, y_pred):
    """The mean of y_pred - y_true * log(y_pred) over the last axis.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.losses.poisson(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
        array([0.8465735], dtype=float32)
    """
    y_true, y_pred = _tensors(y_true, y_pred)
    return K.mean(y_pred - y_true * math.log(y_pred + K.epsilon()), axis=-1)


def cosine_proximity(y_true, y_pred, axis=-1):
    """The cosine of the angle between labels and predictions.

    Args:
        y_true: What is right.
        y_pred: What was predicted, of the same shape.
        axis: The axis to work along; negative ones count from the last.

    Returns:
        A tensor without the last axis.

    Example:
        >>> sess.run(tf.keras.losses.cosine(tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])))
        array([0.70710677], dtype=float32)
    """
    y_true = l2_normalize(y_true, axis=axis)
    y_pred = l2_normalize(y_pred, axis=axis)
    return math.reduce_sum(y_true * y_pred, axis=axis)


mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence
cosine = cosine_similarity = cosine_proximity


# --- objects -------------------------------------------------------------------------------------


class Loss:
    """Base of losses: subclasses give a loss for each sample in `call(y_true, y_pred)`.

    Args:
        reduction: How the losses of the examples become one: a value of `tf.losses.Reduction`.
        name: Its name.

    Example:
        >>> class Cubed(tf.keras.losses.Loss):
        ...     def call(self, y_true, y_pred):
        ...         return tf.reduce_mean(tf.abs(y_true - y_pred) ** 3, axis=-1)
        >>> sess.run(Cubed()(tf.constant([[0.0]]), tf.constant([[2.0]])))
        np.float32(8.0)
    """

    def __init__(self, reduction=Reduction.AUTO, name=None):
        Reduction.validate(reduction)
        self.reduction = reduction
        self.name = name

    def __call__(self, y_true, y_pred, sample_weight=None):
        """The loss of a batch, with a weight for each sample where given."""
        scope = "lambda" if self.name == "<lambda>" else self.name
        with name_scope(scope or type(self).__name__):
            losses = self.call(y_true, y_pred)
            return compute_weighted_loss(losses, sample_weight, reduction=self._get_reduction())

    def _get_reduction(self):
        """How losses become one; ValueError where that would be a mean over a replica's rows instead of the batch's."""
        is_mean = self.reduction in (Reduction.AUTO, Reduction.SUM_OVER_BATCH_SIZE)
        if is_mean and has_strategy():
            raise ValueError(
                f"The loss {self.name or type(self).__name__} is a mean over the rows that it sees, and under a strategy these are one "
                "replica's. Make it with a `tf.keras.losses.Reduction` of SUM or NONE, and divide by the size of the "
                "whole batch: `tf.nn.compute_average_loss` does."
            )
        return Reduction.SUM_OVER_BATCH_SIZE if is_mean else self.reduction

    @classmethod
    def from_config(cls, config):
        """A loss from what `get_config` gave."""
        return cls(**config)

    def get_config(self):
        """The arguments that make this loss again."""
        return {"reduction": self.reduction, "name": self.name}

    def call(self, y_true, y_pred):
        """A loss for each sample."""
        raise NotImplementedError("Must be implemented in subclasses.")


class LossFunctionWrapper(Loss):
    """A loss object of a loss function."""

    def __init__(self, fn, reduction=Reduction.AUTO, name=None, **kwargs):
        super().__init__(reduction=reduction, name=name)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true, y_pred):
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self):
        config = {key: K.eval(value) if isinstance(value, Tensor) else value for key, value in self._fn_kwargs.items()}
        return {**super().get_config(), **config}


_DOCUMENT = """{about}

Args:
{own}    reduction: How the losses of the examples become one: a value of `tf.losses.Reduction`.
    name: Its name.

Example:
    >>> loss = tf.keras.losses.{name}()
    >>> sess.run(loss({at}))
    {gives}
"""
_ARGUMENTS = {
    "from_logits": "Whether predictions are scores that have not been through a sigmoid or softmax.",
    "label_smoothing": "How far labels are moved towards all classes being equal, between 0 and 1.",
    "delta": "Where it becomes linear.",
    "axis": "The axis along which vectors lie.",
}
_AT = "[[0.0, 1.0]], tf.constant([[0.5, 0.5]])"


def _loss_class(class_name, fn, doc=None, name=None, *, gives, at=_AT, **arguments):
    """The class of a function, whose own arguments come first. `at` labels and predictions it `gives` a number: its
    example.
    """
    parameters = {**arguments, "reduction": Reduction.AUTO, "name": name or fn.__name__}
    start = constructor(parameters, lambda self, **given: LossFunctionWrapper.__init__(self, fn, **given))
    about = (doc or fn.__doc__).partition("\n")[0]
    own = "".join(f"    {argument}: {_ARGUMENTS[argument]}\n" for argument in arguments)
    document = _DOCUMENT.format(about=about, own=own, name=class_name, at=at, gives=gives)
    return type(class_name, (LossFunctionWrapper,), {"__init__": start, "__doc__": document, "__module__": __name__})


MeanSquaredError = _loss_class("MeanSquaredError", mean_squared_error, gives="np.float32(0.25)")
MeanAbsoluteError = _loss_class("MeanAbsoluteError", mean_absolute_error, gives="np.float32(0.5)")
MeanAbsolutePercentageError = _loss_class(
    "MeanAbsolutePercentageError", mean_absolute_percentage_error, gives="np.float32(2.5000003e+08)"
)
MeanSquaredLogarithmicError = _loss_class(
    "MeanSquaredLogarithmicError", mean_squared_logarithmic_error, gives="np.float32(0.123581424)"
)
Hinge = _loss_class("Hinge", hinge, gives="np.float32(1.0)")
SquaredHinge = _loss_class("SquaredHinge", squared_hinge, gives="np.float32(1.25)")
CategoricalHinge = _loss_class("CategoricalHinge", categorical_hinge, gives="np.float32(1.0)")
Poisson = _loss_class("Poisson", poisson, gives="np.float32(0.8465735)")
LogCosh = _loss_class("LogCosh", logcosh, gives="np.float32(0.120114475)")
KLDivergence = _loss_class("KLDivergence", kullback_leibler_divergence, gives="np.float32(0.69314563)")


class BinaryCrossentropy(LossFunctionWrapper):
    """The cross entropy of labels 0 and 1; smoothing moves labels towards a half.

    Args:
        from_logits: Whether predictions are scores that have not been through a sigmoid or softmax.
        label_smoothing: How far labels are moved towards all classes being equal, between 0 and 1.
        reduction: How the losses of the examples become one: a value of `tf.losses.Reduction`.
        name: Its name.

    Example:
        >>> loss = tf.keras.losses.BinaryCrossentropy()
        >>> sess.run(loss([[0.0, 1.0]], tf.constant([[0.5, 0.5]])))
        np.float32(0.69314694)
    """

    def __init__(self, from_logits=False, label_smoothing=0, reduction=Reduction.AUTO, name="binary_crossentropy"):
        own = {"from_logits": from_logits, "label_smoothing": label_smoothing}
        super().__init__(binary_crossentropy, name=name, reduction=reduction, **own)
        self.from_logits = from_logits


CategoricalCrossentropy = _loss_class(
    "CategoricalCrossentropy",
    categorical_crossentropy,
    "The cross entropy of one-hot labels; smoothing moves them towards all classes alike.",
    from_logits=False,
    label_smoothing=0,
    gives="np.float32(0.6931472)",
)
SparseCategoricalCrossentropy = _loss_class(
    "SparseCategoricalCrossentropy",
    sparse_categorical_crossentropy,
    "The cross entropy of numbers of classes.",
    from_logits=False,
    at="[1], tf.constant([[0.5, 0.5]])",
    gives="np.float32(0.6931472)",
)
Huber = _loss_class(
    "Huber",
    huber_loss,
    "Half the square of small errors, and a straight line beyond delta.",
    delta=1.0,
    gives="np.float32(0.125)",
)
CosineSimilarity = _loss_class(
    "CosineSimilarity", cosine_similarity, name="cosine_similarity", axis=-1, gives="np.float32(0.70710677)"
)


# --- by name -------------------------------------------------------------------------------------


def is_categorical_crossentropy(loss):
    """Whether a loss is the categorical cross entropy, in any of its forms."""
    if isinstance(loss, CategoricalCrossentropy):
        return True
    if isinstance(loss, LossFunctionWrapper):
        return loss.fn == categorical_crossentropy
    if inspect.isfunction(loss):
        return loss.__name__ == "categorical_crossentropy"
    return loss == "categorical_crossentropy"


serialize, deserialize = reading_and_writing("loss", globals(), "Huber()", "loss function", "name")


def get(identifier):
    """A loss from its name, a written one, a function or object, or None.

    Args:
        identifier: A name, a dictionary, an object or function, or None.

    Returns:
        A function or object, or None.

    Raises:
        ValueError: If it stands for none.

    Example:
        >>> tf.keras.losses.get("mse") is tf.keras.losses.mean_squared_error
        True
    """
    return from_identifier(identifier, deserialize, "loss function")
