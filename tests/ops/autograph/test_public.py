"""The functions of `tf.autograph`."""

from __future__ import annotations

import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_left_alone_where_asked():
    @tf.autograph.experimental.do_not_convert
    def kept(x):
        return 1 if x > 0 else 2

    def calls(x):
        return kept(x)

    with pytest.raises(TypeError):
        tf.autograph.to_graph(calls)(tf.constant(1))


class Doubled:
    def __call__(self, n):
        if n > 3:
            return n * 2
        return n


def test_a_converted_method_takes_its_instance():
    with tf.Graph().as_default(), tf.Session() as sess:
        made = Doubled()
        assert sess.run(tf.autograph.to_graph(made.__call__)(made, tf.constant(5))) == 10


def test_a_converted_class_has_converted_methods():
    with tf.Graph().as_default(), tf.Session() as sess:
        converted = tf.autograph.to_graph(Doubled)
        assert converted.__name__ == "TfDoubled" and issubclass(converted, Doubled)
        assert sess.run(converted()(tf.constant(5))) == 10


def test_objects_are_not_converted():
    for entity in (Doubled(), 3):
        with pytest.raises(NotImplementedError):
            tf.autograph.to_graph(entity)


def test_options_of_loops_are_wishes():
    def count(n):
        i = 0
        while i < n:
            tf.autograph.experimental.set_loop_options(parallel_iterations=1, maximum_iterations=2)
            i += 1
        return i

    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess.run(tf.autograph.to_graph(count)(tf.constant(5))) == 5
    with pytest.raises(TypeError):
        tf.autograph.experimental.set_loop_options(shape_invariants=[])


def test_the_source_that_is_run():
    def absolute(x):
        if x < 0:
            x = -x
        return x

    code = tf.autograph.to_code(absolute, indentation="  ")
    assert "ag__.if_stmt(" in code and "\n  def ag__" in code and "    def" not in code.split("\n")[1]


@pytest.mark.parametrize("options", [{"arg_values": {}}, {"arg_types": {}}])
@pytest.mark.parametrize("function", [tf.autograph.to_graph, tf.autograph.to_code])
def test_arguments_are_not_told_beforehand(function, options):
    with pytest.raises(NotImplementedError):
        function(lambda x: x, **options)


def test_functions_that_are_left_alone_keep_their_names():
    @tf.autograph.experimental.do_not_convert
    def kept(x):
        """Doc."""
        return x

    assert (kept.__name__, kept.__doc__, kept(3)) == ("kept", "Doc.", 3)
    assert tf.autograph.experimental.do_not_convert()(len)([1]) == 1


def test_calls_are_converted_only_where_asked():
    def inner(x):
        return x if x > 0 else -x

    def outer(x):
        return inner(x)

    x = tf.constant(-3)
    assert isinstance(tf.autograph.to_graph(outer)(x), tf.Tensor)
    with pytest.raises(TypeError):
        tf.autograph.to_graph(outer, recursive=False)(x)


def test_what_is_printed_while_tracing(capsys):
    tf.autograph.trace("n", 3)
    assert capsys.readouterr().out == "n 3\n"
    tf.autograph.set_verbosity(3, alsologtostdout=True)
    with pytest.raises(TypeError):
        tf.autograph.set_verbosity("loud")
