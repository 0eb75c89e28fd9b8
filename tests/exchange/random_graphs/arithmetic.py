"""Arithmetic, shapes, reductions, gradients, variables and optimizers on dense tensors."""

from __future__ import annotations

from tests.exchange.random_graphs.writing import Family, often

MOVES: list = []
FLOATS = ("float32", "float64")
NUMBERS = ("float32", "float64", "int32", "int64")


def begin(p):
    """Something fed, of unknown and known shapes, and constants."""
    for _ in range(p.random.randint(1, 2)):
        fed(p)
    for _ in range(2):
        constant(p)


def fed(p):
    shape = p.choice((2, 3), (3,), (), (2, 2, 3), (0, 3))
    dtype = p.choice("float32", "float32", "float64", "int32")
    known = [None if p.chance(0.4) else d for d in shape]
    made = p.add(f"tf.placeholder(tf.{dtype}, {None if p.chance(0.15) else known})", dtype=dtype, shape=shape)
    p.line(f"feeds[{made.name}] = np.array({p.numbers(shape, dtype)}, '{dtype}').reshape({list(shape)})")


def constant(p, dtype=None, shape=None):
    shape = p.choice((), (3,), (2, 3), (1, 3), (3, 2), (2, 1)) if shape is None else shape
    dtype = p.choice("float32", "float32", "int32", "float64", "int64", "bool", "string") if dtype is None else dtype
    return p.add(f"tf.constant({p.numbers(shape, dtype)}, tf.{dtype})", dtype=dtype, shape=shape)


def broadcast(a, b):
    """The shape of two shapes together; None where they don't fit, which programs may ask, too."""
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    if any(m != n and 1 not in (m, n) for m, n in zip(a, b)):
        return None
    return tuple(n if m == 1 else m for m, n in zip(a, b))


def known(p, dtypes=NUMBERS, accept=lambda v: True):
    return p.pick("tensor", dtypes, lambda v: v.shape is not None and accept(v))


@often(MOVES, 2)
def unary(p):
    x = known(p)
    names = ["negative", "abs", "square", "sign", "identity", "zeros_like", "ones_like"]
    if x.dtype in FLOATS:
        names += "exp tanh sigmoid sin cos floor ceil round rint softplus nn.relu nn.relu6 nn.elu nn.softsign nn.selu log1p expm1 erf atan is_nan is_finite lgamma digamma nn.leaky_relu stop_gradient".split()
        names = [n for n in names if n != "softplus"] + ["nn.softplus"]
    name = p.random.choice(names)
    dtype = "bool" if name.startswith("is_") else x.dtype
    p.add(f"tf.{name}({x.name}{p.named(name.split('.')[-1])})", dtype=dtype, shape=x.shape)


@often(MOVES, 3)
def binary(p):
    x = known(p)
    name = p.choice("add", "subtract", "multiply", "maximum", "minimum", "squared_difference", "floordiv", "floormod",
                    "div", "truediv", "less", "greater_equal", "equal", "not_equal", "pow", "realdiv", "div_no_nan")  # fmt: skip
    y = p.pick("tensor", x.dtype, lambda v: v.shape is not None and broadcast(x.shape, v.shape) is not None)
    dtype = "bool" if name in ("less", "greater_equal", "equal", "not_equal") else x.dtype
    dtype = {"int32": "float64", "int64": "float64"}.get(dtype, dtype) if name == "truediv" else dtype
    if p.chance(0.1):
        p.add(f"tf.{name}({x.name}, tf.cast({p.pick('tensor').name}, tf.{x.dtype}))", dtype=dtype, shape=None)
    else:
        p.add(f"tf.{name}({x.name}, {y.name})", dtype=dtype, shape=broadcast(x.shape, y.shape))


@often(MOVES, 2)
def operators(p):
    x = known(p)
    text = p.choice(
        "{x} + 1",
        "2 * {x}",
        "{x} - 3",
        "1 - {x}",
        "-{x}",
        "{x} ** 2",
        "{x} / 2",
        "{x} // 2",
        "{x} % 3",
        "abs({x})",
        "{x} * {x} + {x}",
    )
    dtype = {"int32": "float64", "int64": "float64"}.get(x.dtype, x.dtype) if text == "{x} / 2" else x.dtype
    p.add(text.format(x=x.name), dtype=dtype, shape=x.shape)


@often(MOVES, 2)
def reduction(p):
    x = known(p)
    rank = len(x.shape)
    axis = p.random.choice([None, *range(-rank, rank)] + ([[0, rank - 1]] if rank > 1 else []) + [[]])
    keep = p.chance(0.3)
    name = (
        p.choice("sum", "mean", "max", "min", "prod", "logsumexp")
        if x.dtype in FLOATS
        else p.choice("sum", "max", "min", "prod", "mean")
    )
    p.add(
        f"tf.reduce_{name}({x.name}, axis={axis}, keepdims={keep})", dtype=x.dtype, shape=_reduced(x.shape, axis, keep)
    )


