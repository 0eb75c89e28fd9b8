"""Ragged tensors: made in every way, sliced, joined, gathered, masked, reduced, mapped, converted."""

from __future__ import annotations

from tests.exchange.random_graphs.writing import Family, often

MOVES: list = []
NUMBERS = ("float32", "int32", "int64")

# What is known of a ragged tensor: `shape` its nested row lengths, outermost first; `about` the uniform shape within and
# the type of its splits.


def begin(p):
    for _ in range(2):
        constant(p)
    p.random.choice([fed, made_of_parts, constant])(p)


def lengths(p, depth, rows=None):
    """Row lengths of so many ragged dimensions."""
    found = [tuple(p.random.choices([0, 1, 2, 3], k=p.random.randint(1, 4) if rows is None else rows))]
    for _ in range(depth - 1):
        found.append(tuple(p.random.choices([0, 1, 2, 3], k=sum(found[-1]))))
    return tuple(found)


def nested(p, rows, inner, dtype):
    """Nested lists with these row lengths, as text."""
    flat = [p.numbers(inner, dtype) for _ in range(sum(rows[-1]))]
    for level in reversed(rows):
        joined, at = [], 0
        for length in level:
            joined.append("[" + ", ".join(flat[at : at + length]) + "]")
            at += length
        flat = joined
    return "[" + ", ".join(flat) + "]"


def ragged(p, dtypes=None, accept=lambda v: True):
    return p.pick("ragged", dtypes, accept)


def of(p, text, like, **changes):
    """Add a ragged tensor that is like another but for some changes."""
    given = {"dtype": like.dtype, "shape": like.shape, "about": like.about, **changes}
    return p.add(text, "ragged", **given)


def constant(p):
    depth = p.choice(1, 1, 1, 2, 2, 3)
    rows = p.pick("ragged").shape if p.pool and p.chance(0.5) and p.pick("ragged").shape else lengths(p, depth)
    inner = p.choice((), (), (), (2,))
    dtype, splits = (
        p.choice("float32", "float32", "int32", "int64", "string", "bool"),
        p.choice("int64", "int64", "int64", "int32"),
    )
    text = nested(p, rows, inner, dtype)
    p.add(
        f"tf.ragged.constant({text}, tf.{dtype}, ragged_rank={len(rows)}, inner_shape={inner}, row_splits_dtype=tf.{splits}{p.named('rows')})",
        "ragged",
        dtype,
        rows,
        (inner, splits),
    )


def fed(p):
    rows, inner, dtype = lengths(p, p.choice(1, 1, 2)), p.choice((), (2,)), p.choice("float32", "int32", "string")
    made = p.add(
        f"tf.ragged.placeholder(tf.{dtype}, {len(rows)}, {list(inner)})", "ragged", dtype, rows, (inner, "int64")
    )
    kind = "object" if dtype == "string" else dtype
    text = nested(p, rows, inner, dtype)
    p.line(f"feeds[{made.name}] = tf.ragged.constant_value({text}, np.dtype('{kind}'), {len(rows)}, {inner})")


@often(MOVES)
def made_of_parts(p):
    rows = p.random.choices([0, 1, 2, 3], k=p.random.randint(1, 4))
    total = sum(rows)
    ends = [sum(rows[:i]) for i in range(len(rows) + 1)]
    ids = [i for i, n in enumerate(rows) for _ in range(n)]
    splits = p.choice("int64", "int32")
    way, partition = p.choice(
        ("row_splits", ends), ("row_lengths", rows), ("row_starts", ends[:-1]), ("row_limits", ends[1:]), ("value_rowids", ids)
    )  # fmt: skip
    more = f", nrows={p.choice(len(rows), len(rows) + 1)}" if way == "value_rowids" and p.chance(0.6) else ""
    more += f", validate={p.choice(True, False)}" if p.chance(0.6) else ""
    if p.chance(0.1):
        partition = [*partition, 1]
    if p.chance(0.3):
        partition = f"tf.placeholder_with_default(tf.constant({partition}, tf.{splits}), [None])"
    elif p.chance(0.5):
        partition, splits = f"{partition}", "int64"
    else:
        partition = f"tf.constant({partition}, tf.{splits})"
    inner = p.choice((), (), (2,))
    values = p.numbers((total, *inner), "float32")
    p.add(
        f"tf.RaggedTensor.from_{way}(tf.constant({values}, tf.float32, {[total, *inner]}), {partition}{more}{p.named('made')})",
        "ragged", "float32", None, (inner, splits),
    )  # fmt: skip


