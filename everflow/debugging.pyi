# Made by `make stubs`.
from everflow import verify_tensor_all_finite as _verify_tensor_all_finite
import everflow as _tf
from everflow._typing import Any

from everflow import Assert as Assert
assert_all_finite = _verify_tensor_all_finite
from everflow import assert_equal as assert_equal
from everflow import assert_greater as assert_greater
from everflow import assert_greater_equal as assert_greater_equal
from everflow import assert_integer as assert_integer
from everflow import assert_less as assert_less
from everflow import assert_less_equal as assert_less_equal
from everflow import assert_near as assert_near
from everflow import assert_negative as assert_negative
from everflow import assert_non_negative as assert_non_negative
from everflow import assert_non_positive as assert_non_positive
from everflow import assert_none_equal as assert_none_equal
from everflow import assert_positive as assert_positive
from everflow import assert_proper_iterable as assert_proper_iterable
from everflow import assert_rank as assert_rank
from everflow import assert_rank_at_least as assert_rank_at_least
from everflow import assert_rank_in as assert_rank_in
from everflow import assert_same_float_dtype as assert_same_float_dtype
from everflow import assert_scalar as assert_scalar
def assert_shapes(shapes: Any, data: Any = None, summarize: Any = None, message: str | None = None, name: str | None = None) -> _tf.Operation | Any: ...
from everflow import assert_type as assert_type
from everflow import check_numerics as check_numerics
def get_log_device_placement() -> Any: ...
from everflow import is_finite as is_finite
from everflow import is_inf as is_inf
from everflow import is_nan as is_nan
from everflow import is_non_decreasing as is_non_decreasing
from everflow import is_numeric_tensor as is_numeric_tensor
from everflow import is_strictly_increasing as is_strictly_increasing
def set_log_device_placement(enabled: Any) -> None: ...
