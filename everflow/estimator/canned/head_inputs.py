"""What heads do with logits, labels and weights: they are brought to matching shapes, and checked in the graph."""

from __future__ import annotations

from everflow.estimator.arguments import fn_args
from everflow.feature_column.cache import FeatureTransformationCache
from everflow.feature_column.numeric import NumericColumn, numeric_column
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor_or_sparse_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.checks import shapes as check_shapes
from everflow.ops.checks import values as check
from everflow.ops.control_flow import Assert
from everflow.ops.control_flow.conditionals import cond

NO_LABELS = (
    "You must provide a labels Tensor. Given: None. Check that your data contains your label feature, and that your input_fn parses and "
    "returns it."
)


_WEIGHTS_SHAPE = "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]"


def checked_logits(logits, expected_dimension):
    """Logits as floats of shape [D0, ... DN, expected_dimension]; ValueError where the last dimension can't be."""
    if logits is None:
        raise ValueError("logits cannot be None.")
    with name_scope(None, "logits", (logits,)) as scope:
        logits = math.to_float(logits)
        shape = array.shape(logits)
        assert_rank = check_shapes.assert_rank_at_least(
            logits, 2, data=[shape], message="logits shape must be [D0, D1, ... DN, logits_dimension]"
        )
        with control_dependencies([assert_rank]):
            static = logits.shape
            if static.ndims is not None and static.dims[-1].value is not None:
                if static.dims[-1].value != expected_dimension:
                    raise ValueError(
                        f"logits shape must be [D0, D1, ... DN, logits_dimension], got {static}: the last dimension should be "
                        f"{expected_dimension}."
                    )
                return logits
            expected = array.concat([shape[:-1], [expected_dimension]], axis=0)
            message = "logits shape must be [D0, D1, ... DN, logits_dimension]"
            assert_dimension = _assert_shape(
                expected, shape, message, expected_logits_shape=expected, logits_shape=shape
            )
            with control_dependencies([assert_dimension]):
                return array.identity(logits, name=scope)


def _told(**shapes):
    """What the op of a failed check tells: names of shapes and what they are."""
    return [part for name, shape in shapes.items() for part in (f"{name}: ", shape)]


def _assert_shape(expected, shape, message, **shapes):
    return check.assert_equal(expected, shape, message=message, data=_told(**shapes))


def with_last_dimension(tensor):
    """A tensor of rank 1 becomes a column."""
    rank = tensor.shape.ndims
    if rank is not None:
        return array.expand_dims(tensor, -1) if rank == 1 else tensor
    return cond(math.equal(1, array.rank(tensor)), lambda: array.expand_dims(tensor, -1), lambda: tensor)