@often(MOVES)
def from_dense(p):
    shape = p.choice((2, 3), (2, 3, 2), (3, 1), (0, 2))
    known = f"tf.placeholder_with_default(np.array({p.numbers(shape, low=0, high=1)}, 'float32').reshape({list(shape)}), {[None if p.chance(0.5) else d for d in shape]})"
    rank = p.random.randint(1, len(shape) - 1)
    more = p.choice(
        "",
        "",
        f", lengths={[p.random.randint(0, 3) for _ in range(shape[0])]}" if rank == 1 else "",
        ", padding=0.0" if len(shape) == rank + 1 else "",
    )
    splits = p.choice("int64", "int64", "int32")
    inner = shape[rank + 1 :]
    p.add(
        f"tf.RaggedTensor.from_tensor({known}, ragged_rank={rank}, row_splits_dtype=tf.{splits}{more})",
        "ragged",
        "float32",
        None,
        (inner, splits),
    )


@often(MOVES)
def from_sparse(p):
    p.add(
        f"tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 0], [1, 0], [1, {p.choice(1, 1, 2)}]], [1.0, 2.0, 3.0], [{p.choice(2, 3)}, 4]), row_splits_dtype=tf.{p.choice('int64', 'int32')})",
        "ragged", "float32", None, ((), "int64"),
    )  # fmt: skip


SLICES = ["1:", ":2", "-2:", ":-1", "::2", "::-1", ":", "0:1", "5:", "-1:0", "1:1"]


@often(MOVES, 3)
def sliced(p):
    x = ragged(p)
    keys = [p.random.choice(SLICES) for _ in range(p.random.randint(1, 2))]
    if p.chance(0.25):
        keys[0] = p.choice("0", "-1", "tf.constant(0)")
    if p.chance(0.2):
        keys.insert(p.random.randrange(len(keys) + 1), "tf.newaxis")
    elif p.chance(0.15):
        keys.append("...")
    p.add(f"{x.name}[{', '.join(keys)}]", "other", x.dtype, None)


@often(MOVES, 2)
def columns(p):
    x = ragged(p)
    of(p, f"{x.name}[:, {p.random.choice(SLICES)}]", x, shape=None)


@often(MOVES, 3)
def joined(p):
    x = ragged(p)
    y = p.pick("ragged", x.dtype, lambda v: v.about == x.about and (v.shape is None) == (x.shape is None))
    axis = p.choice(0, 1, -1, 2)
    name = p.choice("concat", "concat", "stack", "ragged.stack")
    parts = [x.name, y.name] + ([x.name] if p.chance(0.2) else [])
    of(p, f"tf.{name}([{', '.join(parts)}], axis={axis}{p.named('joined')})", x, shape=None, about=(None, x.about[1]))


@often(MOVES)
def stacked_dense(p):
    parts = ", ".join(
        f"tf.constant({p.numbers((p.random.randint(0, 3),))}, tf.float32)" for _ in range(p.random.randint(1, 3))
    )
    p.add(f"tf.ragged.stack([{parts}], axis={p.choice(0, 0, 1)})", "ragged", "float32", None, ((), "int64"))


@often(MOVES, 2)
def gathered(p):
    x = ragged(p)
    rows = len(x.shape[0]) if x.shape else 1
    index = lambda: p.random.randrange(rows)  # noqa: E731
    text = p.choice(
        f"tf.gather({{x}}, [{index()}, {index()}])", f"tf.gather({{x}}, {index()})", f"tf.gather({{x}}, tf.constant([[{index()}], [{index()}]], tf.int64))",
        f"tf.gather({{x}}, tf.ragged.constant([[{index()}, {index()}], [], [{index()}]]))", f"tf.gather_nd({{x}}, [[{index()}], [{index()}]])",
        f"tf.gather_nd({{x}}, [[{index()}, 0]])", f"tf.batch_gather({{x}}, [{index()}])",
    )  # fmt: skip
    p.add(text.format(x=x.name), "other", x.dtype, None)


@often(MOVES)
def gathered_by_row(p):
    x = ragged(p, accept=lambda v: v.shape is not None)
    picks = [[p.random.randrange(n) for _ in range(p.random.randint(0, 2))] if n else [] for n in x.shape[0]]
    name = p.choice("tf.batch_gather({x}, {i})", "tf.gather({x}, {i}, batch_dims=1)")
    p.add(
        name.format(
            x=x.name, i=f"tf.ragged.constant({picks}, tf.int64, ragged_rank=1, row_splits_dtype=tf.{x.about[1]})"
        ),
        "other",
        x.dtype,
        None,
    )


@often(MOVES, 2)
def masked(p):
    x = ragged(p, accept=lambda v: v.shape is not None)
    if p.chance(0.4):
        mask = p.numbers((len(x.shape[0]),), "bool")
    else:
        depth = p.random.randint(1, len(x.shape))
        mask = f"tf.ragged.constant({nested(p, x.shape[:depth], (), 'bool')}, tf.bool, ragged_rank={depth}, row_splits_dtype=tf.{x.about[1]})"
    of(p, f"tf.ragged.boolean_mask({x.name}, {mask}{p.named('mask')})", x, shape=None)


