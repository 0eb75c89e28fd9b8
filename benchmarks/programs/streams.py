"""Programs that go through memory and do little else: how near they come to a plain copy tells how well they do it.

They have sixteen million numbers each, more than caches hold, and are not among `PROGRAMS`.
"""

SIZE, COLUMNS = 1 << 24, 1 << 10
STREAMS = {}  # name → program
PASSES = {}  # name → how often it has to go through SIZE numbers, by reading or by writing


def stream(passes):
    def note(build):
        STREAMS[build.__name__], PASSES[build.__name__] = build, passes
        return build

    return note


def _numbers(tf, name):
    return tf.get_variable(name, [SIZE], initializer=tf.ones_initializer())


def _rows(tf, name):
    return tf.get_variable(name, [SIZE // COLUMNS, COLUMNS], initializer=tf.ones_initializer())


def _trained(tf, optimizer):
    return [optimizer.apply_gradients([(_numbers(tf, "gradient").read_value(), _numbers(tf, "x"))])], {}


@stream(passes=2)
def arithmetic(tf):
    """Three operations on each number, the results into another variable."""
    return [_numbers(tf, "results").assign(tf.maximum(_numbers(tf, "x") * 2.0 + 1.0, 0.5)).op], {}


@stream(passes=3)
def selection(tf):
    """The one or the other number, whichever a comparison says."""
    x, y = _numbers(tf, "x"), _numbers(tf, "y")
    return [_numbers(tf, "results").assign(tf.where(x > y, x, y * 0.5)).op], {}


@stream(passes=2)
def layer(tf):
    """What follows a product in a layer: a number for each column is added, and what is below zero goes."""
    bias = tf.get_variable("bias", [COLUMNS], initializer=tf.ones_initializer())
    return [_rows(tf, "results").assign(tf.nn.relu(_rows(tf, "x") + bias)).op], {}


@stream(passes=1)
def reduction(tf):
    """The sum of squares."""
    return [tf.reduce_sum(tf.square(_numbers(tf, "x")))], {}


@stream(passes=1)
def sums_of_rows(tf):
    return [tf.reduce_sum(tf.square(_rows(tf, "x")), 1)], {}


@stream(passes=1)
def sums_of_columns(tf):
    return [tf.reduce_sum(tf.square(_rows(tf, "x")), 0)], {}


@stream(passes=2)
def normalized_rows(tf):
    """Rows less their mean, by their deviation."""
    x = _rows(tf, "x")
    mean, variance = tf.nn.moments(x, [1], keep_dims=True)
    return [_rows(tf, "results").assign((x - mean) * tf.rsqrt(variance + 1e-3)).op], {}


@stream(passes=2)
def softmax(tf):
    """Powers as shares of each row: bound by arithmetic, some thirty operations for a number."""
    return [_rows(tf, "results").assign(tf.nn.softmax(_rows(tf, "x"))).op], {}


@stream(passes=3)
def gradient_descent(tf):
    """A plain step: reads the gradient, and reads and writes the variable."""
    return _trained(tf, tf.train.GradientDescentOptimizer(0.1))


@stream(passes=5)
def momentum(tf):
    """A step with momentum: reads and writes an average as well."""
    return _trained(tf, tf.train.MomentumOptimizer(0.1, 0.9))


@stream(passes=7)
def optimizer(tf):
    """A step of Adam: reads the gradient, and reads and writes the variable and both averages."""
    return _trained(tf, tf.train.AdamOptimizer())
