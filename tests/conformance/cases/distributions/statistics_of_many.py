"""Distributions of tf and contrib: log_prob, cdf, entropy, moments, kl, shapes, transformed ones, mixtures, errors of arguments."""

import numpy as np
import tensorflow as tf


def run(out):
    D = tf.contrib.distributions
    d64 = lambda v: tf.constant(v, tf.float64)
    made = {
        "normal": D.Normal([0.0, 1.0], [1.0, 2.0]),
        "lognormal": D.TransformedDistribution(D.Normal(0.0, 1.0), D.bijectors.Exp()),
        "gamma": D.Gamma([1.0, 2.0], 3.0),
        "invg": D.InverseGamma(3.0, 2.0),
        "beta": D.Beta([1.5, 2.0], 3.0),
        "bern": D.Bernoulli(logits=[0.3, -1.0]),
        "cat": D.Categorical(logits=[[0.1, 0.2, 0.7]]),
        "onehot": D.OneHotCategorical(probs=[0.2, 0.8]),
        "bin": D.Binomial(5.0, probs=0.3),
        "pois": D.Poisson(2.0),
        "geo": D.Geometric(probs=0.25),
        "nb": D.NegativeBinomial(3.0, probs=0.4),
        "student": D.StudentT(4.0, 1.0, 2.0),
        "laplace": D.Laplace(0.0, 2.0),
        "cauchy": D.Cauchy(0.0, 1.0),
        "logistic": D.Logistic(1.0, 2.0),
        "halfn": D.HalfNormal(2.0),
        "unif": D.Uniform([0.0, 1.0], 3.0),
        "chi2": D.Chi2(4.0),
        "expo": D.Exponential(3.0),
        "kumar": D.Kumaraswamy(2.0, 3.0),
        "weib": D.TransformedDistribution(
            D.Exponential(1.0), D.bijectors.Affine(shift=1.0, scale_identity_multiplier=2.0)
        ),
        "dirichlet": D.Dirichlet([1.0, 2.0, 3.0]),
        "mvn": D.MultivariateNormalDiag([0.0, 1.0], [1.0, 2.0]),
        "mvnt": D.MultivariateNormalTriL([0.0, 1.0], [[1.0, 0.0], [0.5, 2.0]]),
        "mvnf": D.MultivariateNormalFullCovariance([0.0, 0.0], [[2.0, 0.3], [0.3, 1.0]]),
        "mix": D.MixtureSameFamily(D.Categorical(probs=[0.3, 0.7]), D.Normal([-1.0, 1.0], [0.5, 0.5])),
        "mix2": D.Mixture(D.Categorical(probs=[0.4, 0.6]), [D.Normal(0.0, 1.0), D.Normal(3.0, 1.0)]),
        "indep": D.Independent(D.Normal([[0.0, 1.0]], 1.0), 1),
        "det": D.Deterministic(2.0),
        "wish": D.WishartCholesky(4.0, [[1.0, 0.0], [0.3, 1.0]]),
        "quant": D.QuantizedDistribution(D.Normal(0.0, 3.0), low=-2.0, high=2.0),
        "dm": D.DirichletMultinomial(4.0, [1.0, 2.0]),
        "multi": D.Multinomial(4.0, probs=[0.3, 0.7]),
        "relb": D.RelaxedBernoulli(0.5, probs=0.3),
        "relo": D.RelaxedOneHotCategorical(0.7, probs=[0.3, 0.7]),
        "poln": D.PoissonLogNormalQuadratureCompound(0.1, 0.2)
        if hasattr(D, "PoissonLogNormalQuadratureCompound")
        else D.Normal(0.0, 1.0),
        "vexp": D.VectorExponentialDiag([0.0, 1.0], [1.0, 2.0]),
        "sinh": D.SinhArcsinh(0.0, 1.0, 0.3, 1.2),
    }
    points = {
        "cat": [1],
        "onehot": [0.0, 1.0],
        "dirichlet": [0.2, 0.3, 0.5],
        "mvn": [0.5, 0.5],
        "mvnt": [0.5, 0.5],
        "mvnf": [0.5, 0.5],
        "indep": [[0.2, 0.4]],
        "det": 2.0,
        "wish": [[2.0, 0.1], [0.1, 1.0]],
        "dm": [1.0, 3.0],
        "multi": [1.0, 3.0],
        "relo": [0.3, 0.7],
        "vexp": [1.5, 2.5],
        "weib": 1.7,
        "invg": 0.8,
    }
    results = {}
    for n, d in sorted(made.items()):
        p = tf.constant(
            np.array(points.get(n, 0.6 if n not in ("bern", "bin", "pois", "geo", "nb", "quant") else 1.0)).astype(
                d.dtype.as_numpy_dtype
            )
        )
        row = []
        for what in ("log_prob", "cdf", "mean", "variance", "entropy", "mode", "stddev", "survival_function"):
            try:
                f = getattr(d, what)
                row.append(f(p) if what in ("log_prob", "cdf", "survival_function") else f())
            except Exception as e:  # noqa: BLE001
                row.append(tf.constant(type(e).__name__))
        results[n] = row
        out(
            "facts " + n,
            [
                d.name,
                d.dtype.name,
                str(d.batch_shape),
                str(d.event_shape),
                str(d.reparameterization_type),
                d.allow_nan_stats,
            ],
        )
    kl = [
        D.kl_divergence(made["normal"], D.Normal(0.5, 1.0)),
        D.kl_divergence(made["bern"], D.Bernoulli(probs=0.4)),
        D.kl_divergence(made["gamma"], D.Gamma(2.0, 1.0)),
        D.kl_divergence(made["mvn"], made["mvnt"]),
        D.kl_divergence(made["dirichlet"], D.Dirichlet([2.0, 2.0, 2.0])),
        D.kl_divergence(made["cat"], D.Categorical(probs=[0.2, 0.3, 0.5])),
        made["beta"].cross_entropy(D.Beta(1.0, 1.0)),
    ]
    out.raises("kl", D.kl_divergence, made["normal"], made["gamma"])
    out.raises("both", D.Bernoulli, logits=0.1, probs=0.2)
    out.raises("neither", D.Bernoulli)
    out.raises("dtypes", D.Normal, 0.0, tf.constant(1.0, tf.float64))
    out.raises("not implemented", made["cat"].covariance)
    out.raises("abstract", D.Distribution(tf.float32, D.FULLY_REPARAMETERIZED, False, True).mean)
    out.raises("static check", D.Normal, 0.0, tf.constant(-1.0), validate_args=True)
    checked = D.Normal(0.0, tf.placeholder_with_default(-1.0, []), validate_args=True)
    with tf.Session() as sess:
        for n, row in sorted(results.items()):
            got = []
            for tensor in row:
                try:
                    got.append(sess.run(tensor))
                except tf.errors.OpError as e:
                    got.append(type(e).__name__)
            out(n, got, rtol=2e-4, atol=1e-5)
        out("kl values", sess.run(kl), rtol=1e-4)
        out.raises("validate", sess.run, checked.mean())
        out.raises("validate values", lambda: D.Gamma(1.0, 1.0, validate_args=True).log_prob(-1.0))
    out.graph()
