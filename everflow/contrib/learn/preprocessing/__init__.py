"""tf.contrib.learn.preprocessing: words, bytes and categories as numbers."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.learn.preprocessing.categories import CategoricalProcessor, CategoricalVocabulary
from everflow.contrib.learn.preprocessing.text import TOKENIZER_RE, ByteProcessor, VocabularyProcessor, tokenizer
