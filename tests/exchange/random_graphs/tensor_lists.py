"""Lists of tensors: their ops as TensorFlow's inner functions draw them, and TensorArrays made of them."""

from __future__ import annotations

from tests.exchange.random_graphs.writing import Family, often

MOVES: list = []
SHAPES = [(), (2,), (3,), (2, 3)]

# `shape` is an element's, `about` how many there are.


def begin(p):
    p.line("from tensorflow.python.ops import list_ops")
    if p.chance(0.5):
        p.line("tf.compat.v1.enable_control_flow_v2()")
    for _ in range(2):
        p.random.choice([from_tensor, reserved, empty])(p)


def element_shape(p, shape):
    """What is said of an element's shape: all, some or nothing of it."""
    options = [
        str(list(shape)),
        f"tf.constant({list(shape)}, tf.int32)",
        "None",
        "-1",
        str([-1] * len(shape)),
        f"tf.TensorShape({[None] * len(shape)})",
    ]
    return p.random.choice(options)


def numbers(p, shape, dtype="float32"):
    return f"tf.constant({p.numbers(shape, dtype)}, tf.{dtype}, {list(shape)})"


def a_list(p, accept=lambda v: True):
    return p.pick("list", None, accept)


def new_list(p, text, dtype, shape, count):
    return p.add(text, "list", dtype, shape, (count,), result=False)


@often(MOVES, 2)
def from_tensor(p):
    shape, dtype, count = p.random.choice(SHAPES), p.choice("float32", "float32", "int32"), p.choice(1, 2, 3)
    new_list(
        p,
        f"list_ops.tensor_list_from_tensor({numbers(p, (count, *shape), dtype)}, element_shape={element_shape(p, shape)}{p.named('from')})",
        dtype,
        shape,
        count,
    )


@often(MOVES)
def reserved(p):
    shape, count = p.random.choice(SHAPES), p.choice(0, 1, 3)
    new_list(
        p, f"list_ops.tensor_list_reserve({element_shape(p, shape)}, {count}, tf.float32)", "float32", shape, count
    )


@often(MOVES)
def empty(p):
    shape = p.random.choice(SHAPES)
    more = p.choice("", "", ", max_num_elements=2")
    new_list(p, f"list_ops.empty_tensor_list({element_shape(p, shape)}, tf.float32{more})", "float32", shape, 0)


@often(MOVES, 3)
def pushed(p):
    x = a_list(p)
    new_list(
        p, f"list_ops.tensor_list_push_back({x.name}, {numbers(p, x.shape, x.dtype)})", x.dtype, x.shape, x.about[0] + 1
    )


@often(MOVES, 2)
def popped(p):
    x = a_list(p)
    pair = p.name_for("popped")
    more = p.choice("", f", element_shape={element_shape(p, x.shape)}")
    p.line(f"{pair} = list_ops.tensor_list_pop_back({x.name}, tf.{x.dtype}{more})")
    p.add(f"{pair}[1]", dtype=x.dtype, shape=x.shape)
    new_list(p, f"{pair}[0]", x.dtype, x.shape, x.about[0] - 1)


@often(MOVES, 2)
def set_item(p):
    x = a_list(p)
    new_list(
        p,
        f"list_ops.tensor_list_set_item({x.name}, {p.random.randint(0, max(x.about[0], 1) - 1)}, {numbers(p, x.shape, x.dtype)})",
        x.dtype,
        x.shape,
        x.about[0],
    )


@often(MOVES, 3)
def taken(p):
    x = a_list(p)
    kind = f"element_shape={element_shape(p, x.shape)}"
    text = p.choice(
        f"list_ops.tensor_list_stack({{x}}, tf.{x.dtype}, num_elements={p.choice(-1, x.about[0])}, {kind})", f"list_ops.tensor_list_stack({{x}}, tf.{x.dtype})",
        f"list_ops.tensor_list_get_item({{x}}, 0, tf.{x.dtype}, {kind})", f"list_ops.tensor_list_get_item({{x}}, {max(x.about[0] - 1, 0)}, tf.{x.dtype})",
        f"list_ops.tensor_list_gather({{x}}, [0, 0], tf.{x.dtype}, {kind})", "list_ops.tensor_list_length({x})", f"list_ops.tensor_list_concat({{x}}, tf.{x.dtype}, {kind})",
        f"list_ops.tensor_list_concat({{x}}, tf.{x.dtype})",
    )  # fmt: skip
    p.add(text.format(x=x.name), dtype=x.dtype, shape=None)


@often(MOVES)
def resized(p):
    x = a_list(p)
    count = p.choice(0, 1, 4)
    new_list(p, f"list_ops.tensor_list_resize({x.name}, {count})", x.dtype, x.shape, count)