def _reduced(shape, axis, keep):
    axes = range(len(shape)) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = {a % len(shape) for a in axes} if shape else set()
    return tuple(1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes)


@often(MOVES, 3)
def shaping(p):
    x = known(p, (*NUMBERS, "bool", "string"))
    rank = len(x.shape)
    size = 1
    for d in x.shape:
        size *= d
    options = [
        (f"tf.reshape({x.name}, [-1])", (size,)),
        (f"tf.expand_dims({x.name}, {p.choice(0, -1)})", None),
        (f"tf.stack([{x.name}, {x.name}], axis={p.choice(0, -1)})", None),
        (f"tf.shape({x.name})", (rank,)),
        (f"tf.size({x.name}, out_type=tf.int64)", ()),
        (f"tf.rank({x.name})", ()),
        (f"tf.tile({x.name}, {[p.choice(1, 2) for _ in x.shape]})", None),
    ]
    if rank:
        options += [
            (f"tf.transpose({x.name})", x.shape[::-1]),
            (f"{x.name}[{p.choice('0', '-1', '1:', '::2', '::-1', '..., 0', '..., tf.newaxis', ':1')}]", None),
            (f"tf.concat([{x.name}, {x.name}], {p.choice(0, -1)})", None),
            (f"tf.reverse({x.name}, [{p.random.randrange(rank)}])", x.shape),
            (f"tf.unstack({x.name}, num={x.shape[0]})[-1]", x.shape[1:]),
            (f"tf.split({x.name}, {p.choice(1, x.shape[-1] or 1)}, axis=-1)[0]", None),
            (f"tf.gather({x.name}, {p.choice('[0, 0]', '0', '[[0], [0]]')}, axis={p.choice(0, rank - 1)})", None),
            (
                f"tf.pad({x.name}, {[[p.choice(0, 1), p.choice(0, 2)] for _ in x.shape]}, {p.choice('CONSTANT', 'REFLECT', 'SYMMETRIC')!r})",
                None,
            ),
            (f"tf.squeeze({x.name})", tuple(d for d in x.shape if d != 1)),
            (f"tf.slice({x.name}, {[0] * rank}, {[-1] * rank})", x.shape),
            (f"tf.reshape({x.name}, tf.concat([tf.shape({x.name})[:1], [-1]], 0))", None),
            (f"tf.boolean_mask({x.name}, {x.name}[..., 0:1] < {x.name}[..., 0:1])", None),
        ]
    text, shape = p.random.choice(options)
    dtype = "int32" if text.startswith(("tf.shape", "tf.rank")) else "int64" if text.startswith("tf.size") else x.dtype
    p.add(text, dtype=dtype, shape=shape)


@often(MOVES)
def casting(p):
    x = known(p, (*NUMBERS, "bool"))
    dtype = p.choice(*NUMBERS, "bool")
    p.add(f"tf.{p.choice('cast', 'dtypes.cast')}({x.name}, tf.{dtype})", dtype=dtype, shape=x.shape)


@often(MOVES)
def choosing(p):
    x = known(p)
    p.add(f"tf.where({x.name} > {x.name} * {x.name}, {x.name}, tf.zeros_like({x.name}))", dtype=x.dtype, shape=x.shape)


@often(MOVES, 2)
def product(p):
    x = known(p, FLOATS, lambda v: len(v.shape) == 2)
    w = constant(p, x.dtype, (x.shape[1], 2))
    kind = p.choice(
        "tf.matmul({x}, {w})",
        "tf.nn.xw_plus_b({x}, {w}, tf.ones([2], {x}.dtype))",
        "tf.matmul({w}, {x}, transpose_a=True, transpose_b=True)",
        "tf.tensordot({x}, {w}, 1)",
        "tf.einsum('ij,jk->ik', {x}, {w})",
    )
    shape = (2, x.shape[0]) if "transpose" in kind else (x.shape[0], 2)
    p.add(kind.format(x=x.name, w=w.name), dtype=x.dtype, shape=shape)


