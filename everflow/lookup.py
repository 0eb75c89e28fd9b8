"""tf.lookup: tables from keys to values."""

from __future__ import annotations

import types as _types

# ruff: noqa: F401  The re-exports are the purpose of this file.
from everflow.ops.lookup import KeyValueTensorInitializer, StaticHashTable, StaticVocabularyTable
from everflow.ops.lookup_files import TextFileIndex, TextFileInitializer
from everflow.ops.lookup_mutable import DenseHashTable as _DenseHashTable

experimental = _types.SimpleNamespace(DenseHashTable=_DenseHashTable)
