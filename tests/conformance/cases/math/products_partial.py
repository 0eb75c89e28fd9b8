"""matmul, tensordot and einsum over a batch of unknown size, with gradients."""
import numpy as np
import tensorflow as tf


def run(out):
    rng = np.random.RandomState(0)
    a = tf.placeholder(tf.float32, [None, 4, 3], name="a")
    b = tf.placeholder(tf.float32, [None, 3, 5], name="b")
    w = tf.get_variable("w", initializer=rng.randn(3, 5).astype(np.float32))
    fa, fb = rng.randn(2, 4, 3), rng.randn(2, 3, 5)
    feed = {a: fa, b: fb}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for name, y in [("batch", tf.matmul(a, b)), ("weights", tf.matmul(a, w)), ("transposed", tf.matmul(a, b, transpose_a=False, transpose_b=False)),
                        ("self", tf.matmul(a, a, transpose_b=True)), ("self a", tf.matmul(a, a, transpose_a=True)), ("dot", tf.tensordot(a, w, [[2], [0]])),
                        ("dot 1", tf.tensordot(a, w, 1)), ("einsum", tf.einsum("bij,jk->bik", a, w)), ("einsum 2", tf.einsum("bij,bjk->bki", a, b)),
                        ("einsum 3", tf.einsum("bij->bj", a)), ("einsum 4", tf.einsum("bij,bij->b", a, a)), ("einsum 5", tf.einsum("bij,bkj->bik", a, a))]:
            out(name, sess.run([y, tf.gradients(y, a)[0]], feed), rtol=1e-4, atol=1e-5)
            out.shape(name + " shape", y)
        out("weights gradient", sess.run(tf.gradients(tf.square(tf.matmul(a, w)), w)[0], feed), rtol=1e-4)
        out.raises("batches differ", sess.run, tf.matmul(a, b), {a: fa, b: np.ones((3, 3, 5))})
        out("broadcast of one", sess.run(tf.matmul(a, b), {a: fa, b: np.ones((1, 3, 5))}), rtol=1e-4)
    out.graph()
    out.raises("inner", tf.matmul, a, tf.ones([2, 4, 5]))
    out.raises("ranks", tf.matmul, tf.ones([3]), a)
    out.raises("int and float", tf.matmul, a, tf.ones([2, 3, 5], tf.int32))
    out.raises("einsum sizes", tf.einsum, "ij,jk->ik", tf.ones([2, 3]), tf.ones([4, 5]))
    out.raises("einsum keyword", lambda: tf.einsum("ij->i", a, foo=1))
