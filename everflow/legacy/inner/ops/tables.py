"""Names of `tensorflow.python.ops.lookup_ops` for tables of TensorFlow 1, which are the same here."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.ops.lookup.static import InitializableLookupTableBase as InitializableLookupTableBaseV1
from everflow.ops.lookup.static import StaticVocabularyTableV1
