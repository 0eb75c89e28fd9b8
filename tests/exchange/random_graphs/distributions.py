"""Distributions and bijectors, of `tf.distributions` and `tf.contrib.distributions`: their numbers, samples, checks and
divergences.
"""

from __future__ import annotations

from tests.exchange.random_graphs.writing import Family, often

MOVES: list = []
SHAPES = [(), (2,), (3, 1)]


class _Texts:
    """Arguments of one distribution, of one type and a shape."""

    def __init__(self, p):
        self.p, self.dtype, self.shape = p, p.choice("float32", "float32", "float64"), p.random.choice(SHAPES)

    def real(self, *more):
        return self._constant((*self.shape, *more), -2, 2)

    def positive(self, *more):
        return self._constant((*self.shape, *more), 1, 3)

    def probability(self, *more):
        return f"tf.sigmoid({self.real(*more)})"

    def simplex(self, *more):
        return f"tf.nn.softmax({self.real(*more)})"

    def _constant(self, shape, low, high):
        text = self.p.numbers(shape, low=low, high=high)
        return f"tf.constant({text}, tf.{self.dtype})" if self.dtype == "float64" or self.p.chance(0.7) else text


PLAIN = {
    "Normal": lambda t: f"{t.real()}, {t.positive()}",
    "Bernoulli": lambda t: t.p.choice(f"logits={t.real()}", f"probs={t.probability()}"),
    "Beta": lambda t: f"{t.positive()}, {t.positive()}",
    "Categorical": lambda t: t.p.choice(f"logits={t.real(3)}", f"probs={t.simplex(3)}"),
    "Dirichlet": lambda t: t.positive(3),
    "DirichletMultinomial": lambda t: f"{t.positive()}, {t.positive(3)}",
    "Exponential": lambda t: t.positive(),
    "Gamma": lambda t: f"{t.positive()}, {t.positive()}",
    "Laplace": lambda t: f"{t.real()}, {t.positive()}",
    "Multinomial": lambda t: f"{t.positive()}, " + t.p.choice(f"logits={t.real(3)}", f"probs={t.simplex(3)}"),
    "StudentT": lambda t: f"{t.positive()}, {t.real()}, {t.positive()}",
    "Uniform": lambda t: f"{t.real()}, 5.0" if t.dtype == "float32" else f"{t.real()}, tf.constant(5.0, tf.float64)",
}
CONTRIB = {
    "Binomial": lambda t: f"{t.positive()}, logits={t.real()}",
    "Cauchy": lambda t: f"{t.real()}, {t.positive()}",
    "Chi2": lambda t: t.positive(),
    "Geometric": lambda t: f"logits={t.real()}",
    "Gumbel": lambda t: f"{t.real()}, {t.positive()}",
    "HalfNormal": lambda t: t.positive(),
    "InverseGamma": lambda t: f"{t.positive()}, {t.positive()}",
    "Logistic": lambda t: f"{t.real()}, {t.positive()}",
    "MultivariateNormalDiag": lambda t: f"{t.real(2)}, {t.positive(2)}",
    "NegativeBinomial": lambda t: f"{t.positive()}, logits={t.real()}",
    "OneHotCategorical": lambda t: f"logits={t.real(3)}",
    "Poisson": lambda t: t.p.choice(t.positive(), f"log_rate={t.real()}"),
    "RelaxedBernoulli": lambda t: (
        f"1.0, logits={t.real()}" if t.dtype == "float32" else f"tf.constant(1.0, tf.float64), logits={t.real()}"
    ),
    "RelaxedOneHotCategorical": lambda t: (
        f"0.5, logits={t.real(3)}" if t.dtype == "float32" else f"tf.constant(0.5, tf.float64), logits={t.real(3)}"
    ),
    "Deterministic": lambda t: t.real(),
    "NormalWithSoftplusScale": lambda t: f"{t.real()}, {t.real()}",
    "SinhArcsinh": lambda t: f"{t.real()}, {t.positive()}",
    "MultivariateNormalTriL": lambda t: f"{t.real(2)}, tf.matrix_band_part({t.positive(2, 2)}, -1, 0)",
}
BIJECTORS = {
    "Exp": "", "Softplus": "", "Sigmoid": "", "Identity": "", "AbsoluteValue": "", "Square": "", "Reciprocal": "", "Softsign": "", "SoftmaxCentered": "", "Gumbel": "0.5, 2.0", "Weibull": "2.0, 1.5",
    "Affine": "shift=[1.0], scale_identity_multiplier=2.0", "AffineScalar": "shift=1.0, scale=-2.0", "PowerTransform": "power=0.5", "Invert": "tf.contrib.distributions.bijectors.Exp()",
    "Chain": "[tf.contrib.distributions.bijectors.Exp(), tf.contrib.distributions.bijectors.Softplus()]", "SinhArcsinh": "0.5, 2.0", "Kumaraswamy": "2.0, 3.0", "Ordered": "", "Permute": "[0]",
}  # fmt: skip


def begin(p):
    distribution(p)


@often(MOVES, 2)
def distribution(p):
    table = PLAIN if p.chance(0.6) else CONTRIB
    name = p.random.choice(list(table))
    place = "tf.distributions" if table is PLAIN and p.chance(0.7) else "tf.contrib.distributions"
    texts = _Texts(p)
    more = p.choice("", "", ", validate_args=True", ", allow_nan_stats=False")
    p.add(
        f"{place}.{name}({table[name](texts)}{more}{p.named('given')})",
        "distribution",
        texts.dtype,
        texts.shape,
        (name,),
        result=False,
    )


