"""tf.lite.constants: types and file formats by the names that tf.lite gives them."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.framework.dtypes import float16 as FLOAT16
from everflow.framework.dtypes import float32 as FLOAT
from everflow.framework.dtypes import int8 as INT8
from everflow.framework.dtypes import int32 as INT32
from everflow.framework.dtypes import int64 as INT64
from everflow.framework.dtypes import string as STRING
from everflow.framework.dtypes import uint8 as QUANTIZED_UINT8

TFLITE = 2
GRAPHVIZ_DOT = 3
