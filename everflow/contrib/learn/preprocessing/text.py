"""Text as numbers: documents as rows of word numbers or of bytes, all of one length."""

from __future__ import annotations

import io
import itertools
import pickle
import re

import numpy as np

from everflow.contrib.learn.preprocessing.categories import CategoricalVocabulary
from everflow.platform import file_io

# Words and numbers with what joins them inside, e.g. "don't" and "well-known".
TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator):
    """The words of each document."""
    for document in iterator:
        yield TOKENIZER_RE.findall(document)


def _row(numbers, length, dtype):
    """The first `length` of the numbers, with zeros after them where they are fewer."""
    row = np.zeros(length, dtype)
    cut = list(itertools.islice(numbers, length))
    row[: len(cut)] = cut
    return row


class ByteProcessor:
    """Documents as rows of their bytes, of `max_document_length` numbers, filled up with zeros."""

    def __init__(self, max_document_length):
        self.max_document_length = max_document_length

    def fit(self, x):
        """Nothing is learned."""
        return self

    def fit_transform(self, x):
        """The same as `transform`."""
        return self.transform(x)

    def reverse(self, x):
        """The text of each row of bytes."""
        for data in x:
            text = np.trim_zeros(np.asarray(data, np.uint8), "b")
            yield bytes(text).decode("utf-8", errors="ignore")

    def transform(self, x):
        """Rows of bytes, one at a time."""
        for document in x:
            data = document if isinstance(document, bytes) else document.encode("utf-8")
            yield _row(data, self.max_document_length, np.uint8)


class VocabularyProcessor:
    """Documents as rows of word numbers, of `max_document_length` numbers, filled up with zeros.

    >>> processor = tf.contrib.learn.preprocessing.VocabularyProcessor(max_document_length=4)
    >>> list(processor.fit_transform(["a b", "b c d"]))
    [array([1, 2, 0, 0]), array([2, 3, 4, 0])]
    """

    def __init__(self, max_document_length, min_frequency=0, vocabulary=None, tokenizer_fn=None):
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary if vocabulary is not None else CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents, unused_y=None):
        """Learn the words of documents; those seen no more than `min_frequency` times are left out."""
        for word in itertools.chain.from_iterable(self._tokenizer(raw_documents)):
            self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents, unused_y=None):
        """Learn the words of documents and give their numbers."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents):
        """Rows of word numbers, one at a time."""
        for words in self._tokenizer(raw_documents):
            yield _row(map(self.vocabulary_.get, words), self.max_document_length, np.int64)

    def reverse(self, documents):
        """The words of each row, joined by spaces."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in row)

    def save(self, filename):
        """Write the processor to a file, which TensorFlow can read too."""
        buffer = io.BytesIO()
        _Writer(buffer, protocol=3).dump(self)
        with file_io.FileIO(filename, "wb") as file:
            file.write(buffer.getvalue())

    @classmethod
    def restore(cls, filename):
        """The processor that `save`, here or in TensorFlow, wrote to a file."""
        with file_io.FileIO(filename, "rb") as file:
            return _Reader(io.BytesIO(file.read())).load()


# Saved processors are pickles: TensorFlow finds its classes by these names, and no other name is looked up.
_INNER = "tensorflow.contrib.learn.python.learn.preprocessing."
_KNOWN = {
    (_INNER + "text", "VocabularyProcessor"): VocabularyProcessor,
    (_INNER + "text", "tokenizer"): tokenizer,
    (_INNER + "categorical_vocabulary", "CategoricalVocabulary"): CategoricalVocabulary,
}
_PLAIN = {
    ("collections", "defaultdict"),
    ("_codecs", "encode"),
    ("__builtin__", "long"),
    *((module, "_reconstructor") for module in ("copyreg", "copy_reg")),
    *((module, name) for module in ("builtins", "__builtin__") for name in ("int", "object", "bytes")),
}


class _Reader(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) in _KNOWN:
            return _KNOWN[module, name]
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(
            f"A vocabulary file may not name {module}.{name}. Processors with a tokenizer of your own can't be restored; "
            "make one with the same arguments and give it the restored vocabulary_."
        )


class _Writer(pickle._Pickler):
    def save_global(self, obj, name=None):
        for (module, known_name), known in _KNOWN.items():
            if obj is known:
                self.write(pickle.GLOBAL + f"{module}\n{known_name}\n".encode())
                self.memoize(obj)
                return
        super().save_global(obj, name)

    # How classes and functions are written, with the method above.
    dispatch = {**pickle._Pickler.dispatch, type(tokenizer): save_global}
