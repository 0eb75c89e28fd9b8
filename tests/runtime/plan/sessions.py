"""What tests of the planner share: sessions with rules switched off or run as the reference, and plans of them."""

import numpy as np

import everflow as tf
from everflow.protos.rewriter_config_pb2 import RewriterConfig

OFF, AGGRESSIVE = RewriterConfig.OFF, RewriterConfig.AGGRESSIVE


def config(**switches):
    return tf.ConfigProto(graph_options=tf.GraphOptions(rewrite_options=RewriterConfig(**switches)))


def reference():
    """A session that runs node by node, as the graph was drawn."""
    made = tf.ConfigProto()
    made.experimental.executor_type = "REFERENCE"
    return tf.Session(config=made)


def plain():
    """A session without rewrites."""
    return tf.Session(config=config(disable_meta_optimizer=True))


def compiled(fetches, feeds=(), **switches):
    """The plan of some fetches, with some rules switched."""
    with tf.Session(config=config(**switches)) as sess:
        return sess._executor.compile(fetches if isinstance(fetches, list) else [fetches], list(feeds))


def types(plan) -> list[str]:
    return [node.type for node in plan.program.nodes()]


def node_of(plan, op_type: str, number: int = 0):
    return [node for node in plan.program.nodes() if node.type == op_type][number]


def assert_same_bits(one, other):
    """Equal to the last bit: -0.0 is not 0.0 then. Of a NaN the payload is nobody's promise."""
    one, other = np.asarray(one), np.asarray(other)
    assert one.dtype == other.dtype and one.shape == other.shape
    if one.dtype.kind == "f":
        np.testing.assert_array_equal(np.isnan(one), np.isnan(other))
        one, other = np.where(np.isnan(one), 0, one), np.where(np.isnan(other), 0, other)
    assert np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes(), (one, other)


def odd_values(dtype=np.float32):
    """Numbers that arithmetic treats in its own way: zeros of both signs, denormals, infinities, NaN, and some that
    must be rounded.
    """
    info = np.finfo(dtype)
    few = [
        0.0,
        -0.0,
        info.tiny,
        -info.tiny,
        info.tiny / 4,
        -info.tiny / 4,
        np.inf,
        -np.inf,
        np.nan,
        info.max,
        -info.max,
        1.0,
        -1.0,
        3.0,
    ]
    with np.errstate(all="ignore"):
        return np.concatenate([np.asarray(few, dtype), np.linspace(-7.7, 7.7, 18).astype(dtype)])
