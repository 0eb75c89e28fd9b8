"""Parts of tf.contrib that programs import by their own paths: text, libsvm, bayesflow, slices, hashing."""

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401


def _evaluate(*tensors):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(tensors)


def test_skip_grams_of_a_fixed_width():
    from tensorflow.contrib import text

    tokens, labels = _evaluate(*text.skip_gram_sample(tf.constant(["the", "quick", "fox"]), 1, 1))
    assert list(zip(tokens, labels)) == [(b"the", b"quick"), (b"quick", b"the"), (b"quick", b"fox"), (b"fox", b"quick")]
    tokens, labels = _evaluate(
        *text.skip_gram_sample(tf.constant([1, 2, 3, 4]), 1, 1, start=1, limit=2, emit_self_as_target=True)
    )
    assert list(zip(tokens, labels)) == [(2, 2), (2, 3), (3, 2), (3, 3)]


def test_seeded_skip_grams_go_on_from_run_to_run():
    """The numbers that TensorFlow draws for this seed."""
    from tensorflow.contrib import text

    with tf.Graph().as_default(), tf.Session() as session:
        tokens, _ = text.skip_gram_sample(tf.constant(np.arange(8)), 1, 2, seed=1)
        first, second = session.run(tokens), session.run(tokens)
    assert first.tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 4, 4, 5, 5, 6, 6, 7, 7]
    assert second.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 7]


def test_skip_grams_of_a_vocabulary(tmp_path):
    from tensorflow.contrib import text

    file = tmp_path / "words.csv"
    file.write_text("the,42\nand,20\nbrown,7\n")
    words = tf.constant(["the", "and", "brown", "x"])
    tokens, labels = _evaluate(
        *text.skip_gram_sample_with_text_vocab(words, str(file), vocab_min_count=10, min_skips=1, max_skips=1)
    )
    assert list(zip(tokens, labels)) == [(b"the", b"and"), (b"and", b"the")]
    with pytest.raises(ValueError, match="no column 5"):
        text.skip_gram_sample_with_text_vocab(words, str(file), vocab_freq_index=5)
    with pytest.raises(ValueError, match="vocab_freq_table"):
        text.skip_gram_sample(words, vocab_min_count=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="min <= max"):
        _evaluate(*text.skip_gram_sample(words, 3, 2))


def test_lines_of_libsvm():
    from tensorflow.contrib import libsvm

    features, labels = libsvm.decode_libsvm([["1 1:3.5", "2 2:1 0:4"], ["3", "4 4:1"]], num_features=5)
    (indices, values, shape), labels = _evaluate(features, labels)
    assert labels.tolist() == [[1, 2], [3, 4]] and shape.tolist() == [2, 2, 5]
    assert indices.tolist() == [[0, 0, 1], [0, 1, 2], [0, 1, 0], [1, 1, 4]] and values.tolist() == [3.5, 1, 4, 1]


@pytest.mark.parametrize("line", ["x 1:2", "1 1:", "1 a:3", "1 2", ""])
def test_what_is_no_line_of_libsvm(line):
    from tensorflow.contrib import libsvm

    with pytest.raises(tf.errors.InvalidArgumentError):
        _evaluate(*libsvm.decode_libsvm([line], num_features=5))


def test_slices_are_reduced():
    from tensorflow.contrib.reduce_slice_ops.python.ops import reduce_slice_ops as slices

    data, ends = tf.constant(np.arange(12.0).reshape(4, 3)), tf.constant([[0, 2], [1, 9], [3, 3]])
    found = _evaluate(
        slices.reduce_slice_sum(data, ends, 0),
        slices.reduce_slice_prod(data, ends, 0),
        slices.reduce_slice_max(data, tf.constant([0, 2, 3]), 1),
        slices.reduce_slice_min(tf.constant([5, 2, 3]), ends, 0),
    )
    np.testing.assert_array_equal(found[0], [[3, 5, 7], [18, 21, 24], [0, 0, 0]])
    np.testing.assert_array_equal(found[1], [[0, 4, 10], [162, 280, 440], [1, 1, 1]])
    np.testing.assert_array_equal(found[2], [[1, 2], [4, 5], [7, 8], [10, 11]])
    assert found[3].tolist() == [2, 2, np.iinfo(np.int32).max]
    with pytest.raises(ValueError, match="no axis 5"):
        slices.reduce_slice_sum(data, ends, 5)


def test_cells_near_a_point():
    from tensorflow.contrib.nearest_neighbor import hyperplane_lsh_probes

    products = tf.constant([[1.0, -2.0, 3.0, -0.5], [0.1, 0.2, -0.3, 4.0]])
    (probes, tables), (most, _) = _evaluate(
        hyperplane_lsh_probes(products, 2, 2, 4), hyperplane_lsh_probes(products, 1, 4, 16)
    )
    assert probes.tolist() == [[2, 2, 3, 0], [3, 1, 1, 2]] and tables.tolist() == [[0, 1, 1, 0], [0, 1, 0, 0]]
    assert [sorted(row) for row in most.tolist()] == [list(range(16))] * 2
    with pytest.raises(tf.errors.InternalError, match="cells"):
        _evaluate(hyperplane_lsh_probes(products, 1, 4, 17))
    with pytest.raises(tf.errors.InvalidArgumentError, match="need products"):
        _evaluate(hyperplane_lsh_probes(products, 3, 2, 1))


