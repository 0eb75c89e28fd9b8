"""What is converted only where it is asked for: `print` and `==` of tensors."""

from __future__ import annotations

import everflow as tf

Feature = tf.autograph.experimental.Feature


def shown(n):
    print("n is", n)
    return n


def compared(n):
    if n == 3:
        return n * 10
    if is_not(n, 4):
        return n
    return n * 100


def is_not(n, other):
    return n != other


def test_print_happens_while_tracing(capsys):
    with tf.Graph().as_default(), tf.Session() as sess:
        made = tf.function(shown)(tf.constant(2))
        assert capsys.readouterr().out == 'n is Tensor("n:0", shape=(), dtype=int32)\n'
        assert sess.run(made) == 2
        assert capsys.readouterr() == ("", "")


def test_print_happens_when_run_if_asked_for(capfd):
    with tf.Graph().as_default(), tf.Session() as sess:
        made = tf.function(shown, experimental_autograph_options=Feature.BUILTIN_FUNCTIONS)(tf.constant(2))
        assert "Tensor" not in "".join(capfd.readouterr())
        assert sess.run(made) == 2
        assert "n is 2" in "".join(capfd.readouterr())


def test_equality_of_tensors():
    with tf.Graph().as_default(), tf.Session() as sess:
        n = tf.placeholder(tf.int32, [])
        by_value = [
            tf.autograph.to_graph(compared, experimental_optional_features=Feature.EQUALITY_OPERATORS)(n),
            tf.function(compared, experimental_autograph_options=(Feature.EQUALITY_OPERATORS, Feature.NAME_SCOPES))(n),
        ]
        assert [sess.run(by_value, {n: v}) for v in (3, 4, 5)] == [[30, 30], [400, 400], [5, 5]]
        assert tf.autograph.to_graph(compared)(n) is n  # tensors are otherwise equal to themselves only
        assert [tf.autograph.to_graph(compared)(v) for v in (3, 4, 5)] == [30, 400, 5]


def test_names_of_comparisons():
    with tf.Graph().as_default():
        made = tf.autograph.to_graph(
            lambda n: (n != 3, 4 == n), experimental_optional_features=Feature.EQUALITY_OPERATORS
        )(tf.constant(3))
        assert [t.name for t in made] == ["LogicalNot:0", "Equal_1:0"]
