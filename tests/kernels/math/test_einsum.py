"""The Einsum kernel beside numpy's, with labels of any kind."""

import numpy as np
import pytest

import everflow as tf


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [("ij,jk->ki", [(2, 3), (3, 4)]), ("abb,bcc->ac", [(2, 3, 3), (3, 4, 4)]), ("i...,...j->...ij", [(2, 5), (5, 3)])],
)
def test_values_are_those_of_numpy(sess, equation, shapes):
    rng = np.random.RandomState(0)
    arrays = [rng.rand(*shape) for shape in shapes]
    found = sess.run(tf.raw_ops.Einsum(inputs=[tf.constant(a) for a in arrays], equation=equation))
    np.testing.assert_allclose(found, np.einsum(equation, *arrays), rtol=1e-12)


def test_labels_may_be_digits(sess):
    assert sess.run(tf.raw_ops.Einsum(inputs=[tf.constant([1.0, 2.0])], equation="1->")) == 3.0
