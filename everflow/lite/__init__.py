"""tf.lite: models in TensorFlow Lite's format, made and run."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.lite import constants, experimental
from everflow.lite.converter import TFLiteConverter, TocoConverter, toco_convert
from everflow.lite.interpreter import Interpreter
from everflow.lite.op_hints import OpHint
from everflow.lite.options import OpsSet, Optimize, RepresentativeDataset, TargetSpec
