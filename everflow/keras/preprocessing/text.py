"""tf.keras.preprocessing.text: texts as sequences of numbers, and back."""

from __future__ import annotations

import collections
import hashlib
import json

import numpy as np

from everflow.platform.signatures import parameters_of, takes

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(text, filters=_FILTERS, lower=True, split=" "):
    """The words of a text, without the characters of `filters`.

    Args:
        text: The text.
        filters: Characters that are left out.
        lower: Whether words are put in lower case.
        split: What separates words.

    Returns:
        A list of words.

    Example:
        >>> tf.keras.preprocessing.text.text_to_word_sequence("The cat, asleep.")
        ['the', 'cat', 'asleep']
    """
    if lower:
        text = text.lower()
    text = text.translate(str.maketrans(dict.fromkeys(filters, split)))
    return [word for word in text.split(split) if word]


def hashing_trick(text, n, hash_function=None, filters=_FILTERS, lower=True, split=" "):
    """The words of a text as numbers from 1 to n - 1, by a hash; different words may get the same number.

    Args:
        text: The text.
        n: How many numbers there are.
        hash_function: A function of a string, `md5`, or None for Python's own `hash`, which differs from run to run.
        filters: Characters that are left out.
        lower: Whether words are put in lower case.
        split: What separates words.

    Returns:
        A list of numbers.

    Example:
        >>> tf.keras.preprocessing.text.hashing_trick("the cat the", 10, hash_function="md5")
        [6, 3, 6]
    """
    if hash_function is None:
        hash_function = hash
    elif hash_function == "md5":

        def hash_function(word):
            return int(hashlib.md5(word.encode()).hexdigest(), 16)

    words = text_to_word_sequence(text, filters=filters, lower=lower, split=split)
    return [hash_function(word) % (n - 1) + 1 for word in words]


def one_hot(text, n, filters=_FILTERS, lower=True, split=" "):
    """The words of a text as numbers from 1 to n - 1, by Python's own `hash`.

    Args:
        text: The text.
        n: How many numbers there are.
        filters: Characters that are left out.
        lower: Whether words are put in lower case.
        split: What separates words.

    Returns:
        A list of numbers.

    Example:
        >>> len(tf.keras.preprocessing.text.one_hot("the cat the", 10))
        3
    """
    return hashing_trick(text, n, hash_function=hash, filters=filters, lower=lower, split=split)


