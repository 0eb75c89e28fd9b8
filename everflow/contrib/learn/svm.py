"""Support vector machines over columns: a linear model, the hinge loss, and dual coordinate ascent."""

from __future__ import annotations

from everflow.contrib.learn import bundle_export
from everflow.contrib.learn.linear import _Linear
from everflow.contrib.learn.model_ops import PredictionKey
from everflow.contrib.learn.predictors import TellsClasses, picked
from everflow.contrib.learn.svm_head import binary_svm_head
from everflow.contrib.linear_optimizer.sdca_optimizer import SDCAOptimizer


class SVM(TellsClasses, _Linear):
    """Tells two classes apart by the widest margin.

    >>> svm = tf.contrib.learn.SVM("example_id", feature_columns=[price, country], l2_regularization=10.0)
    >>> svm.fit(input_fn=train_input_fn, steps=100)
    """

    def __init__(
        self,
        example_id_column,
        feature_columns,
        weight_column_name=None,
        model_dir=None,
        l1_regularization=0.0,
        l2_regularization=0.0,
        num_loss_partitions=1,
        kernels=None,
        config=None,
        feature_engineering_fn=None,
    ):
        if kernels is not None:
            raise ValueError("SVMs with kernels are not supported; see tf.contrib.kernel_methods for maps of features.")
        optimizer = SDCAOptimizer(
            example_id_column,
            num_loss_partitions=num_loss_partitions,
            symmetric_l1_regularization=l1_regularization,
            symmetric_l2_regularization=l2_regularization,
        )
        super().__init__(
            binary_svm_head(weight_column_name=weight_column_name),
            feature_columns,
            model_dir=model_dir,
            optimizer=optimizer,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )

    def export(self, export_dir, signature_fn=None, input_fn=None, default_batch_size=1, exports_to_keep=None):
        """Write the newest model as a session bundle that answers with classes."""
        return self.export_with_defaults(
            export_dir=export_dir,
            signature_fn=signature_fn,
            input_fn=input_fn,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )

    def export_with_defaults(
        self, export_dir, signature_fn=None, input_fn=None, default_batch_size=1, exports_to_keep=None
    ):
        """The same."""
        return super().export(
            export_dir=export_dir,
            signature_fn=signature_fn or bundle_export.classification_signature_fn,
            input_fn=input_fn,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )

    def predict_proba(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """The sum of weights of each example: how far, and on which side of the boundary, it lies."""
        return picked(self, PredictionKey.LOGITS, x, input_fn, batch_size, as_iterable)