@often(MOVES, 4)
def numbers(p):
    d = p.pick("distribution")
    name = p.choice(
        "mean",
        "variance",
        "stddev",
        "entropy",
        "mode",
        "batch_shape_tensor",
        "event_shape_tensor",
        "covariance" if p.chance(0.3) else "mean",
    )
    p.add(f"{d.name}.{name}({p.named('n').lstrip(', ')})", "other", d.dtype, None)


@often(MOVES, 4)
def at_a_value(p):
    d = p.pick("distribution")
    inside = {"Categorical": "2", "Bernoulli": "1", "Dirichlet": "[0.2, 0.3, 0.5]", "Beta": "0.4", "OneHotCategorical": "[0.0, 1.0, 0.0]", "Multinomial": "[1.0, 0.0, 1.0]", "DirichletMultinomial": "[1.0, 0.0, 1.0]", "MultivariateNormalDiag": "[0.5, 1.0]", "MultivariateNormalTriL": "[0.5, 1.0]", "RelaxedOneHotCategorical": "[0.2, 0.3, 0.5]", "RelaxedBernoulli": "0.3", "Poisson": "2.0", "Binomial": "1.0", "Geometric": "2.0", "NegativeBinomial": "1.0"}  # fmt: skip
    value = inside.get(d.about[0], p.choice("0.5", "1.5", "[0.5, 1.0]" if len(d.shape) < 2 else "0.25"))
    if d.dtype == "float64":
        value = value if d.about[0] in ("Categorical", "Bernoulli") else f"tf.constant({value}, tf.float64)"
    name = p.choice("log_prob", "prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival_function")
    p.add(f"{d.name}.{name}({value})", "other", d.dtype, None)


@often(MOVES, 3)
def sample(p):
    d = p.pick("distribution")
    p.add(
        f"{d.name}.sample({p.choice('', '2, ', '[2, 1], ')}seed={p.random.randint(1, 9)})",
        "sample",
        d.dtype,
        None,
        d.about,
        result=_is_sampled_in_order(d),
    )


def _is_sampled_in_order(d):
    """A Multinomial draws in a loop, whose iterations TensorFlow runs in any order: the numbers are nobody's."""
    return "Multinomial" not in d.about[0]


@often(MOVES, 2)
def of_a_sample(p):
    d = p.pick("distribution")
    x = p.pick("sample", accept=lambda v: v.about == d.about)
    p.add(f"{d.name}.log_prob({x.name})", "other", d.dtype, None, result=_is_sampled_in_order(d))


@often(MOVES)
def divergence(p):
    a = p.pick("distribution")
    b = p.pick("distribution", accept=lambda v: v.about == a.about)
    p.add(
        p.choice(
            f"tf.distributions.kl_divergence({a.name}, {b.name})",
            f"{a.name}.kl_divergence({b.name})",
            f"{a.name}.cross_entropy({b.name})",
        ),
        "other",
        a.dtype,
        None,
    )


@often(MOVES, 2)
def bijector(p):
    name = p.random.choice(list(BIJECTORS))
    made = p.add(
        f"tf.contrib.distributions.bijectors.{name}({BIJECTORS[name]})", "bijector", "float32", None, result=False
    )
    for way in p.random.sample(["forward", "inverse", "forward_log_det_jacobian", "inverse_log_det_jacobian"], 2):
        event = ", event_ndims=" + p.choice("0", "1") if "jacobian" in way else ""
        p.add(f"{made.name}.{way}(tf.constant([0.25, 0.5, 0.75][:{p.choice(1, 3)}]){event})", "other", "float32", None)


@often(MOVES)
def transformed(p):
    name = p.choice("Exp", "Softplus", "Sigmoid", "AffineScalar")
    p.add(
        f"tf.contrib.distributions.TransformedDistribution(tf.distributions.Normal({p.numbers(())}, 1.0), tf.contrib.distributions.bijectors.{name}({BIJECTORS[name]}))",
        "distribution", "float32", (), ("transformed",), result=False,
    )  # fmt: skip


@often(MOVES)
def gradient(p):
    x = p.name_for("x")
    p.line(f"{x} = tf.constant({p.numbers((2,), low=1, high=2)})")
    text = p.choice(
        "tf.distributions.Normal({x}, 2.0).log_prob(0.5)", "tf.distributions.Gamma({x}, 2.0).log_prob(0.5)", "tf.distributions.Normal({x}, {x}).sample(2, seed=3)", "tf.distributions.Categorical(logits={x}).entropy()",
        "tf.distributions.Beta({x}, 2.0).log_prob(0.5)", "tf.distributions.Laplace({x}, 1.0).sample(seed=1)", "tf.distributions.kl_divergence(tf.distributions.Normal({x}, 1.0), tf.distributions.Normal(0.0, 2.0))",
        "tf.distributions.Gamma({x}, 2.0).sample(2, seed=5)", "tf.distributions.StudentT(3.0, {x}, 1.0).log_prob(0.0)",
    )  # fmt: skip
    p.add(f"tf.gradients({text.format(x=x)}, {x})[0]", "other", "float32", None)


FAMILY = Family("distributions", begin, MOVES, (4, 9))
