"""The names of TensorFlow 0.12 that 1.x dropped or gave other arguments, each with what it means today.

A row is the old name and today's, or the old name with its parameters and an expression of them. Names are below `tf`,
on both sides; `tf0` has what needs more than an expression (`functions.py`, `recurrent.py`, `skflow.py`).
"""

from __future__ import annotations

import ast
import functools
from typing import Any, NamedTuple

VERSION = "0.12.1"
TABLE = """
mul                     : tf.multiply
sub                     : tf.subtract
neg                     : tf.negative
inv                     : tf.reciprocal
pack(values, axis=0, name="pack")                       : tf.stack(values, axis, name)
unpack(value, num=None, axis=0, name="unpack")          : tf.unstack(value, num, axis, name)
concat(concat_dim, values, name="concat")               : tf.concat(values, concat_dim, name)
concat_v2               : tf.concat
split(split_dim, num_split, value, name="split")        : tf.split(value, num_split, split_dim, name=name)
split_v(value, size_splits, split_dim=0, num=None, name="split_v") : tf.split(value, size_splits, split_dim, num, name)
select(condition, t, e, name=None)                      : tf.where(condition, t, e, name)
where(input, name=None)                                 : tf.where(input, name=name)
reverse(tensor, dims, name=None)                        : tf0.reverse(tensor, dims, name)
listdiff(x, y, name=None)                               : tf.setdiff1d(x, y, name=name)
complex_abs             : tf.abs
arg_max(input, dimension, name=None)                    : tf.argmax(input, dimension, name)
arg_min(input, dimension, name=None)                    : tf.argmin(input, dimension, name)
batch_matmul(x, y, adj_x=False, adj_y=False, name=None) : tf.matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y, name=name)
batch_matrix_diag       : tf.matrix_diag
batch_matrix_diag_part  : tf.matrix_diag_part
batch_matrix_set_diag   : tf.matrix_set_diag
batch_matrix_band_part  : tf.matrix_band_part
batch_matrix_transpose  : tf.matrix_transpose
batch_matrix_determinant : tf.matrix_determinant
batch_matrix_inverse    : tf.matrix_inverse
batch_matrix_solve      : tf.matrix_solve
batch_matrix_solve_ls   : tf.matrix_solve_ls
batch_matrix_triangular_solve : tf.matrix_triangular_solve
batch_cholesky          : tf.cholesky
batch_cholesky_solve    : tf.cholesky_solve
batch_self_adjoint_eig  : tf.self_adjoint_eig
batch_self_adjoint_eigvals : tf.self_adjoint_eigvals
batch_svd               : tf.svd
batch_fft               : tf.fft
batch_ifft              : tf.ifft
batch_fft2d             : tf.fft2d
batch_ifft2d            : tf.ifft2d
batch_fft3d             : tf.fft3d
batch_ifft3d            : tf.ifft3d
sparse_split(split_dim, num_split, sp_input, name=None) : tf.sparse_split(axis=split_dim, num_split=num_split, sp_input=sp_input, name=name)
get_variable            : tf0.get_variable
scalar_summary          : tf.contrib.deprecated.scalar_summary
histogram_summary       : tf.contrib.deprecated.histogram_summary
image_summary           : tf.contrib.deprecated.image_summary
audio_summary           : tf.contrib.deprecated.audio_summary
merge_summary           : tf.contrib.deprecated.merge_summary
merge_all_summaries     : tf.contrib.deprecated.merge_all_summaries
SparseTensor            : tf0.SparseTensor
SparseTensorValue(indices, values, shape)               : tf.SparseTensorValue(indices, values, shape)

train.SummaryWriter     : tf.summary.FileWriter

image.per_image_whitening(image)                        : tf.image.per_image_standardization(image)
image.resize_images     : tf0.resize_images
image.random_crop(image, size, seed=None, name=None)    : tf0.random_crop(image, size, seed, name)

flags.FLAGS             : tf0.FLAGS
app.flags.FLAGS         : tf0.FLAGS

nn.softmax_cross_entropy_with_logits(logits, labels, dim=-1, name=None) : tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)
nn.sparse_softmax_cross_entropy_with_logits(logits, labels, name=None) : tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)
nn.sigmoid_cross_entropy_with_logits(logits, targets, name=None) : tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)
nn.weighted_cross_entropy_with_logits(logits, targets, pos_weight, name=None) : tf.nn.weighted_cross_entropy_with_logits(targets, logits, pos_weight, name)
nn.sampled_softmax_loss(weights, biases, inputs, labels, num_sampled, num_classes, num_true=1, sampled_values=None, remove_accidental_hits=True, partition_strategy="mod", name="sampled_softmax_loss") : tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits, partition_strategy, name)
nn.nce_loss(weights, biases, inputs, labels, num_sampled, num_classes, num_true=1, sampled_values=None, remove_accidental_hits=False, partition_strategy="mod", name="nce_loss") : tf.nn.nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits, partition_strategy, name)
nn.ctc_loss(inputs, labels, sequence_length, preprocess_collapse_repeated=False, ctc_merge_repeated=True, time_major=True) : tf.nn.ctc_loss(labels, inputs, sequence_length, preprocess_collapse_repeated, ctc_merge_repeated, time_major=time_major)
nn.deconv2d             : tf.nn.conv2d_transpose
nn.rnn                  : tf0.rnn
nn.dynamic_rnn          : tf0.dynamic_rnn
nn.bidirectional_rnn    : tf0.bidirectional_rnn
nn.bidirectional_dynamic_rnn : tf0.bidirectional_dynamic_rnn
nn.state_saving_rnn     : tf0.state_saving_rnn

contrib.ctc.ctc_loss(inputs, labels, sequence_length, preprocess_collapse_repeated=False, ctc_merge_repeated=True) : tf.nn.ctc_loss(labels, inputs, sequence_length, preprocess_collapse_repeated, ctc_merge_repeated)
contrib.ctc.ctc_greedy_decoder : tf.nn.ctc_greedy_decoder
contrib.ctc.ctc_beam_search_decoder : tf.nn.ctc_beam_search_decoder
contrib.learn.TensorFlowClassifier        : tf0.TensorFlowLinearClassifier
contrib.learn.TensorFlowRegressor         : tf0.TensorFlowLinearRegressor
contrib.learn.TensorFlowLinearClassifier  : tf0.TensorFlowLinearClassifier
contrib.learn.TensorFlowLinearRegressor   : tf0.TensorFlowLinearRegressor
contrib.learn.TensorFlowDNNClassifier     : tf0.TensorFlowDNNClassifier
contrib.learn.TensorFlowDNNRegressor      : tf0.TensorFlowDNNRegressor
"""