@often(MOVES)
def functions(p):
    x = known(p, FLOATS, lambda v: len(v.shape) >= 1 and 0 not in v.shape)
    text = p.choice(
        "tf.nn.softmax({x})", "tf.nn.log_softmax({x})", "tf.cumsum({x}, axis=0, exclusive=True)", "tf.cumprod({x}, axis=-1, reverse=True)",
        "tf.nn.l2_normalize({x}, -1)", "tf.clip_by_value({x}, -1, 2)", "tf.clip_by_norm({x}, 2.0)", "tf.nn.l2_loss({x})",
        "tf.nn.top_k({x}, 1)[0]", "tf.argmax({x}, -1)", "tf.argsort({x})", "tf.sort({x}, direction='DESCENDING')", "tf.one_hot(tf.argmin({x}, 0), 3)",
        "tf.nn.moments({x}, [0])[1]", "tf.nn.dropout({x}, rate=0.5, seed=3)", "tf.random_shuffle({x}, seed=2)", "tf.linalg.norm({x}, axis=-1)",
        "tf.nn.sigmoid_cross_entropy_with_logits(labels={x}, logits={x})", "tf.losses.mean_squared_error({x}, {x} * 2)",
        "tf.losses.huber_loss({x}, {x} * 2, weights=0.5)", "tf.nn.zero_fraction({x})", "tf.reduce_any({x} > 0, 0)", "tf.count_nonzero({x}, axis=0)",
        "tf.sequence_mask(tf.cast(tf.abs({x}), tf.int32), 5)", "tf.math.segment_sum({x}, tf.zeros(tf.shape({x})[:1], tf.int32))",
        "tf.math.unsorted_segment_mean({x}, tf.zeros(tf.shape({x})[:1], tf.int32), 2)", "tf.roll({x}, 1, 0)", "tf.meshgrid(tf.reshape({x}, [-1]), [1, 2])[0]" if x.dtype == "int32" else "tf.identity_n([{x}, {x}])[1]",
        "tf.layers.flatten({x})", "tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.nn.softmax({x}), logits={x})",
    )  # fmt: skip
    p.add(text.format(x=x.name), dtype=x.dtype if "arg" not in text else "int64", shape=None)


@often(MOVES)
def drawing(p):
    shape = list(p.choice((3,), (2, 3), ()))
    name = p.choice("random_uniform", "random_normal", "truncated_normal")
    p.add(f"tf.{name}({shape}, seed={p.random.randint(1, 9)})", shape=tuple(shape))


@often(MOVES, 2)
def gradient(p):
    x = p.pick("tensor", FLOATS)
    y = p.pick("tensor", FLOATS)
    p.add(f"tf.gradients({y.name}, {x.name})[0]", dtype=x.dtype, shape=x.shape)


@often(MOVES)
def training(p):
    """A variable, used in a loss, and a step of an optimizer."""
    x = known(p, ("float32",), lambda v: len(v.shape) == 2 and 0 not in v.shape)
    resource = p.chance(0.5)
    variable = p.name_for("w")
    p.line(
        f"{variable} = tf.get_variable('{variable}', [{x.shape[1]}, 2], initializer=tf.{p.choice('ones', 'zeros', 'glorot_uniform')}_initializer(), use_resource={resource})"
    )
    loss = p.add(f"tf.reduce_mean(tf.square(tf.matmul({x.name}, {variable}) - 1.0))")
    optimizer = p.choice(
        "GradientDescentOptimizer(0.1)",
        "MomentumOptimizer(0.1, 0.9, use_nesterov=True)",
        "AdamOptimizer(0.01)",
        "RMSPropOptimizer(0.01)",
        "AdagradOptimizer(0.1)",
        "FtrlOptimizer(0.1)",
        "AdadeltaOptimizer(0.1)",
        "ProximalAdagradOptimizer(0.1)",
    )
    step = p.name_for("step")
    p.line(f"{step} = tf.train.{optimizer}.minimize({loss.name}, var_list=[{variable}])")
    p.results.append(step)
    p.times[step] = 3
    p.add(f"{variable}.read_value() * 1.0", shape=(x.shape[1], 2))


@often(MOVES)
def scope(p):
    """A name scope around a statement."""
    x = known(p)
    made = p.name_for()
    p.line(
        f"with tf.name_scope('{p.choice('a', 'b/c', 'block')}'):\n    {made} = tf.identity({x.name} + {x.name}, name='{p.choice('out', 'x')}')"
    )
    p.results.append(made)


@often(MOVES)
def strings(p):
    x = p.pick("tensor", ("string", "int32", "float32"))
    if x.dtype != "string":
        text = f"tf.as_string({x.name})"
    else:
        text = p.choice(
            "tf.strings.length({x})",
            "tf.string_join([{x}, 'z'], '-')",
            "tf.strings.lower({x})",
            "tf.strings.upper({x})",
            "tf.strings.regex_replace({x}, '[a-c]', '7')",
            "tf.strings.substr({x}, 0, 0)",
            "tf.string_to_hash_bucket_fast({x}, 10)",
            "tf.strings.strip({x})",
            "tf.encode_base64({x})",
            "tf.strings.unicode_script(tf.strings.unicode_decode(tf.reshape({x}, [-1]), 'UTF-8').flat_values)",
        ).format(x=x.name)
    p.add(text, dtype="other", shape=None)


FAMILY = Family("arithmetic", begin, MOVES, (5, 14))