class Tokenizer:
    """Gives words numbers, the most frequent ones the smallest.

    Args:
        num_words: Only the so many most frequent words are kept; all if None.
        filters: Characters that are left out.
        lower: Whether words are put in lower case.
        split: What separates words.
        char_level: Whether each character is a word.
        oov_token: What stands for words that aren't known; None leaves them out.
        document_count: How many texts were seen already.
        **kwargs: `nb_words`, an older name of `num_words`.

    Example:
        >>> tokenizer = tf.keras.preprocessing.text.Tokenizer()
        >>> tokenizer.fit_on_texts(["the cat", "the dog"])
        >>> tokenizer.texts_to_sequences(["the dog sleeps"])
        [[1, 3]]
    """

    @takes(
        """num_words=None, filters=FILTERS, lower=True, split=" ", char_level=False, oov_token=None, document_count=0,
        **kwargs""",
        FILTERS=_FILTERS,
    )
    def __init__(self, num_words, **kept):
        self.num_words = kept.pop("nb_words", num_words)
        unknown = {name: kept[name] for name in kept if name not in parameters_of(Tokenizer.__init__)}
        if unknown:
            raise TypeError("Unrecognized keyword arguments: " + str(unknown))
        self.__dict__.update(kept)
        self.word_counts = collections.OrderedDict()
        self.word_docs = collections.defaultdict(int)
        self.index_docs = collections.defaultdict(int)
        self.word_index = {}
        self.index_word = {}

    def _words(self, text):
        if self.char_level or isinstance(text, list):
            if self.lower:
                text = [part.lower() for part in text] if isinstance(text, list) else text.lower()
            return text
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts):
        """Count the words of texts, and give them numbers."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        by_count = sorted(self.word_counts.items(), key=lambda item: item[1], reverse=True)
        vocabulary = [] if self.oov_token is None else [self.oov_token]
        vocabulary.extend(word for word, _ in by_count)
        # 0 is left for padding.
        self.word_index = {word: i for i, word in enumerate(vocabulary, 1)}
        self.index_word = {i: word for word, i in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences):
        """Count numbers that texts were turned into elsewhere; enough for `sequences_to_matrix`."""
        self.document_count += len(sequences)
        for sequence in sequences:
            for i in set(sequence):
                self.index_docs[i] += 1

    def texts_to_sequences(self, texts):
        """Texts as lists of numbers; words that are unknown or too rare are left out, or become `oov_token`."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts):
        """As `texts_to_sequences`, one at a time."""
        unknown = self.word_index.get(self.oov_token)
        for text in texts:
            numbers = []
            for word in self._words(text):
                i = self.word_index.get(word)
                if i is None or (self.num_words and i >= self.num_words):
                    i = unknown
                if i is not None:
                    numbers.append(i)
            yield numbers

    def sequences_to_texts(self, sequences):
        """Lists of numbers as texts."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences):
        """As `sequences_to_texts`, one at a time."""
        unknown = self.index_word.get(self.word_index.get(self.oov_token))
        for sequence in sequences:
            words = []
            for i in sequence:
                word = self.index_word.get(i)
                if word is None or (self.num_words and i >= self.num_words):
                    word = unknown
                if word is not None:
                    words.append(word)
            yield " ".join(words)

    def texts_to_matrix(self, texts, mode="binary"):
        """A row for each text and a column for each word; see `sequences_to_matrix`."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences, mode="binary"):
        """A row for each sequence and a column for each number: whether it is there ("binary"), how often ("count"),
        its share ("freq"), or
        how telling it is ("tfidf")."""
        if not self.num_words and not self.word_index:
            raise ValueError(
                "The number of columns isn't known: give the Tokenizer `num_words`, or let it see texts first (`fit_on_texts`)."
            )
        size = self.num_words or len(self.word_index) + 1
        if mode == "tfidf" and not self.document_count:
            raise ValueError(
                'Mode "tfidf" needs counts of documents: let the Tokenizer see texts first (`fit_on_texts`).'
            )
        matrix = np.zeros((len(sequences), size))
        for row, sequence in enumerate(sequences):
            if not sequence:
                continue
            counts = collections.Counter(i for i in sequence if i < size)
            for i, count in counts.items():
                matrix[row][i] = self._weight(mode, i, count, len(sequence))
        return matrix

    def _weight(self, mode, i, count, length):
        if mode == "count":
            return count
        if mode == "freq":
            return count / length
        if mode == "binary":
            return 1
        if mode == "tfidf":
            return (1 + np.log(count)) * np.log(1 + self.document_count / (1 + self.index_docs.get(i, 0)))
        raise ValueError("Unknown vectorization mode:", mode)

    def get_config(self):
        """Everything that makes the tokenizer again, dicts as JSON."""
        return {
            "num_words": self.num_words,
            "filters": self.filters,
            "lower": self.lower,
            "split": self.split,
            "char_level": self.char_level,
            "oov_token": self.oov_token,
            "document_count": self.document_count,
            "word_counts": json.dumps(self.word_counts),
            "word_docs": json.dumps(self.word_docs),
            "index_docs": json.dumps(self.index_docs),
            "index_word": json.dumps(self.index_word),
            "word_index": json.dumps(self.word_index),
        }

    def to_json(self, **kwargs):
        """The tokenizer as JSON."""
        return json.dumps({"class_name": self.__class__.__name__, "config": self.get_config()}, **kwargs)


def tokenizer_from_json(json_string):
    """A tokenizer from what `to_json` gave."""
    config = json.loads(json_string)["config"]
    state = {
        name: json.loads(config.pop(name))
        for name in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
    }
    tokenizer = Tokenizer(**config)
    tokenizer.word_counts = collections.OrderedDict(state["word_counts"])
    tokenizer.word_docs = collections.defaultdict(int, state["word_docs"])
    # Keys of JSON are text.
    tokenizer.index_docs = collections.defaultdict(int, {int(i): count for i, count in state["index_docs"].items()})
    tokenizer.index_word = {int(i): word for i, word in state["index_word"].items()}
    tokenizer.word_index = state["word_index"]
    return tokenizer
