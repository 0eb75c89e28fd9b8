"""Pairs of a token and one near it, from a vector of tokens: what a skip-gram model is trained with."""

from __future__ import annotations

import csv

from everflow.framework import dtypes, seeds
from everflow.framework import raw_ops as raw
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array
from everflow.ops import math as math_ops
from everflow.ops.lookup.files import TextFileInitializer
from everflow.ops.lookup.static import HashTable
from everflow.ops.random.distributions import random_uniform
from everflow.platform.gfile import GFile
from everflow.train.input import batch


def skip_gram_sample(
    input_tensor,
    min_skips=1,
    max_skips=5,
    start=0,
    limit=-1,
    emit_self_as_target=False,
    vocab_freq_table=None,
    vocab_min_count=None,
    vocab_subsampling=None,
    corpus_size=None,
    batch_size=None,
    batch_capacity=None,
    seed=None,
    name=None,
):
    """Tokens and labels: each token with its neighbours, as far to both sides as a random number says.

    Args:
      input_tensor: A vector of tokens.
      min_skips: The least distance that may be drawn for a token.
      max_skips: The largest one.
      start: The place of the first token to look at.
      limit: How many tokens to look at; -1: all that follow.
      emit_self_as_target: Whether a token is paired with itself as well.
      vocab_freq_table: A table of how often each token comes in the corpus; others are left out.
      vocab_min_count: How often a token has to come, or it is left out.
      vocab_subsampling: The share of the corpus above which a token is left out now and then.
      corpus_size: How many tokens the corpus has, for `vocab_subsampling`.
      batch_size: How many pairs to give at a time, from a queue.
      batch_capacity: How many pairs the queue holds.
      seed: The seed.
      name: The name of the scope.

    Returns:
      Two vectors: the tokens, and the label of each.

    Example:
      >>> from everflow.contrib import text
      >>> tokens, labels = text.skip_gram_sample(tf.constant([1, 2, 3]), max_skips=1)
      >>> sess.run([tokens, labels])
      [array([1, 2, 2, 3], dtype=int32), array([2, 1, 3, 2], dtype=int32)]
    """
    if vocab_freq_table is None and not (vocab_min_count is None and vocab_subsampling is None and corpus_size is None):
        raise ValueError("vocab_min_count, vocab_subsampling and corpus_size need a vocab_freq_table")
    if (vocab_subsampling is None) != (corpus_size is None):
        raise ValueError(
            f"Give both of vocab_subsampling and corpus_size, or neither; got {vocab_subsampling} and {corpus_size}"
        )
    with name_scope(name, "skip_gram_sample", [input_tensor]):
        tokens = _filter(input_tensor, vocab_freq_table, vocab_min_count, vocab_subsampling, corpus_size, seed)
        seed1, seed2 = seeds.get_seed(seed)
        pairs = raw.SkipGramGenerateCandidates(
            input_tensor=tokens,
            min_skips=min_skips,
            max_skips=max_skips,
            start=start,
            limit=limit,
            emit_self_as_target=emit_self_as_target,
            seed=seed1 or 0,
            seed2=seed2 or 0,
        )
        tokens, labels = pairs.tokens, pairs.labels
        if batch_size is not None:
            capacity = {} if batch_capacity is None else {"capacity": batch_capacity}
            tokens, labels = batch([tokens, labels], batch_size, enqueue_many=True, **capacity)
        return tokens, labels


