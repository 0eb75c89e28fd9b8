"""tf.lite: models in TensorFlow Lite's format, made and run."""

from everflow.lite import constants, experimental
from everflow.lite.converter import TFLiteConverter, TocoConverter, toco_convert
from everflow.lite.interpreter import Interpreter
from everflow.lite.op_hints import OpHint
from everflow.lite.options import OpsSet, Optimize, RepresentativeDataset, TargetSpec