def test_expectations_by_sampling():
    from tensorflow.contrib.bayesflow.python.ops import monte_carlo

    z = tf.constant(np.random.RandomState(0).randn(4000, 2).astype(np.float32) * 2)
    p, q = tf.distributions.Normal([0.0, 1.0], 1.0), tf.distributions.Normal(0.0, 2.0)
    square = monte_carlo.expectation_importance_sampler(tf.square, p.log_prob, q, z)
    logs = monte_carlo.expectation_importance_sampler_logspace(lambda x: 2 * tf.log(tf.abs(x)), p.log_prob, q, z)
    score = monte_carlo.expectation(lambda x: x, z, q.log_prob, use_reparametrization=False)
    slope = tf.gradients(score[0], q.loc)[0]
    square, logs, slope = _evaluate(square, logs, slope)
    np.testing.assert_allclose(square, [1, 2], rtol=0.1)
    np.testing.assert_allclose(np.exp(logs), square, rtol=1e-3)
    np.testing.assert_allclose(slope, 1, rtol=0.1)
    with pytest.raises(ValueError, match="one of z"):
        monte_carlo.expectation_importance_sampler(tf.square, p.log_prob, q)


def test_periodic_resampling_and_its_gradient():
    from tensorflow.contrib.periodic_resample import periodic_resample

    x = tf.constant(np.arange(24.0).reshape(2, 3, 4))
    y = periodic_resample(x, [4, 6, None])
    y, slope = _evaluate(y, tf.gradients(y * tf.stop_gradient(y), x)[0])
    assert y[..., 0].tolist()[:2] == [[0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 11]]
    np.testing.assert_array_equal(slope, np.arange(24.0).reshape(2, 3, 4))
    with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
        _evaluate(periodic_resample(x, [8, None, 12]))


def test_a_path_that_tensorflow_has_and_everflow_not_says_so():
    with pytest.raises(ModuleNotFoundError, match=r"in Everflow .*TensorFlow 1.15 has it"):
        import tensorflow.contrib.kafka.python.ops.kafka_dataset_ops  # noqa: F401


def test_decays_of_signs():
    from tensorflow.contrib.opt.python.training import sign_decay

    def at(fn, *steps):
        return [float(value) for value in _evaluate(*(fn(tf.constant(step, tf.int64)) for step in steps))]

    assert at(sign_decay.get_linear_decay_fn(10), 0, 5, 10, 12) == pytest.approx([1, 0.5, 0, 0])
    assert at(sign_decay.get_cosine_decay_fn(10), 0, 5, 10) == pytest.approx([1, 0.5, 0], abs=1e-6)
    assert at(sign_decay.get_cosine_decay_fn(10, 2, 1), 1, 3, 5, 7) == pytest.approx(
        [0.654508, 0.0954916, 0, 0], abs=1e-6
    )
    assert at(sign_decay.get_restart_decay_fn(10, 3, 2), 1, 3, 5, 7) == pytest.approx(
        [0.793893, 0.0244718, 0.5, 0], abs=1e-5
    )


def test_derivatives_along_a_direction():
    from tensorflow.contrib.nn.python.ops.fwd_gradients import fwd_gradients

    x = tf.constant([1.0, 2.0])
    along = fwd_gradients([x * x, tf.sin(x)], [x], [tf.constant([1.0, 0.5])])
    all_of_it = fwd_gradients([x * x], [x], assert_unused=True)
    np.testing.assert_allclose(
        np.concatenate(_evaluate(*along, *all_of_it)), [2, 2, np.cos(1), np.cos(2) / 2, 2, 4], rtol=1e-6
    )
    assert fwd_gradients([tf.constant(1.0)], [x]) == [None]
    with pytest.raises(ValueError, match="2 directions"):
        fwd_gradients([x * x], [x], [x, x])


def test_small_functions_of_layers():
    from tensorflow.contrib.layers.python.layers.layers import poincare_normalize
    from tensorflow.contrib.layers.python.ops.bucketization_op import bucketize
    from tensorflow.contrib.layers.python.ops.sparse_ops import sparse_row_envelope

    sparse = tf.SparseTensor([[0, 0], [2, 0], [2, 2]], [1, 2, 3], [3, 3])
    inside, buckets, ends, swapped = _evaluate(
        poincare_normalize(tf.constant([[0.3, 0.4], [3.0, 4.0]])),
        bucketize(tf.constant([-5, 10000, 10]), [0, 10, 100]),
        sparse_row_envelope(sparse),
        sparse_row_envelope(sparse, 1, 0),
    )
    np.testing.assert_allclose(inside, [[0.3, 0.4], [0.599994, 0.799992]], rtol=1e-6)
    assert buckets.tolist() == [0, 3, 2] and ends.tolist() == [1, 0, 3] and swapped.tolist() == [3, 0, 3]