def skip_gram_sample_with_text_vocab(
    input_tensor,
    vocab_freq_file,
    vocab_token_index=0,
    vocab_token_dtype=dtypes.string,
    vocab_freq_index=1,
    vocab_freq_dtype=dtypes.float64,
    vocab_delimiter=",",
    vocab_min_count=0,
    vocab_subsampling=None,
    corpus_size=None,
    min_skips=1,
    max_skips=5,
    start=0,
    limit=-1,
    emit_self_as_target=False,
    batch_size=None,
    batch_capacity=None,
    seed=None,
    name=None,
):
    """`skip_gram_sample` with the vocabulary of a file that has a token and how often it comes in each line.

    Args:
      input_tensor: A vector of tokens.
      vocab_freq_file: The file's path.
      vocab_token_index: The column with the token.
      vocab_token_dtype: The token's type.
      vocab_freq_index: The column with the number.
      vocab_freq_dtype: The number's type.
      vocab_delimiter: What stands between columns.
      vocab_min_count: How often a token has to come, or it is left out.
      vocab_subsampling: The share of the corpus above which a token is left out now and then.
      corpus_size: How many tokens the corpus has; the sum of all numbers of the file where None.
      min_skips: The least distance that may be drawn for a token.
      max_skips: The largest one.
      start: The place of the first token to look at.
      limit: How many tokens to look at; -1: all that follow.
      emit_self_as_target: Whether a token is paired with itself as well.
      batch_size: How many pairs to give at a time, from a queue.
      batch_capacity: How many pairs the queue holds.
      seed: The seed.
      name: The name of the scope.

    Returns:
      Two vectors: the tokens, and the label of each.
    """
    if vocab_token_index < 0 or vocab_freq_index < 0:
        raise ValueError(f"Columns count from 0, got {vocab_token_index} and {vocab_freq_index}")
    if vocab_token_index == vocab_freq_index:
        raise ValueError(f"Token and number can't both be in column {vocab_token_index}")
    with GFile(vocab_freq_file, mode="r") as file:
        lines = csv.reader(file, delimiter=vocab_delimiter)
        total = 0
        for place, line in enumerate(lines):
            if (last := max(vocab_token_index, vocab_freq_index)) >= len(line):
                raise ValueError(
                    f"Line {place + 1} of {vocab_freq_file} has {len(line)} columns; there is no column {last}"
                )
            total += vocab_freq_dtype.as_numpy_dtype(line[vocab_freq_index])
    if vocab_subsampling is None:
        corpus_size = None
    elif corpus_size is None:
        corpus_size = total
    elif corpus_size < total:
        raise ValueError(f"corpus_size is {corpus_size}, less than the {total} that {vocab_freq_file} counts")
    missing = -1
    table = HashTable(
        TextFileInitializer(
            filename=vocab_freq_file,
            key_dtype=vocab_token_dtype,
            key_index=vocab_token_index,
            value_dtype=vocab_freq_dtype,
            value_index=vocab_freq_index,
            delimiter=vocab_delimiter,
        ),
        missing,
    )
    return skip_gram_sample(
        input_tensor,
        min_skips=min_skips,
        max_skips=max_skips,
        start=start,
        limit=limit,
        emit_self_as_target=emit_self_as_target,
        vocab_freq_table=table,
        vocab_min_count=vocab_min_count,
        vocab_subsampling=vocab_subsampling,
        corpus_size=corpus_size,
        batch_size=batch_size,
        batch_capacity=batch_capacity,
        seed=seed,
        name=name,
    )


def _filter(tokens, table, min_count, subsampling, corpus_size, seed):
    """The tokens that the vocabulary has, often enough, less some of those that come very often."""
    if table is None:
        return tokens
    with name_scope(None, "filter_vocab", [table, tokens, min_count]):
        counts = table.lookup(tokens)
        mask = math_ops.not_equal(counts, table.default_value)
        if min_count is not None:
            enough = math_ops.greater_equal(counts, math_ops.cast(min_count, counts.dtype))
            mask = math_ops.logical_and(mask, enough)
        tokens = array.boolean_mask(tokens, mask)
        counts = array.boolean_mask(counts, mask)
    if subsampling is None:
        return tokens
    if not 0 < subsampling <= 1:
        raise ValueError(f"Invalid vocab_subsampling={subsampling}: a share is above 0 and at most 1")
    with name_scope(None, "subsample_vocab", [tokens, counts, subsampling]):
        corpus_size = math_ops.cast(corpus_size, dtypes.float64)
        counts = math_ops.cast(counts, dtypes.float64)
        subsampling = math_ops.cast(subsampling, dtypes.float64)
        # Mikolov et al., "Distributed Representations of Words and Phrases and their Compositionality".
        keep = (math_ops.sqrt(counts / (subsampling * corpus_size)) + 1.0) * (subsampling * corpus_size / counts)
        drawn = random_uniform(array.shape(counts), minval=0.0, maxval=1.0, dtype=dtypes.float64, seed=seed)
        return array.boolean_mask(tokens, math_ops.less_equal(drawn, keep))


@shape_rule("SkipGramGenerateCandidates")
def _skip_gram_shape(op):
    return [TensorShape([None]), TensorShape([None])]


not_differentiable("SkipGramGenerateCandidates")
