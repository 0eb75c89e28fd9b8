"""Categories as numbers: a vocabulary that grows until it is frozen, and columns of categories by vocabularies."""

from __future__ import annotations

import collections
import math

import numpy as np


class CategoricalVocabulary:
    """Numbers for categories in the order in which they come; 0 is for what is unknown once it is frozen."""

    def __init__(self, unknown_token="<UNK>", support_reverse=True):
        self._unknown_token, self._support_reverse = unknown_token, support_reverse
        self._freq, self._freeze = collections.defaultdict(int), False
        self._number([])

    def _number(self, categories):
        """Give the numbers from 1 to these categories, and none to others."""
        names = [self._unknown_token, *categories]
        self._mapping = {name: number for number, name in enumerate(names)}
        if self._support_reverse:
            self._reverse_mapping = names

    def __len__(self):
        return len(self._mapping)

    def freeze(self, freeze=True):
        """Give no new numbers from now on; `freeze(False)` gives them again."""
        self._freeze = freeze

    def get(self, category):
        """The number of a category; a new one unless the vocabulary is frozen."""
        if self._freeze:
            return self._mapping.get(category, 0)
        known = len(self._mapping)
        number = self._mapping.setdefault(category, known)
        if number == known and self._support_reverse:
            self._reverse_mapping.append(category)
        return number

    def add(self, category, count=1):
        """Note that a category was seen."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency, max_frequency=-1):
        """Keep categories seen more than `min_frequency` and less than `max_frequency` times, frequent ones first."""
        # Equally frequent ones by the alphabet, so that the numbers don't hang on how a dict is ordered.
        by_name = sorted(self._freq.items(), key=lambda item: (-item[1], _is_text(item[0]), item[0]))
        most = max_frequency if max_frequency > 0 else math.inf
        self._freq = {name: count for name, count in by_name if min_frequency < count < most}
        self._number(self._freq)

    def reverse(self, class_id):
        """The category that has a number."""
        if not self._support_reverse:
            raise ValueError("reverse() wants a vocabulary that was made with support_reverse=True")
        return self._reverse_mapping[class_id]


def _is_text(value):
    return isinstance(value, str)


class CategoricalProcessor:
    """Columns of categories as columns of numbers, each by a vocabulary of its own or, with `share`, all by one."""

    def __init__(self, min_frequency=0, share=False, vocabularies=None):
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze=True):
        """Freeze all vocabularies, or thaw them."""
        for vocabulary in self.vocabularies_:
            vocabulary.freeze(freeze)

    def fit(self, x, unused_y=None):
        """Learn the vocabularies from rows of categories."""
        for row in x:
            if self.vocabularies_ is None:
                one = CategoricalVocabulary()
                self.vocabularies_ = [one if self.share else CategoricalVocabulary() for _ in row]
            for vocabulary, value in zip(self.vocabularies_, row):
                # Missing values are not categories.
                if not _is_missing(value):
                    vocabulary.add(value)
        if self.min_frequency > 0:
            for vocabulary in self.vocabularies_:
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x, unused_y=None):
        """Learn the vocabularies and give the numbers."""
        self.fit(x)
        return self.transform(x)

    def transform(self, x):
        """Rows of numbers, one at a time."""
        self.freeze()
        for row in x:
            numbers = np.zeros(len(row), dtype=np.int64)
            for i, value in enumerate(row):
                numbers[i] = 0 if _is_missing(value) else self.vocabularies_[i].get(value)
            yield numbers


def _is_missing(value):
    return isinstance(value, float) and math.isnan(value) or isinstance(value, np.floating) and bool(np.isnan(value))
