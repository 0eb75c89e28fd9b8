"""Lines of converted functions, by the lines they were made from."""

import pytest

import everflow as tf


def test_a_converted_function_has_the_lines_of_the_original():
    def double(x):
        return x * 2

    mapper = tf.contrib.autograph.StackTraceMapper(double)
    with mapper as entered:
        assert entered is mapper
        lines = mapper.get_effective_source_map()
        first = double.__code__.co_firstlineno
        assert lines[__file__, first + 1] == (__file__, first + 1, "double")
        with tf.contrib.autograph.StackTraceMapper(test_what_is_no_function_has_no_lines) as inner:
            assert lines.items() <= inner.get_effective_source_map().items()
    assert mapper.reset() is None


def test_what_is_no_function_has_no_lines():
    with pytest.raises(TypeError, match="no lines"):
        tf.contrib.autograph.StackTraceMapper(len).get_effective_source_map()
