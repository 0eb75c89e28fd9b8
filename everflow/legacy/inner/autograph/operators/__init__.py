"""tensorflow.python.autograph.operators: what converted programs call for Python's statements and builtins, under the
names and with the arguments that TensorFlow's own converted code has.
"""

# ruff: noqa: F401  Names handed on are the purpose of this file.

from everflow.legacy.inner.autograph.operators.control_flow import for_stmt, if_stmt, while_stmt
from everflow.legacy.inner.autograph.operators.data_structures import (
    ListPopOpts,
    ListStackOpts,
    list_append,
    list_pop,
    list_stack,
    new_list,
)
from everflow.legacy.inner.autograph.operators.exceptions import assert_stmt
from everflow.legacy.inner.autograph.operators.logical import and_, eq, not_, not_eq, or_
from everflow.legacy.inner.autograph.operators.py_builtins import float_, int_, len_, print_, range_
from everflow.legacy.inner.autograph.operators.slices import GetItemOpts, get_item, set_item
from everflow.legacy.inner.autograph.operators.special_values import (
    Undefined,
    UndefinedReturnValue,
    is_undefined,
    is_undefined_return,
    retval,
)
