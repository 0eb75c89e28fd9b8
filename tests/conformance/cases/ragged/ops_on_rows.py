"""Ragged tensors in a graph: factories, conversions, gathers, reductions, concat, masks, map_fn, ops by dispatch, gradients, placeholders, errors."""

import numpy as np
import tensorflow as tf

R = tf.ragged


def run(out):
    rt = R.constant([[1.0, 2.0], [], [3.0, 4.0, 5.0]])
    ints = R.constant([[[1, 2], [3]], [], [[4], [], [5, 6]]], dtype=tf.int32)
    words = R.constant([["a", "bc"], ["d"]])
    ph = R.placeholder(tf.float32, 1, [], name="ph")
    base = tf.placeholder(tf.float32, [None], name="base")
    splits = tf.placeholder(tf.int64, [None], name="splits")
    dyn = tf.RaggedTensor.from_row_splits(base, splits)
    made = {
        "rowids": tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4),
        "lengths": tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1]),
        "starts": tf.RaggedTensor.from_row_starts([1, 2, 3], [0, 0, 2]),
        "limits": tf.RaggedTensor.from_row_limits([1, 2, 3], [1, 1, 3]),
        "nested": tf.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 2, 3]]),
        "tensor": tf.RaggedTensor.from_tensor(tf.constant([[1, 0, 0], [2, 3, 0]]), padding=0),
        "tensorl": tf.RaggedTensor.from_tensor(tf.constant([[1, 2], [3, 4]]), lengths=[1, 2]),
        "sparse": tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 3], [2, 2])),
        "range": R.range([2, 0, 3], [5, 1, 4]),
        "concat": tf.concat([rt, rt], 1),
        "concat0": tf.concat([rt, dyn], 0),
        "stack": R.stack([rt, rt], 0),
        "gather": tf.gather(rt, [2, 0, 2]),
        "gather2": tf.gather(rt, R.constant([[0], [2, 1]])),
        "gnd": tf.gather_nd(ints, [[0, 0], [2, 2]]),
        "mask": R.boolean_mask(rt, R.constant([[True, False], [], [False, True, True]])),
        "mask2": R.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]),
        "tile": tf.tile(rt, [1, 2]),
        "expand": tf.expand_dims(rt, 1),
        "where": tf.where(R.constant([[True, False], [], [True, True, False]]), rt, -rt),
        "bgather": tf.batch_gather(rt, R.constant([[1], [], [0, 2]])),
        "add": rt + 1.0,
        "mul": rt * rt,
        "cmp": rt > 2.0,
        "sq": tf.square(rt),
        "cast": tf.cast(rt, tf.int64),
        "strlen": tf.strings.length(words),
        "join": tf.strings.join([words, words], "+"),
        "sum1": tf.reduce_sum(rt, 1),
        "sum0": tf.reduce_sum(rt, 0),
        "mean": tf.reduce_mean(rt, 1),
        "max": tf.reduce_max(ints, 2),
        "all": tf.reduce_all(rt > 1.0, 1),
        "prod": tf.reduce_prod(ints, axis=[1, 2]),
        "any": tf.reduce_any(rt > 4.0),
        "segs": tf.math.unsorted_segment_sum(rt.values, rt.value_rowids(), 3),
        "mapr": R.map_flat_values(lambda v: v * 2.0, rt),
        "index": rt[2],
        "slice": rt[:, 1:],
        "slice2": rt[1:, :2],
        "inner": ints[0, 1],
        "neg": ints[:, -1:],
        "newaxis": rt[:, tf.newaxis],
        "todense": rt.to_tensor(-1.0),
        "tosparse": rt.to_sparse(),
        "ints": ints.to_tensor(),
        "nrows": rt.nrows(),
        "rlen": ints.row_lengths(2),
        "rlen1": rt.row_lengths(),
        "bound": ints.bounding_shape(),
        "rowid": rt.value_rowids(),
        "flat": ints.flat_values,
        "nest": list(ints.nested_row_splits),
        "withv": rt.with_values(tf.constant([5, 6, 7, 8, 9])),
        "withf": ints.with_flat_values(tf.range(6.0)),
        "rank": tf.rank(ints),
        "size": tf.size(rt),
        "dyn": dyn,
        "ph": ph,
        "seq": R.row_splits_to_segment_ids([0, 2, 2, 5]),
        "ids": R.segment_ids_to_row_splits([0, 0, 2]),
    }
    out(
        "static",
        {n: (v.shape.as_list() if v.shape.ndims is not None else None) for n, v in made.items() if hasattr(v, "shape")},
    )
    out(
        "facts",
        [
            rt.ragged_rank,
            ints.ragged_rank,
            rt.dtype.name,
            str(rt.shape),
            repr(dyn)[:20],
            rt.row_splits.dtype.name,
            R.constant_value([[1], [2, 3]]).to_list(),
            type(rt.values).__name__,
            ints.nested_value_rowids()[0].shape.as_list(),
        ],
    )
    out.raises("bad uneven", R.constant, [[1], 2])
    out.raises("bad ranks", R.constant, [1, 2], ragged_rank=1)
    out.raises("bad splits rank", tf.RaggedTensor.from_row_splits, [1, 2], [[0, 2]])
    out.raises("bad splits dtype", tf.RaggedTensor.from_row_splits, [1, 2], [0.0, 2.0])
    out.raises("bad bool", lambda: bool(rt))
    out.raises("bad index", lambda: rt[0, 0, 0])
    out.raises("bad concat ranks", tf.concat, [rt, ints], 0)
    out.raises("bad binary", lambda: tf.add(rt, "a"))
    out.raises("bad axis", tf.reduce_sum, rt, 5)
    g = tf.gradients(
        [tf.reduce_sum(tf.square(dyn).to_tensor()), tf.reduce_sum(tf.concat([dyn, rt], 0).values * 3.0)], base
    )
    feed = {base: [1.0, 2.0, 3.0, 4.0], splits: [0, 1, 4], ph: R.constant_value([[1.0], [2.0, 3.0]], dtype=np.float32)}
    with tf.Session() as sess:
        for n in sorted(made):
            v = sess.run(made[n], feed)
            out(n, v.to_list() if hasattr(v, "to_list") else list(v) if hasattr(v, "_fields") else v)
        out("grad", sess.run(g, feed))
        out.raises(
            "bad run splits",
            sess.run,
            tf.RaggedTensor.from_row_splits(base, splits).to_tensor(),
            {base: [1.0], splits: [0, 5]},
        )
    out.graph()
