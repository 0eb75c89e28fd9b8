"""Datasets: the nodes and functions that a pipeline is drawn with, static shapes, and the first elements."""

from __future__ import annotations

from tests.exchange.random_graphs.writing import Family, often

MOVES: list = []

# The dataset is `d`; the program remembers its components as [(dtype, shape), ...], a shape of None where elements may
# differ, and draws each statement from what they are.


def begin(p):
    parts, text = p.random.choice([_range, _rows, _words, _pair, _dict, _tensors, _generator, _zipped])(p)
    p.line(f"d = {text}")
    p.parts = parts


def _range(p):
    return [("int64", ())], f"tf.data.Dataset.range({p.choice('7', '2, 9', '10, 0, -2', '0')})"


def _rows(p):
    return [("float32", (3,))], f"tf.data.Dataset.from_tensor_slices(np.array({p.numbers((5, 3))}, 'float32'))"


def _words(p):
    return [("string", ())], f"tf.data.Dataset.from_tensor_slices({p.numbers((4,), 'string')})"


def _pair(p):
    return (
        [("float32", (2,)), ("int32", ())],
        f"tf.data.Dataset.from_tensor_slices((np.array({p.numbers((6, 2))}, 'float32'), np.array({p.numbers((6,), 'int32')}, 'int32')))",
    )


def _dict(p):
    text = f"tf.data.Dataset.from_tensor_slices({{'a': {p.numbers((4,))}, 'b': {p.numbers((4, 2), 'int32')}}}).map(lambda e: (e['a'], e['b']))"
    return [("float32", ()), ("int32", (2,))], text


def _tensors(p):
    return [("float32", (2, 3))], f"tf.data.Dataset.from_tensors(tf.constant({p.numbers((2, 3))}))"


def _generator(p):
    return [("int64", ())], "tf.data.Dataset.from_generator(lambda: iter([1, 2, 3, 5]), tf.int64, [])"


def _zipped(p):
    return [
        ("int64", ()),
        ("float32", ()),
    ], f"tf.data.Dataset.zip((tf.data.Dataset.range(5), tf.data.Dataset.from_tensor_slices({p.numbers((5,))})))"


def names(p):
    return [f"e{i}" for i in range(len(p.parts))]


def mapped(p, expressions, parts):
    """A map that gives these texts of the arguments e0, e1, ..."""
    given = ", ".join(expressions)
    given = f"({given})" if len(expressions) > 1 else given
    calls = p.choice("", "", "", ", num_parallel_calls=2", ", num_parallel_calls=tf.data.experimental.AUTOTUNE")
    p.line(f"d = d.map(lambda {', '.join(names(p))}: {given}{calls})")
    p.parts = parts


@often(MOVES, 4)
def arithmetic(p):
    dtype, shape = p.parts[0]
    rest = names(p)[1:]
    if dtype == "string":
        text, kind = p.choice(
            ("tf.strings.length(e0)", "int32"),
            ("tf.string_join([e0, 'x'])", "string"),
            ("tf.string_to_hash_bucket_fast(e0, 7)", "int64"),
        )
    elif dtype.startswith("int"):
        text, kind = p.choice(
            ("e0 * 2 + 1", dtype),
            ("tf.cast(e0, tf.float32) / 2.0", "float32"),
            ("tf.as_string(e0)", "string"),
            ("tf.maximum(e0, 1)", dtype),
            ("e0 // 2", dtype),
        )
    else:
        text, kind = p.choice(
            ("tf.square(e0) - 1.0", dtype),
            ("tf.nn.relu(e0)", dtype),
            ("tf.cast(e0, tf.int32)", "int32"),
            ("tf.where(e0 > 0.0, e0, -e0)", dtype),
            ("tf.cond(tf.reduce_sum(e0) > 0.0, lambda: e0, lambda: e0 * 2.0)", dtype),
        )
    mapped(p, [text, *rest], [(kind, shape), *p.parts[1:]])


@often(MOVES, 2)
def structure(p):
    how = p.choice("double", "drop", "constant")
    if how == "double" and len(p.parts) < 3:
        mapped(p, [*names(p), "e0"], [*p.parts, p.parts[0]])
    elif how == "drop" and len(p.parts) > 1:
        mapped(p, names(p)[:-1], p.parts[:-1])
    else:
        mapped(p, [*names(p), "tf.constant(1.5)"], [*p.parts, ("float32", ())])


@often(MOVES, 2)
def kept(p):
    dtype, _ = p.parts[0]
    test = "tf.strings.length(e0) > 0" if dtype == "string" else "e0 > 0" if dtype != "bool" else "e0"
    p.line(f"d = d.filter(lambda {', '.join(names(p))}: tf.reduce_any({test}))")


@often(MOVES, 3)
def counted(p):
    p.line(
        "d = d."
        + p.choice(
            "take(4)",
            "skip(1)",
            "repeat(2)",
            "repeat()",
            "take(-1)",
            "shard(2, 0)",
            "shard(3, 1)",
            "prefetch(2)",
            "cache()",
            "prefetch(tf.data.experimental.AUTOTUNE)",
            "shuffle(3, seed=5)",
            "shuffle(10, seed=1, reshuffle_each_iteration=False)",
            "take(tf.constant(3, tf.int64))",
        )
    )


