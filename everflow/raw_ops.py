"""tf.raw_ops: a function for every op type, `tf.raw_ops.MatMul(a=x, b=y)`."""

from everflow.framework import op_defs, raw_ops


def __getattr__(name: str):
    return getattr(raw_ops, name)


def __dir__():
    return sorted(op_defs.names())
