"""The three kinds of each canned estimator: for any head, for classes, and for numbers.

A family lists all parameters of its kinds once, in their order; each kind takes those that make sense for it, and the
family's `_set_up` gets the head and the rest.
"""

from __future__ import annotations

from everflow.estimator.canned.classification_heads import binary_or_multi_class_head
from everflow.estimator.canned.regression_heads import RegressionHead
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

# The default of `loss_reduction`, for lists of parameters.
SUM = Reduction.SUM
