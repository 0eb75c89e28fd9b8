"""The moves by which random programs grow: arithmetic, shapes, views, variables, branches, loops, functions, queues,
any op at all.

A move takes the program (`random_programs.Drawn`) and adds to it. It raises ValueError where it finds nothing to start
from.
"""

from __future__ import annotations

import numpy as np

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.ops.functions.defun import Defun
from tests.runtime import random_inputs

MOVES: list = []
FLOATS = (tf.float32, tf.float64)
SHAPES = ([], [2], [3], [1, 3], [3, 2], [2, 3], [2, 2], [0, 3], [2, 1, 3])


def often(times: int):
    """A move that is drawn so many times as often as others."""

    def register(function):
        MOVES.extend([function] * times)
        return function

    return register


def begin(p) -> None:
    """What every program starts with: something fed, constants, a flag and a number of rounds."""
    rng = np.random.RandomState(p.random.randrange(1000))
    for dims, dtype in (
        ([None, 3], tf.float32),
        ([None, 3], p.random.choice([tf.float32, tf.float64, tf.int32])),
        ([], tf.int32),
        ([], tf.bool),
    ):
        made = tf.placeholder(dtype, dims if p.random.random() < 0.8 else None)
        p.feeds[made] = dims
        p.pool.append(made)
    for tensor, value in p.first_feeds().items():
        p.values[tensor] = value
    for _ in range(3):
        shape = p.random.choice(SHAPES)
        p.add(tf.constant(rng.randint(-4, 5, size=shape), p.random.choice([tf.float32, tf.float32, tf.int32])))


def small(p, shape, dtype=tf.float32):
    """A constant of small integers."""
    return tf.constant(np.array([p.random.randint(-3, 3) for _ in range(int(np.prod(shape)))]).reshape(shape), dtype)


def number(p, accept=lambda v: True):
    """A tensor that can be calculated with."""
    return p.pick(p.random.choice([tf.float32, tf.float32, tf.float32, tf.float64, tf.int32]), accept)


# --- arithmetic ------------------------------------------------------------------------------


@often(2)
def unary(p):
    x = number(p)
    p.add(
        p.random.choice(
            [
                tf.negative,
                tf.abs,
                tf.square,
                tf.nn.relu,
                tf.identity,
                tf.stop_gradient,
                tf.sign,
                tf.nn.relu6,
                tf.zeros_like,
                tf.ones_like,
            ]
        )(x)
    )


@often(3)
def binary(p):
    x = number(p)
    y = p.random.choice([lambda: p.like(x), lambda: small(p, p.random.choice([[], [3], [1, 3]]), x.dtype.base_dtype)])()
    kind = p.random.choice([tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, tf.squared_difference, raw.AddV2])
    p.add(kind(*p.random.sample([x, y], 2)))


@often(2)
def constants(p):
    """A chain of additions and multiplications with constants that rules look for."""
    x = number(p)
    for _ in range(p.random.randint(1, 5)):
        c = tf.constant(
            p.random.choice([0, 1, -1, 2, 1, 0]), x.dtype.base_dtype, p.random.choice([None, None, [1], [3], [1, 1]])
        )
        kind = p.random.choice(
            [tf.add, tf.subtract, tf.multiply, lambda a, b: tf.negative(a), lambda a, b: tf.realdiv(a, tf.ones_like(b))]
        )
        x = kind(*(p.random.sample([x, c], 2) if kind is not tf.negative else (x, c)))
        if p.random.random() < 0.15:
            p.fetchable.append(x)
    p.add(x)


@often(1)
def compare_and_choose(p):
    x = number(p)
    y = p.like(x)
    mask = p.random.choice([tf.less, tf.equal, tf.greater_equal, tf.not_equal])(x, y)
    p.add(mask)
    p.add(
        p.random.choice(
            [
                lambda: tf.where(mask, x, y),
                lambda: tf.cast(mask, x.dtype.base_dtype),
                lambda: raw.SelectV2(mask, x, y * 2),
            ]
        )()
    )


