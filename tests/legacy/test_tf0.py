"""Programs of TensorFlow 0.x: recognised by their source, and run with the meanings of 0.12."""

import subprocess
import sys

import pytest

from everflow.framework import api_names
from everflow.legacy.tf0.recognition import first_sign, signs
from everflow.legacy.tf0.table import parameters, rows


def version(source):
    sign = first_sign(signs("import tensorflow as tf\n" + source, "x.py"))
    return sign and sign.version


@pytest.mark.parametrize(
    "source",
    [
        "tf.mul(a, b)",
        "tf.train.SummaryWriter('logs')",
        "tf.concat(0, values)",
        "tf.concat(concat_dim=d, values=v)",
        "tf.split(1, n, x)",
        "tf.nn.softmax_cross_entropy_with_logits(logits, labels)",
        "tf.nn.sigmoid_cross_entropy_with_logits(logits, targets=y)",
        "tf.nn.nce_loss(w, b, embed, train_labels, 64, 1000)",
        "tf.image.resize_images(image, 224, 224)",
        "tf.reverse(x, [False, True])",
        "tf.nn.seq2seq.sequence_loss(a, b, c)",
        "from tensorflow.models.rnn import rnn_cell",
        "from tensorflow.python.ops import seq2seq",
        "from tensorflow import nn\nnn.rnn(cell, x)",
        "import tensorflow.contrib.learn as skflow\nskflow.TensorFlowDNNClassifier([3], 2)",
        "if x:\n  tf.pack([1])",
        "try:\n  tf.pack([1])\nexcept tf.errors.OutOfRangeError: pass",
    ],
)
def test_what_only_0_x_takes_is_recognised(source):
    assert version(source) == 0


@pytest.mark.parametrize(
    "source",
    [
        "tf.initialize_all_variables()",  # 1.x has it
        "tf.concat([a, b], 0)",
        "tf.concat(a, b)",
        "tf.split(x, 2, 0)",
        "tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=z)",
        "tf.nn.nce_loss(w, b, labels, embed, 64, 1000)",
        "tf.image.resize_images(image, [224, 224], 1)",
        "tf.mul(a, b); tf.layers.dense(x, 3)",  # the second is 1.x's, so the first is never reached
        "tf.mul(a, b); tf.concat([a, b], 1)",
        "try:\n  f = tf.mul\nexcept AttributeError:\n  f = tf.multiply",
        "if tf.__version__ < '1.0':\n  f = tf.mul",
        "if not hasattr(tf, 'mul'):\n  pass\nelse:\n  tf.mul(1, 2)",
        "mul = 3; 'tf.mul'",
        "import tensorflow.compat.v1 as tf\ntf.mul(1, 2)",
    ],
)
def test_programs_of_1_x_are_left_alone(source):
    assert version(source) is None


def test_programs_of_2_are_recognised():
    assert version("tf.random.set_seed(3)") == 2
    assert version("tf.data.AUTOTUNE") == 2
    assert version("tf.keras.layers.Dense(3); tf.function(f)") is None


def test_rows_are_of_names_that_are_gone_or_take_other_arguments():
    for name, row in rows().items():
        assert row.parameters is None or parameters(name)
        if api_names.in_tensorflow(name) and not name.startswith("contrib."):
            assert row.parameters is not None or row.meaning.startswith("tf0."), name


