"""`tf.Print` and `tf.print`: ops that show values when they run."""

from __future__ import annotations

import pprint
import random
import sys

from everflow.framework import dtypes, nest
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Tensor
from everflow.framework.registry import gradient, shape_rule
from everflow.ops.shape_rules import like_first, scalar_output


def Print(input_, data, message=None, first_n=None, summarize=None, name=None):
    """`input_` unchanged; when it is computed, `data` is written to stderr.

    Args:
        input_: The tensor to hand on.
        data: The tensors to write.
        message: Text to put before them.
        first_n: Write only the first so many times; always if None.
        summarize: How many entries of each tensor to write; 3 if None.
        name: The name of the operation in the graph.

    Returns:
        `input_` as a new tensor.

    Example:
        >>> x = tf.constant([1.0, 2.0])
        >>> x = tf.Print(x, [tf.shape(x)], message="shape of x: ")
        >>> sess.run(x * 2.0)
        array([2., 4.], dtype=float32)
    """
    return raw.Print(input=input_, data=data, message=message, first_n=first_n, summarize=summarize, name=name)


# The functions that stand for logs, by name.
_LOGS = {"info": "log(info)", "warn": "log(warning)", "warning": "log(warning)", "error": "log(error)"}


def _stream_name(output_stream):
    if isinstance(output_stream, str):
        known = output_stream in ("stdout", "stderr", *_LOGS.values()) or output_stream.startswith("file://")
        name = output_stream if known else None
    elif output_stream in (sys.stdout, sys.stderr):
        name = "stdout" if output_stream is sys.stdout else "stderr"
    else:
        name = _LOGS.get(getattr(output_stream, "__name__", ""))
    if name is None:
        raise ValueError(
            f"Can't print to {output_stream!r}: output_stream is sys.stdout, sys.stderr, tf.logging.info, .warning or .error, or 'file://PATH'"
        )
    return name


def _is_tensor(value):
    return isinstance(value, Tensor) or hasattr(value, "_is_tensor_like")


class _Text:
    """Something that prints as given text, without quotes, inside a printed structure."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def print(*inputs, **kwargs):
    """An op that prints its arguments when it runs: tensors, and structures of tensors and Python values.

    Args:
        *inputs: What to print.
        **kwargs: `output_stream` (a stream, `file://` and a path, or a logging function), `summarize`, `sep`, `end`,
            `name`.

    Returns:
        The operation; when executing eagerly, it is printed at once.

    Raises:
        ValueError: If a keyword or stream isn't known.

    Example:
        >>> import sys
        >>> sess.run(tf.print("loss:", tf.constant([0.5, 0.25]), output_stream=sys.stdout))
        loss: [0.5 0.25]
    """
    output_stream = kwargs.pop("output_stream", sys.stderr)
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    sep = kwargs.pop("sep", " ")
    end = kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    stream = _stream_name(output_stream)
    summarize = 3 if summarize is None else summarize
    end = "\n" if end is None else end
    if (
        len(inputs) == 1
        and _is_tensor(inputs[0])
        and inputs[0].shape.rank == 0
        and inputs[0].dtype.base_dtype == dtypes.string
    ):
        text = inputs[0]
    else:
        placeholder = _free_placeholder(inputs)
        tensors: list = []
        template = sep.join(_template(value, placeholder, tensors) for value in inputs)
        text = raw.StringFormat(
            inputs=tensors,
            template=template,
            placeholder=placeholder,
            summarize=summarize,
            name=f"{name}_format" if name else None,
        )
    return raw.PrintV2(input=text, output_stream=stream, end=end, name=name)


def _free_placeholder(inputs):
    """What marks a tensor's place in the template: braces, unless the printed text has such."""
    texts = [str(v) for v in nest.flatten(inputs) if not _is_tensor(v) and not isinstance(v, SparseTensor)]
    return placeholder_for("".join(texts))


def placeholder_for(text, placeholder="{}"):
    """A placeholder that a text doesn't have: digits are put behind it until it is so."""
    # The digits are those of TensorFlow, which draws them with a fixed seed.
    digits = random.Random(5)
    while placeholder in text:
        placeholder += str(digits.randint(0, 9))
    return placeholder


def _template(value, placeholder, tensors):
    if isinstance(value, SparseTensor):
        return repr(_sparse_text(value, placeholder, tensors))
    if _is_tensor(value):
        tensors.append(value)
        return placeholder
    if not nest.is_sequence(value):
        return str(value)

    def leaf(item):
        if isinstance(item, SparseTensor):
            return _sparse_text(item, placeholder, tensors)
        if _is_tensor(item):
            tensors.append(item)
            return _Text(placeholder)
        return item

    shown = nest.pack_sequence_as(value, [leaf(item) for item in nest.flatten(value)])
    return pprint.pformat(shown)


def _sparse_text(value, placeholder, tensors):
    tensors.extend([value.indices, value.values, value.dense_shape])
    return f"SparseTensor(indices={placeholder}, values={placeholder}, shape={placeholder})"


shape_rule("Print")(like_first)


@gradient("Print")
def _print_grad(op, *grads):
    return [*grads, *[None] * (len(op.inputs) - 1)]


def timestamp(name=None):
    """Seconds since 1970 when run, as a float64 scalar.

    Args:
        name: The name of the operation in the graph.

    Returns:
        A scalar.

    Example:
        >>> bool(sess.run(tf.timestamp()) > 1.5e9)
        True
    """
    return raw.Timestamp(name=name)


shape_rule("Timestamp")(scalar_output)