@often(2)
def product(p):
    x = p.pick(tf.float32, lambda v: v.ndim == 2)
    inner = p.values[x].shape[1]
    w = p.random.choice(
        [lambda: small(p, [inner, 2]), lambda: p.pick(tf.float32, lambda v: v.ndim == 2 and v.shape[0] == inner)]
    )()
    made = tf.matmul(x, w) if p.random.random() < 0.7 else tf.matmul(x, tf.transpose(w), transpose_b=True)
    columns = p.values[w].shape[1] if w in p.values else 2
    choice = p.random.random()
    if choice < 0.3:
        made = tf.nn.bias_add(made, small(p, [columns]))
    elif choice < 0.5:
        made = made + small(p, [columns])
    elif choice < 0.6:
        made = tf.nn.relu(tf.nn.bias_add(made, small(p, [columns])))
    elif choice < 0.7:
        made = made[:, : max(columns - 1, 1)]
    p.add(made)


@often(1)
def sum_of_many(p):
    x = number(p)
    parts = []
    for _ in range(p.random.randint(1, 4)):
        y = p.like(x)
        parts.append(p.random.choice([lambda y=y: y, lambda y=y: y * p.like(x), lambda y=y: -y, lambda y=y: y * 2])())
    p.add(tf.add_n(parts))


@often(1)
def sum_of_products(p):
    x = p.pick(tf.float32, lambda v: v.ndim == 2)
    inner = p.values[x].shape[1]
    p.add(tf.add_n([tf.matmul(p.like(x), small(p, [inner, 2])) for _ in range(p.random.randint(2, 3))]))


@often(1)
def reduction(p):
    x = number(p, lambda v: v.ndim > 0)
    rank = p.values[x].ndim
    axis = p.random.choice([None, 0, -1, list(range(rank)), []])
    kind = p.random.choice([tf.reduce_sum, tf.reduce_max, tf.reduce_min, tf.reduce_sum, tf.reduce_mean, tf.reduce_prod])
    p.add(kind(x, axis=axis, keepdims=p.random.random() < 0.4))


@often(1)
def convolution(p):
    x = p.pick(tf.float32, lambda v: v.ndim == 2 and v.shape[1] == 3)
    image = tf.reshape(x, [-1, 1, 3, 1])
    made = tf.nn.conv2d(image, small(p, [1, 2, 1, 2]), [1, 1, 1, 1], p.random.choice(["SAME", "VALID"]))
    if p.random.random() < 0.6:
        made = tf.nn.bias_add(made, small(p, [2]))
    p.add(made)


# --- shapes and views ------------------------------------------------------------------------


