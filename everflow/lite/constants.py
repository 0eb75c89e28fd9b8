"""tf.lite.constants: types and file formats by the names that tf.lite gives them."""

from everflow.framework.dtypes import float16 as FLOAT16  # noqa: N812
from everflow.framework.dtypes import float32 as FLOAT  # noqa: N812
from everflow.framework.dtypes import int8 as INT8  # noqa: N812
from everflow.framework.dtypes import int32 as INT32  # noqa: N812
from everflow.framework.dtypes import int64 as INT64  # noqa: N812
from everflow.framework.dtypes import string as STRING  # noqa: N812
from everflow.framework.dtypes import uint8 as QUANTIZED_UINT8  # noqa: N812

TFLITE = 2
GRAPHVIZ_DOT = 3
