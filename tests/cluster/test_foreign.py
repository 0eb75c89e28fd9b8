"""Parts of graphs as TensorFlow's master sends them: what it joined is taken apart, and sends come before what waits."""

import numpy as np
import pytest
from google.protobuf import text_format

import everflow as tf
from everflow.cluster.foreign import adapted

FLOAT = 'attr { key: "%s" value { type: DT_FLOAT } }'


def graph_of(text):
    return text_format.Parse(text, tf.GraphDef())


def joined(op, fused, count, attributes=""):
    names = "".join(f'input: "p{i}" ' for i in range(2 + count))
    placeholders = "".join(f'node {{ name: "p{i}" op: "Placeholder" {FLOAT % "dtype"} }} ' for i in range(2 + count))
    listed = " ".join(f's: "{name}"' for name in fused)
    return graph_of(
        placeholders + f'node {{ name: "_joined" op: "{op}" {names} {FLOAT % "T"} {attributes}'
        f'attr {{ key: "num_args" value {{ i: {count} }} }} attr {{ key: "epsilon" value {{ f: 0.1 }} }}'
        f'attr {{ key: "fused_ops" value {{ list {{ {listed} }} }} }} }}'
    )


def computed(graph_def, values):
    tf.import_graph_def(adapted(graph_def), name="")
    with tf.Session() as sess:
        return sess.run("client/_joined:0", {f"p{i}:0": v for i, v in enumerate(values)})


def test_a_product_with_what_follows_it():
    a, b, bias = np.float32([[1, -2]]), np.float32([[1, 2], [3, 4]]), np.float32([0.5, 7])
    found = computed(joined("_FusedMatMul", ["BiasAdd", "Relu"], 1), [a, b, bias])
    np.testing.assert_array_equal(found, np.maximum(a @ b + bias, 0))


def test_a_convolution_with_normalisation():
    strides = (
        'attr { key: "strides" value { list { i: 1 i: 1 i: 1 i: 1 } } } attr { key: "padding" value { s: "SAME" } }'
    )
    x, kernel = np.float32([1, 2, 3, 4]).reshape(1, 2, 2, 1), np.ones([1, 1, 1, 1], np.float32)
    scale, offset, mean, variance = (np.float32([v]) for v in (2.0, -1.0, 1.0, 0.9))
    found = computed(
        joined("_FusedConv2D", ["FusedBatchNorm", "Elu"], 4, strides), [x, kernel, scale, offset, mean, variance]
    )
    plain = (x - 1) * 2 / np.sqrt(np.float32(0.9 + 0.1)) - 1
    np.testing.assert_allclose(found, np.where(plain > 0, plain, np.expm1(plain)), rtol=1e-5)


def test_what_is_not_known_says_so():
    with pytest.raises(tf.errors.UnimplementedError, match="Softmax"):
        adapted(joined("_FusedMatMul", ["Softmax"], 0))


def test_sends_come_before_what_only_waits():
    end = 'node { name: "%s" op: "%s" %s }'
    graph = graph_of(
        end % ("told", "_Recv", "") + end % ("last", "NoOp", 'input: "^told"') + end % ("b", "_Recv", "")
        + end % ("sent", "_Send", 'input: "b"') + end % ("c", "Const", "") + end % ("first", "_Send", 'input: "c"')
    )  # fmt: skip
    assert [n.name for n in adapted(graph).node] == ["c", "first", "b", "sent", "told", "last"]
