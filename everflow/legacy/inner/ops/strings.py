"""Names of `tensorflow.python.ops.string_ops` for functions that have others outside."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.ops.strings.text import string_to_hash_bucket, string_to_number
from everflow.strings import substr as substr_deprecated