PROGRAM = """
import numpy as np
import tensorflow as tf
from tensorflow.models.rnn import rnn, rnn_cell
from tensorflow.python.ops import array_ops, seq2seq

a = tf.constant([[1.0, 2.0]])
sess = tf.InteractiveSession()
assert tf.__version__.startswith("0.12")
assert tf.mul(a, tf.neg(a)).eval().tolist() == [[-1, -4]]
assert tf.concat(0, [a, a]).get_shape().as_list() == [2, 2]
assert array_ops.concat(1, [a, a]).get_shape().as_list() == [1, 4]
assert [t.eval().tolist() for t in tf.split(1, 2, a)] == [[[1]], [[2]]]
assert tf.pack([a, a], name="both").op.name == "both" and len(tf.unpack(tf.pack([a, a, a]))) == 3
assert tf.select(a > 1, a, -a).eval().tolist() == [[-1, 2]]
assert tf.batch_matmul(tf.ones([2, 3, 4]), tf.ones([2, 3, 4]), adj_y=True).get_shape().as_list() == [2, 3, 3]
assert tf.reverse(a, [False, True]).eval().tolist() == [[2, 1]]
assert tf.listdiff([1, 2, 3], [2])[0].eval().tolist() == [1, 3]
assert tf.inv(a).eval().tolist() == [[1, 0.5]] and tf.complex_abs(tf.constant(3 + 4j)).eval() == 5
assert tf.image.resize_images(tf.ones([4, 4, 3]), 2, 6).get_shape().as_list() == [2, 6, 3]
assert tf.image.resize_images(tf.ones([4, 4, 3]), [2, 6], 1).get_shape().as_list() == [2, 6, 3]
assert tf.image.per_image_whitening(tf.ones([4, 4, 3])).eval().max() == 0
assert tf.reduce_sum(a, reduction_indices=1).eval().tolist() == [3] and tf.argmax(a, dimension=1).eval().tolist() == [1]
sparse = tf.SparseTensor(indices=[[0, 1]], values=[1.0], shape=[1, 2])
assert isinstance(sparse, tf.SparseTensor)
logits, labels = tf.constant([[2.0, 0.0]]), tf.constant([[1.0, 0.0]])
expected = np.log(1 + np.exp(-2))
np.testing.assert_allclose(tf.nn.softmax_cross_entropy_with_logits(logits, labels).eval(), [expected], 1e-5)
np.testing.assert_allclose(tf.nn.sparse_softmax_cross_entropy_with_logits(logits, [0]).eval(), [expected], 1e-5)
np.testing.assert_allclose(tf.nn.sigmoid_cross_entropy_with_logits(logits, targets=labels).eval()[0, 0], expected, 1e-5)
embed, w, b = tf.ones([3, 4]), tf.ones([9, 4]), tf.zeros([9])
assert tf.nn.nce_loss(w, b, embed, tf.zeros([3, 1], tf.int64), 2, 9).get_shape().as_list() == [3]

cell = tf.nn.rnn_cell.MultiRNNCell([rnn_cell.BasicLSTMCell(4, state_is_tuple=False)] * 2, state_is_tuple=False)
outputs, state = tf.nn.rnn(cell, [a, a], dtype=tf.float32)
assert state.get_shape().as_list() == [1, 16]
names = [v.op.name for v in tf.all_variables()]
assert names[::2] == [f"RNN/MultiRNNCell/Cell{i}/BasicLSTMCell/Linear/Matrix" for i in (0, 1)], names
with tf.variable_scope("more"):
    for kind in (rnn_cell.GRUCell, rnn_cell.BasicRNNCell, rnn_cell.LSTMCell):
        tf.nn.dynamic_rnn(rnn_cell.DropoutWrapper(kind(3), 0.5), tf.ones([2, 5, 2]), dtype=tf.float32)
    big = rnn_cell.LSTMCell(6, use_peepholes=True, num_proj=3, cell_clip=1.0, num_unit_shards=2, state_is_tuple=False)
    rnn.bidirectional_rnn(big, big, [a, a], dtype=tf.float32)
    cell = tf.nn.rnn_cell.GRUCell(3)
    ids = [tf.zeros([1], tf.int32)] * 3
    decoded, _ = seq2seq.embedding_attention_seq2seq(ids, ids, cell, 5, 5, 3)
    loss = seq2seq.sequence_loss(decoded, ids, [tf.ones([1])] * 3, softmax_loss_function=lambda inputs, labels: tf.reduce_sum(inputs, 1))


class Mine(tf.nn.rnn_cell.RNNCell):
    def __init__(self, n):
        self.n = n

    state_size = output_size = property(lambda self: self.n)

    def __call__(self, inputs, state, scope=None):
        with tf.variable_scope(scope or type(self).__name__):
            return (tf.nn.rnn_cell._linear([inputs, state], self.n, True),) * 2


tf.nn.rnn(Mine(3), [a, a], dtype=tf.float32)
tf.scalar_summary("a tag", loss)
tf.initialize_all_variables().run()
writer = tf.train.SummaryWriter("logs", sess.graph_def)
writer.add_summary(tf.merge_all_summaries().eval(), 1)
writer.close()
from tensorflow.examples.tutorials.mnist import input_data
tf.app.flags.DEFINE_integer("steps", 3, "how many")
FLAGS = tf.app.flags.FLAGS
FLAGS._parse_flags()
assert FLAGS.__flags["steps"] == FLAGS.steps == 3
from tensorflow.contrib import learn, skflow
x = np.random.RandomState(0).rand(80, 2)
y = (x[:, 0] > 0.5).astype(int)
for kind, options in ((learn.TensorFlowLinearClassifier, {}), (skflow.TensorFlowDNNClassifier, {"hidden_units": [8]})):
    classifier = kind(n_classes=2, steps=300, learning_rate=0.3, **options).fit(x, y)
    assert (classifier.predict(x) == y).mean() > 0.85 and classifier.predict_proba(x).shape == (80, 2)
assert learn.TensorFlowLinearRegressor(steps=10).fit(x, x[:, 1]).predict(x).shape == (80,)
print("done")
"""


def run(tmp_path, source, *flags):
    (tmp_path / "train.py").write_text(source)
    command = [sys.executable, "-m", "everflow", "run", *flags, "train.py"]
    return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)


def test_a_program_of_2016(tmp_path):
    done = run(tmp_path, PROGRAM)
    assert done.stdout == "done\n", done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("everflow:")]
    assert len(said) == 1 and "TensorFlow 0.12.1 (train.py, line 4, has tensorflow.models.rnn" in said[0]


def test_the_version_can_be_said(tmp_path):
    done = run(tmp_path, "import tensorflow as tf; print(tf.__version__, tf.mul(2, 3))", "--tf1")
    assert done.returncode == 1 and "tf.mul is TensorFlow 0.x's (tf.multiply now)" in done.stderr
    assert run(tmp_path, "import tensorflow as tf; print(tf.__version__)", "--tf0").stdout == "0.12.1\n"


def test_modules_beside_the_program_are_read_too(tmp_path):
    (tmp_path / "model.py").write_text("import tensorflow as tf\ndef f(x): return tf.mul(x, x)\n")
    done = run(tmp_path, "import model, tensorflow as tf\nprint(tf.Session().run(model.f(3)))")
    assert done.stdout == "9\n" and "model.py, line 2" in done.stderr


def test_a_program_of_2_is_told(tmp_path):
    done = run(tmp_path, "import tensorflow as tf\ntf.random.set_seed(1)\n")
    assert done.returncode == 1
    assert done.stderr.startswith("everflow: this looks like a program for TensorFlow 2 (train.py, line 2")
