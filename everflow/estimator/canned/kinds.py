"""The three kinds of each canned estimator: for any head, for classes, and for numbers.

A family lists all parameters of its kinds once, in their order; each kind takes those that make sense for it, and the
family's `_set_up` gets the head and the rest.
"""

from __future__ import annotations

from everflow.estimator.canned.classification_heads import binary_or_multi_class_head
from everflow.estimator.canned.regression_heads import RegressionHead
from everflow.estimator.head import BinaryClassHead, MultiClassHead
from everflow.estimator.head import RegressionHead as PublicRegressionHead
from everflow.keras.loss_reduction import Reduction as KerasReduction
from everflow.losses import Reduction
from everflow.platform.signatures import constructor

_OF_HEADS = ("n_classes", "label_dimension", "weight_column", "label_vocabulary", "loss_reduction")


def _kind(make_head, without):
    def of_family(listed, but=()):
        left = {name: default for name, default in listed.items() if name not in (*without, *but)}

        def start(self, **given):
            of_head = {name: given.pop(name) for name in ("head", *_OF_HEADS) if name in given}
            self._set_up(make_head(**of_head), **given)

        def decorate(cls):
            cls.__init__ = constructor(left, start)
            return cls

        return decorate

    return of_family


for_any_head = _kind(lambda head: head, without=_OF_HEADS)
classifier = _kind(binary_or_multi_class_head, without=("head", "label_dimension"))
regressor = _kind(RegressionHead, without=("head", "n_classes", "label_vocabulary"))


def _public_classification_head(n_classes, **settings):
    return BinaryClassHead(**settings) if n_classes == 2 else MultiClassHead(n_classes, **settings)


# Those of TensorFlow 2.
classifier_v2 = _kind(_public_classification_head, without=("head", "label_dimension"))
regressor_v2 = _kind(PublicRegressionHead, without=("head", "n_classes", "label_vocabulary"))

# The defaults of `loss_reduction`, for lists of parameters.
SUM = Reduction.SUM
MEAN = KerasReduction.SUM_OVER_BATCH_SIZE
