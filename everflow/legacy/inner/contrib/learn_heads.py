"""Heads of tf.contrib.learn under the names that they have inside of its module `head`."""

from everflow.contrib.learn.class_heads import BinaryHead as _BinaryLogisticHead
from everflow.contrib.learn.class_heads import MultiClassHead as _MultiClassHead
from everflow.contrib.learn.class_heads import MultiLabelHead as _MultiLabelHead
from everflow.contrib.learn.class_heads import multi_class_head as _multi_class_head
from everflow.contrib.learn.class_heads import multi_label_head as _multi_label_head
from everflow.contrib.learn.heads import Head as _Head
from everflow.contrib.learn.heads import RegressionHead as _RegressionHead
from everflow.contrib.learn.heads import poisson_regression_head as _poisson_regression_head
from everflow.contrib.learn.heads import regression_head as _regression_head
from everflow.contrib.learn.svm_head import BinarySvmHead as _BinarySvmHead
from everflow.contrib.learn.svm_head import LossOnlyHead as _LossOnlyHead
from everflow.contrib.learn.svm_head import MultiHead as _MultiHead
from everflow.contrib.learn.svm_head import binary_svm_head as _binary_svm_head
from everflow.contrib.learn.svm_head import multi_head as _multi_head

__all__ = [
    "_BinaryLogisticHead",
    "_BinarySvmHead",
    "_Head",
    "_LossOnlyHead",
    "_MultiClassHead",
    "_MultiHead",
    "_MultiLabelHead",
    "_RegressionHead",
    "_binary_svm_head",
    "_multi_class_head",
    "_multi_head",
    "_multi_label_head",
    "_poisson_regression_head",
    "_regression_head",
]
