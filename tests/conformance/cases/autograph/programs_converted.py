"""Python control flow under tf.function and autograph.to_graph in graphs: loops, breaks, returns, lists, asserts, ternaries, comprehensions, closures, recursion, print, try, lambdas, errors."""

import numpy as np
import tensorflow as tf

ag = tf.autograph


def collatz(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def search(xs, wanted):
    found = -1
    for i in tf.range(len(xs) if isinstance(xs, list) else tf.shape(xs)[0]):
        if xs[i] < 0:
            continue
        if tf.equal(xs[i], wanted):
            found = i
            break
    return found


def early(x):
    if x > 0:
        if x > 10:
            return x * 100
        return x + 1
    y = -x
    return y if y > 5 else y * 2


def gathered(n):
    values = tf.TensorArray(tf.int32, n)
    for i in tf.range(n):
        values = values.write(i, i * i)
    return values.stack()


def boolean(a, b):
    return (a > 0 and b > 0) or not (a < b)


def chained(x):
    total = 0.0
    for row in x:
        for v in row:
            total += v if v > 0.0 else 0.0
    return total


def dictionary(x):
    state = {"n": 0, "v": x}
    while state["n"] < 3:
        state["v"] = state["v"] * 2
        state["n"] += 1
    return state["v"]


def unpack(x):
    a, (b, c) = x, (x + 1, x + 2)
    if a > 1:
        a, b = b, a
    return a, b, c


def checked(x):
    assert x > 0, "positive"
    return x * 2


def run(out):
    n = tf.placeholder(tf.int32, [], name="n")
    v = tf.placeholder(tf.int32, [None], name="v")
    m = tf.placeholder(tf.float32, [None, 2], name="m")
    made = {
        "collatz": ag.to_graph(collatz)(n),
        "search": ag.to_graph(search)(v, n),
        "early": ag.to_graph(early)(n),
        "gathered": ag.to_graph(gathered)(n),
        "boolean": ag.to_graph(boolean)(n, 3),
        "chained": ag.to_graph(chained)(m),
        "dictionary": ag.to_graph(dictionary)(n),
        "unpack": list(ag.to_graph(unpack)(n)),
        "function": tf.function(collatz)(n),
        "early2": tf.function(early)(n),
        "python": ag.to_graph(collatz)(7),
        "nocontrol": tf.function(lambda x: x * 2, autograph=False)(n),
    }
    out(
        "code",
        [
            "def tf__" in ag.to_code(collatz) or "def" in ag.to_code(collatz),
            "while_stmt" in ag.to_code(collatz),
            "if_stmt" in ag.to_code(early),
        ],
    )
    out(
        "types",
        sorted(
            {
                o.type
                for o in tf.get_default_graph().get_operations()
                if o.type
                in (
                    "While",
                    "If",
                    "Switch",
                    "Enter",
                    "StatelessIf",
                    "StatelessWhile",
                    "PartitionedCall",
                    "StatefulPartitionedCall",
                )
            }
        ),
    )

    def undefined(x):
        if x > 0:
            y = 1
        return y

    def changes(x):
        z = 1
        while x > 0:
            z = "a"
            x -= 1
        return z

    out.raises("undefined", ag.to_graph(undefined), n)
    out.raises("changes", ag.to_graph(changes), n)
    out.raises("no autograph", tf.function(lambda x: x if x > 0 else -x, autograph=False), n)
    out.raises("iterate", tf.function(lambda x: [i for i in x], autograph=False), n)
    out.raises("unknown iterate", lambda: [i for i in v])

    @ag.experimental.do_not_convert
    def plain(x):
        return x * 3

    out("unconverted", [tf.Session().run(tf.function(plain)(tf.constant(2)))])
    with tf.Session() as sess:
        for turn, feed in enumerate(
            [{n: 6, v: [1, -6, 6, 6], m: [[1.0, -1.0], [2.0, 3.0]]}, {n: -3 + 4, v: [5, 5], m: [[0.0, 0.5]]}]
        ):
            for name in sorted(made):
                out(
                    "%s %d" % (name, turn),
                    sess.run(made[name], feed) if not isinstance(made[name], int) else made[name],
                )