def checked_labels(labels, logits, expected_dimension):
    """Dense labels of shape [D0, ... DN, expected_dimension], where the D are those of logits."""
    if labels is None:
        raise ValueError(NO_LABELS)
    with name_scope(None, "labels", (labels, logits)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            raise ValueError(
                f"SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, ..., DN, {expected_dimension}], e.g. "
                f"[batch_size, {expected_dimension}]. Check the label feature in your data."
            )
        labels = with_last_dimension(labels)
        shape, logits_shape = array.shape(labels), array.shape(logits)
        message = (
            f"labels shape must be [D0, D1, ... DN, {expected_dimension}]. Suggested Fix: check your n_classes argument to the estimator "
            "and/or the shape of your label."
        )
        assert_rank = check_shapes.assert_rank_at_least(labels, 2, message=message)
        with control_dependencies([assert_rank]):
            static = labels.shape
            if static.ndims is not None and static.dims[-1].value not in (None, expected_dimension):
                raise ValueError(
                    f"Mismatched label shape. Expected labels dimension={expected_dimension}.  Received {static.dims[-1].value}. "
                    "Suggested Fix: If your classifier expects one-hot encoding label, check your n_classes argument to the estimator "
                    "and/or the shape of your label. Otherwise, check the shape of your label."
                )
            expected = array.concat([logits_shape[:-1], [expected_dimension]], axis=0)
            assert_dimension = _assert_shape(
                expected, shape, message, expected_labels_shape=expected, labels_shape=shape
            )
            with control_dependencies([assert_dimension]):
                return array.identity(labels, name=scope)


def checked_range(labels, n_classes, message=None):
    """Labels, checked to be in [0, n_classes)."""
    with name_scope(None, "assert_range", (labels,)):
        less = check.assert_less_equal(
            labels, constant(n_classes - 1, dtype=labels.dtype), message=message or "Labels must <= n_classes - 1"
        )
        positive = check.assert_non_negative(labels, message=message or "Labels must >= 0")
        with control_dependencies((less, positive)):
            return array.identity(labels)


def weights_of(features, weight_column, logits, per_logit=False):
    """The examples' weights, 1.0 without a weight column; a row's, or with `per_logit` of the shape of logits."""
    if weight_column is None:
        return 1.0
    with name_scope(None, "weights", (*features.values(), logits)) as scope:
        weights = _weights(features, weight_column)
        shape = array.shape(weights, name="weights_shape")
        logits_shape = array.shape(logits, name="logits_shape")
        ranks = weights.shape.ndims, logits.shape.ndims
        if None not in ranks and ranks[0] == ranks[1] - 1:
            assert_dimension = _assert_shape(
                logits_shape[:-1], shape, _WEIGHTS_SHAPE, logits_shape=logits_shape, weights_shape=shape
            )
            with control_dependencies([assert_dimension]):
                return array.expand_dims(weights, -1, name=scope)
        expected = array.concat([logits_shape[:-1], [1]], axis=0)
        if per_logit:
            same = math.reduce_all(math.equal(logits_shape, shape))
            single = math.reduce_all(math.equal(expected, shape))
            message = (
                "weights shape must be [D0, D1, ... DN], [D0, D1, ... DN, 1] or [D0, D1, ... DN, logits_dimension]"
            )
            data = [message, *_told(logits_shape=logits_shape, weights_shape=shape)]
            assert_dimension = Assert(math.reduce_any([same, single]), data=data)
        else:
            assert_dimension = _assert_shape(
                expected, shape, _WEIGHTS_SHAPE, logits_shape=logits_shape, weights_shape=shape
            )
        with control_dependencies([assert_dimension]):
            return array.identity(weights, name=scope)


def _weights(features, weight_column):
    if isinstance(weight_column, str):
        weight_column = numeric_column(key=weight_column, shape=(1,))
    if not isinstance(weight_column, NumericColumn):
        raise TypeError(f"Weight column must be either a string or NumericColumn. Given type: {type(weight_column)}.")
    weights = FeatureTransformationCache(features).get(weight_column.key)
    if not (weights.dtype.is_floating or weights.dtype.is_integer):
        raise ValueError(f"Weight column should be castable to float. Given dtype: {weights.dtype}")
    if weight_column.normalizer_fn is not None:
        weights = weight_column.normalizer_fn(weights)
    return math.to_float(weights, name="weights")


def call_loss_fn(loss_fn, labels, logits, features, expected_dimension=1):
    """What a program's loss function gives, checked to be of shape [D0, ... DN, expected_dimension]."""
    names = fn_args(loss_fn)
    more = {"features": features} if "features" in names else {}
    with name_scope(None, "call_loss_fn", (labels, logits)):
        loss = loss_fn(labels=labels, logits=logits, **more)
        logits_shape = array.shape(logits, name="logits_shape")
        expected = array.concat([logits_shape[:-1], [expected_dimension]], axis=0, name="expected_loss_shape")
        shape = array.shape(loss, name="loss_shape")
        words = f"loss_fn must return Tensor of shape [D0, D1, ... DN, {expected_dimension}]. "
        data = [words, *_told(logits_shape=logits_shape, loss_shape=shape)]
        checked = Assert(math.reduce_all(math.equal(shape, expected)), data=data, name="check_loss_shape")
        with control_dependencies([checked]):
            return array.identity(loss)


def check_loss_fn(loss_fn):
    """ValueError for a loss function with other arguments than labels, logits, features and loss_reduction."""
    names = fn_args(loss_fn)
    for needed in ("labels", "logits"):
        if needed not in names:
            raise ValueError(f"loss_fn must contain argument: {needed}. Given arguments: {names}")
    unknown = sorted(set(names) - {"labels", "logits", "features", "loss_reduction"})
    if unknown:
        raise ValueError(f"loss_fn has unexpected args: {unknown}")