@often(MOVES, 3)
def batched(p):
    if any(shape is None for _, shape in p.parts):
        return
    drop = p.chance(0.4)
    p.line(f"d = d.batch({p.choice(1, 2, 3)}, drop_remainder={drop})")
    p.parts = [(dtype, (None, *shape)) for dtype, shape in p.parts]


@often(MOVES)
def padded(p):
    if any(shape is None or None in shape for _, shape in p.parts):
        return
    shapes = [tuple(p.choice(None, n) for n in shape) for _, shape in p.parts]
    text = str(shapes[0]) if len(shapes) == 1 else f"({', '.join(str(list(s)) for s in shapes)})"
    p.line(f"d = d.padded_batch({p.choice(2, 3)}, padded_shapes={text}, drop_remainder={p.chance(0.3)})")
    p.parts = [(dtype, (None, *shape)) for dtype, shape in p.parts]


@often(MOVES)
def flat(p):
    copies = p.choice(1, 2)
    inner = f"tf.data.Dataset.from_tensors(({', '.join(names(p))}{',' if len(p.parts) == 1 else ''})).repeat({copies})"
    if len(p.parts) == 1:
        inner = f"tf.data.Dataset.from_tensors(e0).repeat({copies})"
    way = p.choice(
        "flat_map({})",
        "interleave({}, cycle_length=2)",
        "interleave({}, 2, 1, num_parallel_calls=2)",
        "interleave({}, cycle_length=2, block_length=2)",
    )
    p.line("d = d." + way.format(f"lambda {', '.join(names(p))}: {inner}"))


@often(MOVES)
def windows(p):
    if len(p.parts) > 1 or p.parts[0][1] is None:
        return
    p.line(
        f"d = d.window({p.choice(2, 3)}, shift={p.choice(None, 1, 2)}, drop_remainder={p.chance(0.5)}).flat_map(lambda w: w.batch(3))"
    )
    p.parts = [(dtype, (None, *shape)) for dtype, shape in p.parts]


@often(MOVES)
def together(p):
    text = p.choice("tf.data.Dataset.zip((d, tf.data.Dataset.range(20)))", "tf.data.Dataset.zip((d, d))")
    inner = len(p.parts)
    left, right = [f"a[{i}]" for i in range(inner)], [f"b[{i}]" for i in range(inner)]
    if inner == 1:
        left, right = ["a"], ["b"]
    if "range" in text:
        p.line(f"d = {text}.map(lambda a, b: ({', '.join([*left, 'b'])}))")
        p.parts = [*p.parts, ("int64", ())]
    elif inner < 3:
        p.line(f"d = {text}.map(lambda a, b: ({', '.join(left + right)}))")
        p.parts = p.parts * 2


@often(MOVES)
def concatenated(p):
    p.line("d = d.concatenate(d.take(2))")


@often(MOVES, 2)
def applied(p):
    text = p.choice(
        "tf.data.experimental.ignore_errors()",
        "tf.data.experimental.shuffle_and_repeat(3, 2, seed=4)",
        "tf.data.experimental.take_while(lambda *e: True)",
    )
    p.line(p.choice(f"d = d.apply({text})", f"d = d.apply({text})", "d = d.with_options(tf.data.Options())"))


@often(MOVES)
def map_and_batch(p):
    if all(shape is not None and None not in shape for _, shape in p.parts):
        p.line(f"d = d.apply(tf.data.experimental.map_and_batch(lambda *e: e[0], 2, drop_remainder={p.chance(0.5)}))")
        p.parts = [(p.parts[0][0], (None, *p.parts[0][1]))]


@often(MOVES)
def enumerated(p):
    if len(p.parts) == 1:
        p.line("d = d.apply(tf.data.experimental.enumerate_dataset(start=2))")
        p.parts = [("int64", ()), *p.parts]


@often(MOVES)
def scanned(p):
    if p.parts != [("int64", ())]:
        return
    p.line("d = d.apply(tf.data.experimental.scan(np.int64(0), lambda s, e: (s + e, s * 2)))")


@often(MOVES)
def grouped(p):
    if p.parts != [("int64", ())]:
        return
    p.line("d = d.apply(tf.data.experimental.group_by_window(lambda e: e % 2, lambda k, w: w.batch(2), window_size=2))")
    p.parts = [("int64", (None,))]


@often(MOVES)
def reduced(p):
    if len(p.parts) == 1 and p.parts[0][0] in ("int64", "float32") and p.parts[0][1] is not None:
        p.add(
            f"d.take(4).reduce(np.{p.parts[0][0]}(0), lambda s, e: s + tf.reduce_sum(e))", "other", p.parts[0][0], None
        )


@often(MOVES)
def unbatched(p):
    if all(shape and shape[0] is None for _, shape in p.parts):
        p.line("d = d.apply(tf.data.experimental.unbatch())")
        p.parts = [(dtype, shape[1:]) for dtype, shape in p.parts]


def end(p):
    p.line("fetched.append([str(tf.compat.v1.data.get_output_types(d)), str(tf.compat.v1.data.get_output_shapes(d))])")
    if p.chance(0.6):
        p.line("iterator = tf.compat.v1.data.make_initializable_iterator(d)")
        p.line("tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)")
    else:
        p.line("iterator = tf.compat.v1.data.make_one_shot_iterator(d)")
    made = p.add("iterator.get_next()", "other", "other", None)
    p.times[made.name] = 6


FAMILY = Family("datasets", begin, MOVES, (2, 7), end)