@often(MOVES, 3)
def reduced(p):
    x = ragged(p, NUMBERS)
    axis = p.choice("None", "0", "1", "-1", "[0, 1]", "2", "[1, 2]", "tf.constant(1)")
    p.add(
        f"tf.reduce_{p.choice('sum', 'mean', 'max', 'min', 'prod')}({x.name}, axis={axis}{p.named('total')})",
        "other",
        x.dtype,
        None,
    )


@often(MOVES)
def any_or_all(p):
    x = ragged(p, "bool")
    p.add(f"tf.reduce_{p.choice('any', 'all')}({x.name}, axis={p.choice(None, 0, 1)})", "other", "bool", None)


@often(MOVES, 2)
def unary(p):
    x = ragged(p, NUMBERS)
    name = p.choice("negative", "abs", "square", "identity", "zeros_like", "ones_like", "sign", "exp", "as_string")
    of(p, f"tf.{name}({x.name}{p.named(name)})", x, dtype="string" if name == "as_string" else x.dtype)


@often(MOVES, 3)
def binary(p):
    x = ragged(p, NUMBERS)
    y = p.random.choice(
        [
            lambda: p.like(x).name,
            lambda: p.numbers((), x.dtype),
            lambda: f"tf.constant({p.numbers((1, 1), x.dtype)}, tf.{x.dtype})",
        ]
    )()
    name = p.choice(
        "{x} + {y}",
        "{x} * {y}",
        "{y} - {x}",
        "tf.maximum({x}, {y})",
        "tf.add({x}, {y})",
        "{x} < {y}",
        "tf.equal({x}, {y})",
        "{x} / {y}",
        "{x} // {y}",
    )
    of(
        p,
        name.format(x=x.name, y=y),
        x,
        dtype="bool" if name in ("{x} < {y}", "tf.equal({x}, {y})") else "other" if "/" in name else x.dtype,
    )


@often(MOVES)
def by_rows(p):
    """With a number for each row."""
    x = ragged(p, "float32", lambda v: v.shape is not None and len(v.shape) == 1 and not v.about[0])
    of(p, f"{x.name} * tf.constant({p.numbers((len(x.shape[0]), 1))}, tf.float32)", x)


@often(MOVES)
def cast(p):
    x = ragged(p, (*NUMBERS, "bool"))
    dtype = p.choice(*NUMBERS)
    of(p, f"tf.cast({x.name}, tf.{dtype})", x, dtype=dtype)


@often(MOVES)
def mapped(p):
    x = ragged(p, NUMBERS)
    text = p.choice(
        "tf.ragged.map_flat_values(tf.square, {x})",
        "tf.ragged.map_flat_values(tf.add, {x}, {x})",
        "tf.ragged.map_flat_values(lambda v: v * v - 1, {x})",
        "{x}.with_flat_values({x}.flat_values + 1)",
    )
    of(p, text.format(x=x.name), x)


@often(MOVES)
def of_two(p):
    x = ragged(p, NUMBERS)
    y = p.like(x)
    of(p, f"tf.ragged.map_flat_values(tf.subtract, {x.name}, {y.name})", x)


@often(MOVES, 2)
def tiled(p):
    x = ragged(p, accept=lambda v: v.shape is not None and v.about[0] is not None)
    times = [p.choice(1, 1, 2, 3, 0) for _ in range(1 + len(x.shape) + len(x.about[0]))]
    of(p, f"tf.tile({x.name}, {times})", x, shape=None)


@often(MOVES)
def expanded(p):
    x = ragged(p)
    of(
        p,
        f"tf.expand_dims({x.name}, {p.choice(0, 1, 2, -1)}{p.named('more')})",
        x,
        shape=None,
        about=(None, x.about[1]),
    )


@often(MOVES)
def squeezed(p):
    x = ragged(p)
    axis = p.choice(0, 1, -1)
    of(p, f"tf.squeeze(tf.expand_dims({x.name}, {axis}), {axis})", x)


@often(MOVES, 3)
def converted(p):
    x = ragged(p)
    default = (
        "" if x.about[0] is None or p.chance(0.6) else p.numbers((), x.dtype) if x.dtype in (*NUMBERS, "string") else ""
    )
    text = p.choice(
        f"{{x}}.to_tensor({default})",
        f"{{x}}.to_tensor({default})",
        "{x}.to_sparse()",
        "tf.RaggedTensor.from_sparse({x}.to_sparse())",
        "tf.RaggedTensor.from_tensor({x}.to_tensor())",
    )
    p.add(text.format(x=x.name), "other", x.dtype, None)


