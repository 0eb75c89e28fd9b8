"""tf.lookup: tables from keys to values."""

from __future__ import annotations

import types as _types

from everflow.ops.lookup.files import TextFileIndex, TextFileInitializer
from everflow.ops.lookup.mutable import DenseHashTable as _DenseHashTable

# ruff: noqa: F401  The re-exports are the purpose of this file.
from everflow.ops.lookup.static import KeyValueTensorInitializer
from everflow.ops.lookup.static import StaticHashTableV1 as StaticHashTable
from everflow.ops.lookup.static import StaticVocabularyTableV1 as StaticVocabularyTable

experimental = _types.SimpleNamespace(DenseHashTable=_DenseHashTable)
