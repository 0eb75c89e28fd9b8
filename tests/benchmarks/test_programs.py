"""Programs that are timed do what they say: every one draws, takes a step, and gives finite numbers."""

import numpy as np
import pytest

import everflow as tf
from benchmarks.programs import PASSES, PROGRAMS, STREAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_takes_a_step(name):
    with tf.Graph().as_default(), tf.Session() as sess:
        fetches, feeds = PROGRAMS[name](tf)
        sess.run(tf.global_variables_initializer())
        results = sess.run([f for f in fetches if isinstance(f, tf.Tensor)], feeds)
    assert all(np.isfinite(r).all() for r in results)


def test_a_greedy_decoder_stops_at_the_longest_sentence():
    with tf.Graph().as_default(), tf.Session() as sess:
        fetches, feeds = PROGRAMS["greedy_decoder"](tf, longest=7)
        sess.run(tf.global_variables_initializer())
        sentences, length = sess.run(fetches, feeds)
    assert sentences.shape == (16, length) and length <= 7


def test_leaps_keep_the_energy_so_most_draws_are_accepted():
    with tf.Graph().as_default(), tf.Session() as sess:
        fetches, _ = PROGRAMS["hamiltonian_monte_carlo"](tf, step=0.02)
        sess.run(tf.global_variables_initializer())
        accepted = [sess.run(fetches)[1] for _ in range(10)]
    assert np.mean(accepted) > 0.9


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_takes_a_step(name, monkeypatch):
    monkeypatch.setattr("benchmarks.programs.streams.SIZE", 4096)
    with tf.Graph().as_default(), tf.Session() as sess:
        fetches, feeds = STREAMS[name](tf)
        sess.run(tf.global_variables_initializer())
        sess.run(fetches, feeds)
    assert PASSES[name] >= 1
