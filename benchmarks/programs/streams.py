"""Programs that go through memory and do little else: how near they come to a plain copy tells how well they do it.

They have sixteen million numbers each, more than caches hold, and are not among `PROGRAMS`.
"""

SIZE = 1 << 24
STREAMS = {}  # name → program
PASSES = {}  # name → how often it has to go through SIZE numbers, by reading or by writing


def stream(passes):
    def note(build):
        STREAMS[build.__name__], PASSES[build.__name__] = build, passes
        return build

    return note


def _numbers(tf, name):
    return tf.get_variable(name, [SIZE], initializer=tf.ones_initializer())


@stream(passes=2)
def arithmetic(tf):
    """Three operations on each number, the results into another variable."""
    return [_numbers(tf, "results").assign(tf.maximum(_numbers(tf, "x") * 2.0 + 1.0, 0.5)).op], {}


@stream(passes=1)
def reduction(tf):
    """The sum of squares."""
    return [tf.reduce_sum(tf.square(_numbers(tf, "x")))], {}


@stream(passes=7)
def optimizer(tf):
    """A step of Adam: reads the gradient, and reads and writes the variable and both averages."""
    return [tf.train.AdamOptimizer().apply_gradients([(_numbers(tf, "gradient").read_value(), _numbers(tf, "x"))])], {}