@often(MOVES)
def scattered(p):
    shape = p.random.choice(SHAPES)
    more = p.choice("", f", input_handle=list_ops.tensor_list_reserve({list(shape)}, 4, tf.float32)")
    new_list(
        p,
        f"list_ops.tensor_list_scatter({numbers(p, (2, *shape))}, [{p.choice('0, 1', '2, 0', '3, 1')}], {element_shape(p, shape) if not more else list(shape)}{more})",
        "float32",
        shape,
        4,
    )


@often(MOVES)
def split(p):
    shape = p.random.choice([(), (2,)])
    new_list(
        p,
        f"list_ops.tensor_list_split({numbers(p, (3, *shape))}, {p.choice(list(shape), [-1] * len(shape))}, [{p.choice('1, 2', '3, 0', '1, 1, 1')}])",
        "float32",
        shape,
        2,
    )


@often(MOVES)
def joined(p):
    x = a_list(p)
    y = p.like(x)
    new_list(
        p,
        f"list_ops.tensor_list_concat_lists({x.name}, {y.name}, tf.{x.dtype})",
        x.dtype,
        x.shape,
        x.about[0] + y.about[0],
    )


@often(MOVES)
def looped(p):
    """Elements pushed in a loop."""
    x = a_list(p)
    value = numbers(p, x.shape, x.dtype)
    new_list(
        p,
        f"tf.while_loop(lambda i, l: i < 2, lambda i, l: (i + 1, list_ops.tensor_list_push_back(l, {value})), [0, {x.name}])[1]",
        x.dtype,
        x.shape,
        x.about[0] + 2,
    )


@often(MOVES, 2)
def gradient(p):
    shape, count = p.random.choice(SHAPES), p.choice(1, 2)
    source, held = p.name_for("x"), p.name_for("l")
    # No constant: TensorFlow runs what is made of constants while it infers shapes, lists too, which nothing else does.
    p.line(f"{source} = tf.placeholder_with_default({numbers(p, (count, *shape))}, {[count, *shape]})")
    p.line(f"{held} = list_ops.tensor_list_from_tensor({source}, element_shape={element_shape(p, shape)})")
    text = p.choice(
        "tf.gradients(list_ops.tensor_list_stack({l}, tf.float32) * 2.0, {x})[0]", "tf.gradients(list_ops.tensor_list_get_item({l}, 0, tf.float32), {x})[0]",
        "tf.gradients(list_ops.tensor_list_pop_back({l}, tf.float32)[1] ** 2.0, {x})[0]", "tf.gradients(list_ops.tensor_list_stack(list_ops.tensor_list_push_back({l}, {x}[0]), tf.float32), {x})[0]",
        "tf.gradients(list_ops.tensor_list_gather({l}, [0, 0], tf.float32), {x})[0]", "tf.gradients(list_ops.tensor_list_stack(list_ops.tensor_list_set_item({l}, 0, {x}[0] * 3.0), tf.float32), {x})[0]",
    )  # fmt: skip
    p.add(text.format(x=source, l=held), shape=None)


@often(MOVES, 2)
def arrays(p):
    """TensorArrays, which are such lists where control flow is functions."""
    ta, n, shape = p.name_for("ta"), p.choice(1, 2, 3), p.random.choice(SHAPES)
    more = p.choice(
        "", f", element_shape={list(shape)}", ", infer_shape=False", ", dynamic_size=True", ", clear_after_read=False"
    )
    p.line(f"{ta} = tf.TensorArray(tf.float32, {n}{more})")
    way = p.choice("unstack", "write", "scatter", "split")
    if way == "unstack":
        p.line(f"{ta} = {ta}.unstack({numbers(p, (n, *shape))})")
    elif way == "write":
        for i in range(n):
            p.line(f"{ta} = {ta}.write({i}, {numbers(p, shape)})")
    elif way == "scatter":
        p.line(f"{ta} = {ta}.scatter({list(range(n))[::-1]}, {numbers(p, (n, *shape))})")
    else:
        p.line(f"{ta} = {ta}.split({numbers(p, (n + 1, 2))}, {[2] + [1] * (n - 1)})")
    for _ in range(p.random.randint(1, 2)):
        p.add(
            p.choice(
                f"{ta}.stack()",
                f"{ta}.read(0)",
                f"{ta}.gather([0])",
                f"{ta}.size()",
                f"{ta}.concat()",
                f"{ta}.identity().stack()",
            ),
            shape=None,
        )


FAMILY = Family("tensor_lists", begin, MOVES, (4, 9))
