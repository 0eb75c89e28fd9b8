"""tf.contrib.kernel_methods: explicit feature maps that make a linear model approximate a kernel machine."""

from everflow.contrib.kernel_methods.hinge import sparse_multiclass_hinge_loss
from everflow.contrib.kernel_methods.kernel_estimators import KernelLinearClassifier
from everflow.contrib.kernel_methods.random_fourier import RandomFourierFeatureMapper

__all__ = ["KernelLinearClassifier", "RandomFourierFeatureMapper", "sparse_multiclass_hinge_loss"]
