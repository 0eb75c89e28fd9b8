"""tf.contrib.learn.preprocessing. Numbers are TensorFlow 1.15.5's."""

import pickle

import pytest

import everflow as tf

preprocessing = tf.contrib.learn.preprocessing
DOCUMENTS = ["Hello, world! it's a test", "hello WORLD test test", "", "don't stop 123 4,5 well-known"]


def rows(iterator):
    return [row.tolist() for row in iterator]


def test_documents_as_word_numbers():
    processor = preprocessing.VocabularyProcessor(4)
    assert rows(processor.fit_transform(DOCUMENTS)) == [[1, 2, 3, 4], [6, 7, 5, 5], [0, 0, 0, 0], [8, 9, 10, 11]]
    assert len(processor.vocabulary_) == 14
    assert rows(processor.transform(["new hello words"])) == [[0, 6, 0, 0]]
    assert list(processor.reverse([[1, 2, 0]])) == ["Hello world <UNK>"]


def test_rare_words_are_left_out():
    processor = preprocessing.VocabularyProcessor(3, min_frequency=1)
    assert rows(processor.fit_transform(DOCUMENTS)) == [[0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]


def test_saved_processors(tmp_path):
    processor = preprocessing.VocabularyProcessor(4).fit(DOCUMENTS)
    path = str(tmp_path / "vocabulary")
    processor.save(path)
    restored = preprocessing.VocabularyProcessor.restore(path)
    assert rows(restored.transform(DOCUMENTS)) == rows(processor.transform(DOCUMENTS))


def test_a_file_runs_nothing(tmp_path):
    path = tmp_path / "vocabulary"
    path.write_bytes(pickle.dumps(print))
    with pytest.raises(pickle.UnpicklingError, match="may not name builtins.print"):
        preprocessing.VocabularyProcessor.restore(str(path))


def test_bytes():
    processor = preprocessing.ByteProcessor(6)
    assert rows(processor.transform(["abc", "äöü"])) == [[97, 98, 99, 0, 0, 0], [195, 164, 195, 182, 195, 188]]
    assert list(processor.reverse([[97, 98, 0]])) == ["ab"]


def test_columns_of_categories():
    rows_of = [["a", "b"], ["b", "c"]]
    assert rows(preprocessing.CategoricalProcessor().fit_transform(rows_of)) == [[1, 1], [2, 2]]
    assert rows(preprocessing.CategoricalProcessor(share=True).fit_transform(rows_of)) == [[1, 2], [2, 3]]
    assert rows(
        preprocessing.CategoricalProcessor(min_frequency=1).fit_transform([["a", float("nan")], ["a", "c"]])
    ) == [[1, 0], [1, 0]]


def test_trimming_keeps_the_most_frequent_first():
    vocabulary = preprocessing.CategoricalVocabulary()
    for word in "b a c a b d".split():
        vocabulary.add(word)
    vocabulary.trim(0)
    assert [vocabulary.reverse(i) for i in range(5)] == ["<UNK>", "a", "b", "c", "d"]
    with pytest.raises(ValueError, match="support_reverse"):
        preprocessing.CategoricalVocabulary(support_reverse=False).reverse(1)
