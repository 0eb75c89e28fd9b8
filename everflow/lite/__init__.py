"""tf.lite: models in TensorFlow Lite's format, made and run."""

from everflow.lite import constants
from everflow.lite.converter import TFLiteConverter, TocoConverter, toco_convert
from everflow.lite.interpreter import Interpreter
from everflow.lite.options import OpsSet, Optimize, RepresentativeDataset, TargetSpec
