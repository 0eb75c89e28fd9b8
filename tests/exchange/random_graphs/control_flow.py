"""Branches and loops, nested in each other, with what they read and write; as primitives and as functions."""

from __future__ import annotations

from tests.exchange.random_graphs.writing import Family, often

MOVES: list = []
SHAPE = (3,)


def begin_functional(p):
    p.line("tf.compat.v1.enable_control_flow_v2()")
    begin(p)


def begin(p):
    if not p.lines:
        p.line("tf.compat.v1.disable_control_flow_v2()")
    made = p.add("tf.placeholder(tf.float32, [" + p.choice("None", "3") + "])", shape=SHAPE)
    p.line(f"feeds[{made.name}] = np.array({p.numbers(SHAPE)}, 'float32')")
    p.add(f"tf.constant({p.numbers(SHAPE)})", shape=SHAPE)
    flag = p.add("tf.placeholder(tf.bool, [])", "flag", "bool")
    p.line(f"feeds[{flag.name}] = {p.chance(0.5)}")
    count = p.add("tf.placeholder(tf.int32, [])", "count", "int32")
    p.line(f"feeds[{count.name}] = {p.choice(0, 1, 3)}")
    if p.chance(0.4):
        p.line(
            f"w = tf.get_variable('w', initializer=np.array({p.numbers(SHAPE)}, 'float32'), use_resource={p.chance(0.7)})"
        )
        p.add("tf.identity(w)", shape=SHAPE, about=("variable",))


def vector(p):
    return p.pick("tensor", "float32", lambda v: v.shape == SHAPE).name


def condition(p):
    return p.random.choice(
        [
            lambda: p.pick("flag").name,
            lambda: f"tf.reduce_sum({vector(p)}) > {p.numbers(())}",
            lambda: f"tf.constant({p.chance(0.5)})",
        ]
    )()


def expression(p, inside=(), depth=0):
    """A text of a tensor of three numbers; `inside` are the names that only stand there."""
    name = lambda: p.random.choice(inside) if inside and p.chance(0.7) else vector(p)  # noqa: E731
    part = lambda: expression(p, inside, depth + 1)  # noqa: E731
    kind = p.random.random() if depth < 3 else 0.0
    if kind < 0.25:
        return name()
    if kind < 0.5:
        return f"({part()} {p.choice('+', '-', '*')} {part()})"
    if kind < 0.7:
        return f"tf.{p.choice('sin', 'tanh', 'nn.relu', 'abs', 'square', 'identity', 'sigmoid')}({part()})"
    if kind < 0.8:
        return f"({name()} * {p.numbers(())})"
    if kind < 0.88:
        return branch(p, inside, depth + 1)
    if kind < 0.95:
        return loop(p, inside, depth + 1)
    return mapped(p, inside)


def branch(p, inside=(), depth=0):
    if p.chance(0.8):
        return f"tf.cond({condition(p)}, lambda: {expression(p, inside, depth)}, lambda: {expression(p, inside, depth)}{p.named('branch')})"
    return f"tf.case([({condition(p)}, lambda: {expression(p, inside, depth)}), ({condition(p)}, lambda: {expression(p, inside, depth)})], default=lambda: {expression(p, inside, depth)})"


def loop(p, inside=(), depth=0):
    i, t = p.name_for("i"), p.name_for("t")
    rounds = p.random.choice([str(p.choice(0, 1, 2, 3)), p.pick("count").name])
    more = p.choice(
        "",
        "",
        ", parallel_iterations=1",
        ", maximum_iterations=2",
        ", back_prop=False" if p.chance(0.3) else "",
        ", swap_memory=True" if p.chance(0.3) else "",
    )
    return f"tf.while_loop(lambda {i}, {t}: {i} < {rounds}, lambda {i}, {t}: ({i} + 1, {expression(p, (*inside, t), depth + 1)}), [{p.choice('0', 'tf.constant(0)')}, {expression(p, inside, 3)}]{more})[1]"


def mapped(p, inside=()):
    x = p.random.choice(inside) if inside and p.chance(0.5) else vector(p)
    return p.choice(
        f"tf.map_fn(lambda e: e * 2.0 + 1.0, {x})", f"tf.scan(lambda a, e: a * 0.5 + e, {x})", f"({x} * tf.foldl(lambda a, e: a + e, {x}))",
        f"tf.map_fn(lambda e: tf.cond(e > 0.0, lambda: e, lambda: -e), {x})", f"tf.scan(lambda a, e: a + e, {x}, initializer=1.0, reverse=True)",
    )  # fmt: skip


@often(MOVES, 3)
def branches(p):
    p.add(branch(p), shape=SHAPE)


@often(MOVES, 3)
def loops(p):
    p.add(loop(p), shape=SHAPE)


@often(MOVES)
def maps(p):
    p.add(mapped(p), shape=SHAPE)


@often(MOVES)
def plain(p):
    p.add(expression(p), shape=SHAPE)


@often(MOVES, 2)
def gradient(p):
    y, x = vector(p), vector(p)
    text = p.choice(
        "tf.gradients({y}, {x})[0]",
        "tf.gradients(tf.reduce_sum({y} * {y}), {x})[0]",
        "tf.gradients({y}, {x}, grad_ys=tf.ones_like({y}))[0]",
        "tf.gradients(tf.gradients({y} * {y}, {x})[0], {x})[0]",
    )
    p.add(text.format(x=x, y=y), shape=None)


@often(MOVES)
def pair(p):
    """A branch with two results, of different kinds."""
    both = p.name_for("pair")
    p.line(
        f"{both} = tf.cond({condition(p)}, lambda: ({expression(p)}, tf.constant(1)), lambda: ({expression(p)}, tf.constant(2)))"
    )
    p.add(f"{both}[0]", shape=SHAPE)
    p.add(f"{both}[1]", dtype="int32")


@often(MOVES)
def arrays(p):
    """A loop that writes a TensorArray."""
    n = p.choice(1, 2, 3)
    ta = p.name_for("ta")
    more = p.choice("", ", element_shape=[3]", ", infer_shape=False", ", dynamic_size=True", ", clear_after_read=False")
    size = 0 if "dynamic" in more else n
    p.line(
        f"{ta} = tf.while_loop(lambda i, a: i < {n}, lambda i, a: (i + 1, a.write(i, {expression(p, (), 2)})), [0, tf.TensorArray(tf.float32, {size}{more})])[1]"
    )
    p.add(
        p.choice(f"{ta}.stack()", f"{ta}.concat()", f"{ta}.read({n - 1})", f"{ta}.gather([0])", f"{ta}.size()"),
        shape=None,
    )


@often(MOVES)
def writing(p):
    """A branch that writes a variable."""
    value = p.pick("tensor", accept=lambda v: v.about == ("variable",))
    p.add(
        f"tf.cond({condition(p)}, lambda: tf.assign_add(w, {expression(p, (value.name,), 2)}), lambda: tf.identity(w))",
        shape=None,
    )


@often(MOVES)
def functions(p):
    """What a function of a graph draws."""
    f = p.name_for("f")
    p.line(f"{f} = tf.function(lambda x: {expression(p, ('x',), 1)}, autograph=False)")
    p.add(f"{f}({vector(p)})", shape=SHAPE)


FUNCTIONAL = Family("control_flow_v2", begin_functional, MOVES, (2, 6))
PRIMITIVE = Family("control_flow", begin, MOVES, (2, 6))