class Row(NamedTuple):
    """A name of 0.12, its parameters where they are other ones than today's, and what it means."""

    name: str
    parameters: str | None
    meaning: str

    def value(self, tf: Any, tf0: Any) -> Any:
        """What the name stands for, with today's namespace and the functions of 0.12."""
        known = {"tf": tf, "tf0": tf0}
        if self.parameters is None:
            return eval(self.meaning, known)
        function = eval(f"lambda {self.parameters}: {self.meaning}", known)
        function.__name__ = function.__qualname__ = self.name.rpartition(".")[2]
        function.__doc__ = f"As TensorFlow 0.12 had it: {self.meaning}"
        return function


@functools.cache
def rows() -> dict[str, Row]:
    """{name: row}."""
    found = {}
    for line in filter(str.strip, TABLE.splitlines()):
        old, _, meaning = line.partition(" : ")
        name, bracket, rest = old.strip().partition("(")
        found[name] = Row(name, rest.strip().removesuffix(")") if bracket else None, meaning.strip())
    return found


@functools.cache
def parameters(name: str) -> tuple[str, ...]:
    """The parameters of a function of 0.12 whose arguments differ today."""
    text = rows()[name].parameters or ""
    function = ast.parse(f"(lambda {text}: 0)", mode="eval").body
    assert isinstance(function, ast.Lambda)
    return tuple(parameter.arg for parameter in function.args.args)