@often(MOVES, 2)
def parts(p):
    x = ragged(p)
    text = p.choice(
        "row_lengths()", "row_lengths(axis=-1)", "nrows()", "nrows(tf.int32)", "row_starts()", "row_limits()", "value_rowids()", "nested_row_lengths()",
        "bounding_shape()", "bounding_shape(axis=1)", "bounding_shape(out_type=tf.int32)", "nested_value_rowids()", "with_row_splits_dtype(tf.int32)", "flat_values", "row_splits",
    )  # fmt: skip
    p.add(f"{x.name}.{text}", "other", x.dtype, None)


@often(MOVES)
def ranges(p):
    n = p.random.randint(1, 3)
    splits = p.choice("int64", "int32")
    limits, starts = p.numbers((n,), "int32", 0, 5), p.numbers((n,), "int32", 0, 2)
    text = p.choice(
        f"{limits}",
        f"{starts}, {limits}",
        f"{starts}, {limits}, 2",
        f"tf.constant({starts}), tf.constant({limits}, tf.int64)",
        f"0.0, {limits}, 0.5",
    )
    dtype = "float32" if "0.5" in text else "int64" if "int64" in text else "int32"
    p.add(f"tf.ragged.range({text}, row_splits_dtype=tf.{splits})", "ragged", dtype, None, ((), splits))


@often(MOVES)
def places(p):
    x = ragged(p, "bool")
    p.add(f"tf.where({x.name})", "other", "int64", None)


@often(MOVES)
def chosen(p):
    x = ragged(p, NUMBERS)
    of(p, f"tf.where({x.name} > 0, {x.name}, -{x.name})", x)


@often(MOVES)
def segments(p):
    x = ragged(p, ("float32",), lambda v: v.shape is not None)
    ids = [p.random.randrange(2) for _ in x.shape[0]]
    kind = p.choice("sum", "mean", "max", "min", "prod", "sqrt_n")
    p.add(
        f"tf.math.unsorted_segment_{kind}({x.name}, tf.constant({ids}, tf.{p.choice('int32', 'int64')}), 2)",
        "other",
        x.dtype,
        None,
    )


@often(MOVES)
def partitions(p):
    x = ragged(p, accept=lambda v: v.shape is not None)
    ids = [p.random.randrange(2) for _ in x.shape[0]]
    p.add(
        f"tf.{p.choice('ragged.stack_dynamic_partitions', 'dynamic_partition')}({x.name}, {ids}, 2)",
        "other",
        x.dtype,
        None,
    )


@often(MOVES, 2)
def strings(p):
    x = ragged(p, "string")
    text = p.choice(
        "tf.strings.length({x})", "tf.strings.substr({x}, 0, 0)", "tf.strings.regex_replace({x}, 'a', 'b')", "tf.strings.join([{x}, {x}], '-')",
        "tf.strings.to_hash_bucket_fast({x}, 10)", "tf.strings.reduce_join({x}, axis=1, separator='+')", "tf.strings.reduce_join({x}, axis=-1)", "tf.strings.reduce_join({x})", "tf.strings.unicode_decode({x}, 'UTF-8')",
        "tf.strings.unicode_split({x}, 'UTF-8')", "tf.strings.split({x})", "tf.compat.v2.strings.split({x}, sep=' ')", "tf.strings.ngrams({x}, 2)", "tf.strings.ngrams({x}, [1, 2], pad_values=('<', '>'))", "tf.strings.strip({x})",
        "tf.strings.unicode_encode(tf.strings.unicode_decode({x}, 'UTF-8'), 'UTF-8')", "tf.strings.unicode_split_with_offsets({x}, 'UTF-8')", "tf.strings.regex_full_match({x}, '[a-z]+')",
    )  # fmt: skip
    p.add(text.format(x=x.name), "other", "other", None)


@often(MOVES)
def gradient(p):
    x = ragged(p, "float32")
    y = ragged(p, "float32")
    text = p.choice(
        "tf.gradients({y}.flat_values, {x}.flat_values)[0]",
        "tf.gradients({y}.to_tensor(), {x}.flat_values)[0]",
        "tf.gradients(tf.reduce_sum({x} * {x}, 1), {x}.flat_values)[0]",
        "tf.gradients({x}[:1].flat_values, {x}.flat_values)[0]",
    )
    p.add(text.format(x=x.name, y=y.name), "other", "float32", None)


@often(MOVES)
def looped(p):
    x = ragged(p, NUMBERS)
    p.add(f"tf.map_fn(lambda row: tf.reduce_sum(row), {x.name}, dtype=tf.{x.dtype})", "other", x.dtype, None)


@often(MOVES)
def branched(p):
    x = ragged(p, "float32")
    of(p, f"tf.cond(tf.constant({p.chance(0.5)}), lambda: {x.name} * 2.0, lambda: {x.name} + 1.0)", x)


FAMILY = Family("ragged", begin, MOVES, (3, 8))
