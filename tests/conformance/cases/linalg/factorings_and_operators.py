"""lu, qr, expm, logm-like, sqrtm, tridiagonal, banded, least squares, LinearOperator compositions, cholesky updates, adjoint, cross, slogdet."""

import numpy as np
import tensorflow as tf


def run(out):
    rng = np.random.RandomState(3)
    a = tf.constant(rng.randn(2, 3, 3), tf.float64, name="a")
    spd = tf.matmul(a, a, transpose_b=True) + 3 * tf.eye(3, dtype=tf.float64)
    rhs = tf.constant(rng.randn(2, 3, 2), tf.float64, name="rhs")
    lu, p = tf.linalg.lu(a)
    q, r = tf.linalg.qr(tf.constant(rng.randn(2, 4, 3)), full_matrices=False)
    vals = {
        "lu": [lu, p],
        "qr": [tf.abs(q), tf.abs(r)],
        "expm": tf.linalg.expm(a),
        "sqrtm": tf.linalg.sqrtm(spd),
        "logdet": tf.linalg.logdet(spd),
        "slogdet": list(tf.linalg.slogdet(a)),
        "lstsq": tf.matrix_solve_ls(tf.constant(rng.randn(4, 3)), tf.constant(rng.randn(4, 2)), l2_regularizer=0.1),
        "lsslow": tf.matrix_solve_ls(tf.constant(rng.randn(3, 4)), tf.constant(rng.randn(3, 1)), fast=False),
        "chol": tf.cholesky_solve(tf.cholesky(spd), rhs),
        "tri": tf.matrix_triangular_solve(tf.cholesky(spd), rhs, adjoint=True),
        "inv": tf.matrix_inverse(a, adjoint=True),
        "solve": tf.matrix_solve(a, rhs, adjoint=True),
        "tridiag": tf.linalg.tridiagonal_solve(
            tf.constant([[[0.0, 1.0, 2.0], [4.0, 5.0, 6.0], [1.0, 1.0, 0.0]]]), tf.constant([[1.0, 2.0, 3.0]])
        ),
        "cross": tf.cross(a, a[::-1]),
        "adj": tf.linalg.adjoint(tf.complex(a, a)),
        "norms": [tf.norm(a, ord=o, axis=[-2, -1]) for o in ("fro", 1, np.inf)]
        + [tf.norm(a, ord=3, axis=1), tf.norm(a)],
        "trace": tf.trace(a),
        "det": tf.matrix_determinant(a),
        "tensordiag": tf.diag([1, 2]),
        "l2n": tf.linalg.l2_normalize(a, axis=[1, 2]),
        "eigh": tf.self_adjoint_eigvals(spd),
        "svdv": tf.svd(a, compute_uv=False),
        "einsum": tf.einsum("bij,bkj->bik", a, a),
        "mv": tf.linalg.matvec(a, rhs[..., 0]),
        "global": tf.global_norm([a, rhs]),
    }
    L = tf.linalg
    diag, full, low = (
        L.LinearOperatorDiag([1.0, 2.0, 3.0]),
        L.LinearOperatorFullMatrix(tf.constant(rng.rand(3, 3), tf.float32), is_square=True),
        L.LinearOperatorLowerTriangular(tf.constant(np.tril(rng.rand(3, 3)) + np.eye(3), tf.float32)),
    )
    comp, block, kron = (
        L.LinearOperatorComposition([diag, full]),
        L.LinearOperatorBlockDiag([diag, low]),
        L.LinearOperatorKronecker([low, L.LinearOperatorIdentity(2)]),
    )
    upd = L.LinearOperatorLowRankUpdate(diag, tf.ones([3, 1]), diag_update=[2.0], is_diag_update_positive=True)
    inv, adj, circ = (
        L.LinearOperatorInversion(low),
        L.LinearOperatorAdjoint(low),
        L.LinearOperatorCirculant(tf.constant([1.0 + 0j, 2.0, 2.0], tf.complex64)),
    )
    for n, op in (
        ("comp", comp),
        ("block", block),
        ("kron", kron),
        ("upd", upd),
        ("inv", inv),
        ("adj", adj),
        ("circ", circ),
        ("householder", L.LinearOperatorHouseholder([0.6, 0.8])),
        ("perm", L.LinearOperatorScaledIdentity(2, 3.0)),
        ("zeros", L.LinearOperatorZeros(2)),
        ("toeplitz", L.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0])),
    ):
        vals["op " + n] = [
            op.to_dense(),
            op.diag_part(),
            op.trace(),
            op.matmul(tf.ones([int(op.range_dimension), 2], op.dtype)),
        ]
        out(
            "flags " + n,
            [
                op.is_square,
                op.is_self_adjoint,
                op.is_positive_definite,
                op.is_non_singular,
                op.shape.as_list(),
                op.name,
                op.dtype.name,
                len(op.graph_parents),
            ],
        )
        if n != "zeros":
            vals["det " + n] = [op.log_abs_determinant(), op.solve(tf.ones([int(op.range_dimension), 1], op.dtype))]
    out.raises("not square", L.LinearOperatorFullMatrix(tf.ones([2, 3])).determinant)
    out.raises("dtypes", L.LinearOperatorComposition, [diag, L.LinearOperatorIdentity(3, dtype=tf.float64)])
    out.raises("shape", diag.matmul, tf.ones([2, 2]))
    out.raises("hints", L.LinearOperatorDiag, [1.0], is_square=False)
    g = tf.gradients(
        [
            tf.reduce_sum(vals[n])
            for n in ("expm", "sqrtm", "logdet", "chol", "tri", "inv", "det", "eigh", "svdv")
            if n != "sqrtm"
        ],
        a,
    )
    names = sorted(vals)
    with tf.Session() as sess:
        for n, v in zip(names, sess.run([vals[n] for n in names])):
            out(n, v, rtol=1e-4, atol=1e-5)
        out("grad", sess.run(g), rtol=1e-4)
        out.raises("singular", sess.run, tf.matrix_inverse(tf.zeros([2, 2])))
        out.raises("not positive", sess.run, tf.cholesky(-tf.eye(2)))
    out.graph()
