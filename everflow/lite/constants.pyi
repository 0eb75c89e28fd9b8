# Made by `make stubs`.
import everflow as _tf

FLOAT: _tf.DType
FLOAT16: _tf.DType
GRAPHVIZ_DOT: int
INT32: _tf.DType
INT64: _tf.DType
INT8: _tf.DType
QUANTIZED_UINT8: _tf.DType
STRING: _tf.DType
TFLITE: int
