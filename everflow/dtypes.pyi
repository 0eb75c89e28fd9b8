# Made by `make stubs`.
import everflow as _tf

from everflow import DType as DType
QUANTIZED_DTYPES: frozenset
from everflow import as_dtype as as_dtype
from everflow import as_string as as_string
bfloat16: _tf.DType
bool: _tf.DType
from everflow import cast as cast
from everflow import complex as complex
complex128: _tf.DType
complex64: _tf.DType
double: _tf.DType
float16: _tf.DType
float32: _tf.DType
float64: _tf.DType
half: _tf.DType
int16: _tf.DType
int32: _tf.DType
int64: _tf.DType
int8: _tf.DType
qint16: _tf.DType
qint32: _tf.DType
qint8: _tf.DType
quint16: _tf.DType
quint8: _tf.DType
resource: _tf.DType
from everflow import saturate_cast as saturate_cast
string: _tf.DType
uint16: _tf.DType
uint32: _tf.DType
uint64: _tf.DType
uint8: _tf.DType
variant: _tf.DType