@often(2)
def shape_arithmetic(p):
    x = number(p, lambda v: v.ndim >= 1)
    shape = tf.shape(x)
    kind = p.random.randrange(8)
    if kind == 0:
        made = tf.reshape(x, tf.stack([shape[0], -1]))
    elif kind == 1:
        made = tf.reshape(tf.reshape(x, [-1]), shape)
    elif kind == 2:
        made = tf.fill(shape[:1] + 1, tf.reduce_sum(x))
    elif kind == 3:
        made = tf.tile(x, tf.concat([[p.random.choice([1, 2])], tf.ones_like(shape[1:])], 0))
    elif kind == 4:
        made = tf.squeeze(tf.expand_dims(x, p.random.choice([0, -1, 1])), p.random.choice([None, [0]]))
    elif kind == 5:
        made = tf.broadcast_to(x[:1], shape)
    elif kind == 6:
        made = tf.zeros(tf.stack([shape[0] * 2, tf.size(x) // tf.maximum(shape[0], 1)]), x.dtype.base_dtype) + tf.cast(
            tf.rank(x), x.dtype.base_dtype
        )
    else:
        made = tf.reshape(x, tf.concat([shape[:-1], [1], shape[-1:]], 0))
    if p.random.random() < 0.3:
        p.add(shape)
    p.add(made)


@often(3)
def view(p):
    x = p.pick(None, lambda v: v.ndim >= 1)
    rank = p.values[x].ndim
    kind = p.random.randrange(9)
    if kind == 0:
        made = [tf.transpose(x, p.random.sample(range(rank), rank))]
    elif kind == 1:
        made = [
            x[
                p.random.choice(
                    [slice(1, None), slice(None, None, -1), slice(0, 2), slice(None, None, 2), 0, -1, slice(0, 0)]
                )
            ]
        ]
    elif kind == 2:
        made = [x[..., p.random.choice([slice(1, None), slice(None, -1), 0, tf.newaxis])]]
    elif kind == 3:
        made = [tf.slice(x, [0] * rank, [min(1, p.values[x].shape[0])] + [-1] * (rank - 1))]
    elif kind == 4:
        made = tf.unstack(x, axis=0, num=p.values[x].shape[0])[:3]
    elif kind == 5:
        made = tf.split(x, [1, -1], axis=rank - 1)
    elif kind == 6:
        made = [tf.concat([x, p.like(x)], p.random.choice([0, -1])), tf.stack([x, p.like(x)], p.random.choice([0, 1]))]
    elif kind == 7:
        made = [tf.reverse(x, [p.random.randrange(rank)]), tf.gather(x, [0, 0], axis=p.random.randrange(rank))]
    else:
        made = [
            tf.cast(x, p.random.choice([tf.float32, tf.int32, tf.float64])),
            tf.pad(x, [[0, p.random.choice([0, 1])]] * rank),
        ]
    for tensor in made:
        p.add(tensor)


@often(1)
def fed_within(p):
    """A tensor that is computed, and fed in some runs."""
    x = number(p)
    made = p.add(tf.identity(x) if p.random.random() < 0.3 else x + 1)
    p.fed_inside.append(made)


# --- variables -------------------------------------------------------------------------------


def variable(p, shape, dtype=tf.float32):
    """A variable, referenced or by handle, old or new."""
    if p.variables and p.random.random() < 0.6:
        fit = [v for v in p.variables if v.shape.as_list() == list(shape) and v.dtype.base_dtype == dtype]
        if fit:
            return p.random.choice(fit)
    start = (
        np.array([p.random.randint(-3, 3) for _ in range(int(np.prod(shape)))])
        .reshape(shape)
        .astype(dtype.as_numpy_dtype)
    )
    with tf.control_dependencies(None):
        made = tf.Variable(start, use_resource=p.random.random() < 0.5)
    p.variables.append(made)
    p.initializers.append(made.initializer)
    return made


@often(3)
def read(p):
    v = variable(p, p.random.choice([[3], [2, 3], [3, 2], [2, 2], []]))
    how = p.random.choice(
        [lambda: v.read_value(), lambda: tf.identity(v), lambda: v + 0, lambda: v * 2, lambda: tf.convert_to_tensor(v)]
    )
    tensor = how()
    if p.random.random() < 0.4 and v.shape.ndims:
        tensor = p.random.choice(
            [
                lambda: tf.reshape(tensor, [-1]),
                lambda: tensor[:1],
                lambda: tf.transpose(tensor),
                lambda: tensor[0],
                lambda: tf.expand_dims(tensor, 0),
            ]
        )()
    p.add(tensor)


@often(4)
def write(p):
    x = p.pick(tf.float32, lambda v: v.shape in [(3,), (2, 3), (3, 2), (2, 2), ()])
    shape = list(p.values[x].shape)
    v = variable(p, shape)
    value = tf.reshape(x, shape)
    if p.random.random() < 0.3:
        value = (v - value) * 0.25 if p.random.random() < 0.5 else v + value
    if p.random.random() < 0.3:
        value = tf.clip_by_value(value, -8, 8)
    with p.after_writes(v):
        made = p.random.choice([tf.assign, tf.assign_add, tf.assign_sub])(v, value)
    op = made.op if hasattr(made, "op") else made
    p.wrote(op, v)
    if p.random.random() < 0.5:
        with tf.control_dependencies([op]):  # what is read then, and an older read that is used then
            p.add(v.read_value())
            p.add(p.pick(tf.float32) * 2)


@often(1)
def scatter(p):
    v = variable(p, [2, 3])
    kind = p.random.choice([tf.scatter_add, tf.scatter_update, tf.scatter_sub])
    with p.after_writes(v):
        made = kind(v, tf.constant([p.random.randrange(2)]), small(p, [1, 3]))
    p.wrote(made.op, v)


@often(1)
def scaled(p):
    """Updates that rules look for: decay, moving averages."""
    v = variable(p, [3])
    kind = p.random.randrange(3)
    with p.after_writes(v):
        if kind == 0:
            made = tf.assign(v, v * 0.5)
        elif kind == 1:
            made = tf.assign_sub(v, (v - p.pick(tf.float32, lambda value: value.shape == (3,))) * 0.5)
        else:
            made = tf.assign(v, v * 0.5 + p.pick(tf.float32, lambda value: value.shape == (3,)) * 0.5)
    p.wrote(made.op, v)


@often(1)
def optimizer(p):
    """A step of training. Rules may divide and multiply in another order."""
    x = p.pick(tf.float32, lambda v: v.ndim == 2 and v.shape[1] == 3)
    weights = [variable(p, [3, 2]), variable(p, [2])] if p.random.random() < 0.7 else [variable(p, [3, 2])]
    loss = tf.reduce_mean(tf.square(tf.matmul(x, weights[0]) + (weights[1] if len(weights) > 1 else 0.0)))
    kind = p.random.choice(
        [
            tf.train.GradientDescentOptimizer(0.125),
            tf.train.MomentumOptimizer(0.125, 0.5),
            tf.train.AdamOptimizer(0.1),
            tf.train.RMSPropOptimizer(0.1),
            tf.train.AdagradOptimizer(0.1),
        ]
    )
    known = set(tf.global_variables())
    with tf.control_dependencies(None):
        gradients = kind.compute_gradients(loss, weights)
    with p.after_writes(*weights):
        step = kind.apply_gradients(gradients)
    added = [v for v in tf.global_variables() if v not in known]
    p.initializers += [v.initializer for v in added]
    p.variables += added
    p.inexact()
    p.wrote(step, *weights, *added)
    p.fetchable.append(loss)


# --- branches and loops ----------------------------------------------------------------------


def expression(p, values, depth=0):
    """A tensor of the shape that all of some values have, made of them."""
    kind = p.random.random() if depth < 3 else 0.0
    part = lambda: expression(p, values, depth + 1)  # noqa: E731
    if kind < 0.25:
        return p.random.choice(values)
    if kind < 0.5:
        return tf.clip_by_value(p.random.choice([tf.add, tf.subtract, tf.multiply])(part(), part()), -8, 8)
    if kind < 0.6:
        return p.random.choice([tf.negative, tf.abs, tf.identity, tf.nn.relu])(part())
    if kind < 0.7:
        fit = [
            v
            for v in p.variables
            if v.shape.as_list() == values[0].shape.as_list() and v.dtype.base_dtype == values[0].dtype
        ]
        return p.random.choice(fit).read_value() + part() if fit else part()
    if kind < 0.8:
        return part() * p.random.choice([0, 1, 2, -1])
    if kind < 0.9:
        return branch(p, values, depth + 1)
    return loop(p, values, depth + 1)


def flag(p):
    kind = p.random.random()
    if kind < 0.5:
        return p.pick(tf.bool, lambda v: v.shape == ())
    if kind < 0.7:
        return tf.constant(p.random.random() < 0.5)
    return tf.reduce_sum(p.pick(tf.float32)) > 0


def branch(p, values, depth=0):
    def side():
        made = expression(p, values, depth)
        if p.random.random() < 0.25:
            fit = [
                v for v in p.variables if v.dtype.base_dtype == made.dtype and v.shape.as_list() == made.shape.as_list()
            ]
            fit = [v for v in fit if v.name not in p.written and not p.loops]
            if fit:
                p.written.update(v.name for v in fit)
                with tf.control_dependencies(
                    [p.random.choice([tf.assign, tf.assign_add])(fit[0], tf.clip_by_value(made, -8, 8))]
                ):
                    made = tf.identity(made)
        return made

    if p.random.random() < 0.8:
        return tf.cond(tf.identity(flag(p)), side, side)
    return tf.case([(tf.identity(flag(p)), side), (tf.identity(flag(p)), side)], default=side)


def loop(p, values, depth=0):
    rounds = p.random.choice([0, 1, 2, 3])
    limit = (
        tf.constant(rounds)
        if p.random.random() < 0.5
        else tf.minimum(tf.abs(p.pick(tf.int32, lambda v: v.shape == ())), 3)
    )
    start = tf.identity(p.random.choice(values))
    shapes = [tf.TensorShape([]), start.shape]

    def body(i, state):
        # Rounds may overlap, so what one writes and another reads has no order.
        p.loops += 1
        made = tf.clip_by_value(expression(p, [*values, state, state], depth + 1), -8, 8)
        p.loops -= 1
        return i + 1, made

    return tf.while_loop(
        lambda i, *_: i < limit, body, [0, start], shape_invariants=shapes, parallel_iterations=p.random.choice([1, 10])
    )[1]


def material(p):
    """Tensors of one shape, all of it known."""
    x = p.pick(tf.float32, lambda v: v.size > 0)
    shape = list(p.values[x].shape)
    found = [tf.reshape(x, shape)] + [tf.reshape(p.like(x), shape) for _ in range(2)]
    return list(dict.fromkeys(found))


@often(3)
def branches(p):
    with p.after_writes():
        made = branch(p, material(p))
    p.add(made)
    p.wrote(made.op)


@often(3)
def loops(p):
    with p.after_writes():
        values = material(p)
        made = loop(p, values)
    p.add(made)
    p.wrote(made.op)
    if p.random.random() < 0.5:
        derivative(p, made, values)


def derivative(p, y, xs):
    for gradient in tf.gradients(tf.reduce_sum(y), xs):
        if gradient is not None:
            p.add(tf.convert_to_tensor(gradient))


@often(2)
def gradients(p):
    y = p.pick(tf.float32)
    xs = (
        p.random.sample([t for t in p.pool if t.dtype == tf.float32], 2)
        + [v for v in p.variables if v.dtype.base_dtype == tf.float32][:2]
    )
    derivative(p, y * p.random.choice([1, 2]), xs)


@often(1)
def array(p):
    """What loops gather in a TensorArray."""
    x = p.pick(tf.float32, lambda v: v.ndim >= 1 and v.shape[0] > 0)
    count = p.values[x].shape[0]
    source = tf.TensorArray(tf.float32, count, clear_after_read=False).unstack(tf.reshape(x, p.values[x].shape))
    target = tf.TensorArray(tf.float32, count)

    def body(i, target, total):
        row = source.read(i)
        return i + 1, target.write(i, row * 2 + total), tf.clip_by_value(total + row, -8, 8)

    _, target, total = tf.while_loop(lambda i, *_: i < count, body, [0, target, tf.zeros(p.values[x].shape[1:])])
    made = p.random.choice([target.stack, lambda: target.gather([0]), lambda: target.stack() + total])()
    p.add(made)
    if p.random.random() < 0.5:
        derivative(p, made, [x])


@often(1)
def stack(p):
    x = p.pick(tf.float32)
    handle = raw.StackV2(max_size=4, elem_type=tf.float32)
    pushed = raw.StackPushV2(handle=handle, elem=x)
    with tf.control_dependencies([pushed]):
        between = p.writes[-1:] if p.random.random() < 0.5 else []
        with tf.control_dependencies(between):
            p.add(raw.StackPopV2(handle=handle, elem_type=tf.float32))


@often(1)
def merged(p):
    """Switch and Merge by hand."""
    x = number(p)
    switch = raw.Switch(data=x, pred=flag(p))
    sides = [switch.output_false * 2, raw.Neg(x=switch.output_true)]
    made = raw.Merge(inputs=p.random.sample(sides, 2))
    p.fetchable += sides
    p.fetchable.append(made.value_index)
    p.add(made.output)


# --- functions, queues, random numbers -------------------------------------------------------


@often(1)
def function(p):
    x = p.pick(tf.float32)
    values = p.random.choice([1, 2])
    choice = p.random.randrange(3)

    @Defun(*[tf.float32] * values)
    def called(*arguments):
        total = tf.add_n(list(arguments))
        if choice == 0:
            return total * 2, arguments[0]
        if choice == 1:
            return tf.reshape(total, [-1]), tf.transpose(arguments[0])
        return tf.cond(tf.reduce_sum(total) > 0, lambda: total, lambda: -total), tf.reduce_max(total)

    for tensor in called(*[p.like(x) for _ in range(values)]):
        p.add(tensor)


@often(1)
def function_with_variable(p):
    """A function that writes a variable and shows it."""
    x = p.pick(tf.float32, lambda v: v.shape == (3,))
    with tf.control_dependencies(None):
        v = tf.Variable(small(p, [3]), use_resource=True)
    p.variables.append(v)
    p.initializers.append(v.initializer)
    writes = p.random.random() < 0.6

    @Defun(tf.resource, tf.float32)
    def called(handle, value):
        before = raw.ReadVariableOp(resource=handle, dtype=tf.float32)
        with tf.control_dependencies([before]):
            controls = [raw.AssignAddVariableOp(resource=handle, value=value)] if writes else []
        with tf.control_dependencies(controls):
            return before, raw.ReadVariableOp(resource=handle, dtype=tf.float32)

    before, after = called(v.handle, tf.reshape(x, [3]))
    p.wrote(before.op, v)
    with tf.control_dependencies([before]):
        added = tf.assign_add(v, [1.0, 1.0, 1.0])
    if p.random.random() < 0.3:
        p.wrote(added.op, v)
        with tf.control_dependencies([added]):
            p.add(before * 1)
    p.add(after + 0)


@often(1)
def queue(p):
    x = number(p)
    shape = p.values[x].shape
    with tf.control_dependencies(None):
        made = tf.FIFOQueue(p.random.choice([1, 8]), [x.dtype.base_dtype], [shape] if p.random.random() < 0.5 else None)
    put = made.enqueue([tf.reshape(x, shape)])
    with tf.control_dependencies([put] if p.random.random() < 0.6 else []):
        taken = made.dequeue()
    p.add(tf.tuple([taken], control_inputs=[put])[0])


@often(1)
def chance(p):
    kind = p.random.randrange(5)
    shape = p.random.choice(SHAPES)
    if kind == 0:
        made = tf.random_uniform(shape, -4, 5, tf.int32, seed=p.random.choice([None, 7]))
    elif kind == 1:
        made = tf.random_normal(shape, seed=3)
    elif kind == 2:
        made = tf.random_shuffle(p.pick(None, lambda v: v.ndim >= 1))
    elif kind == 3:
        made = tf.nn.dropout(p.pick(tf.float32), rate=0.5)
    else:
        made = tf.truncated_normal(tf.shape(p.pick(tf.float32)), seed=1)
    p.add(made)


@often(4)
def any_op(p):
    """Whatever op type has a kernel, on inputs that fit its definition."""
    one_op(p, None)


def one_op(p, op_type):
    """An op of this type, or of any."""
    for tensor in random_inputs.draw(p, op_type):
        if tensor.dtype.base_dtype in (tf.float32, tf.float64, tf.int32, tf.bool):
            p.add(tensor)
        else:
            p.run(tensor)
            p.fetchable.append(tensor)
