"""A variational autoencoder of templates and distributions whose batch size is unknown, and a normalizing flow of bijectors."""
import numpy as np
import tensorflow as tf


def run(out):
    tfd = tf.contrib.distributions
    tfb = tfd.bijectors
    tf.set_random_seed(42)
    rng = np.random.RandomState(0)

    def make_encoder(data, code_size):
        x = tf.layers.dense(tf.layers.flatten(data), 12, tf.nn.relu)
        return tfd.MultivariateNormalDiag(tf.layers.dense(x, code_size), tf.layers.dense(x, code_size, tf.nn.softplus))

    def make_decoder(code, shape):
        x = tf.layers.dense(code, 12, tf.nn.relu)
        logit = tf.reshape(tf.layers.dense(x, np.prod(shape)), [-1] + shape)
        return tfd.Independent(tfd.Bernoulli(logit), 2)

    encoder = tf.make_template("encoder", make_encoder)
    decoder = tf.make_template("decoder", make_decoder)
    data = tf.placeholder(tf.float32, [None, 4, 4])
    prior = tfd.MultivariateNormalDiag(tf.zeros(2), tf.ones(2))
    posterior = encoder(data, code_size=2)
    code = posterior.sample(seed=3)
    likelihood = decoder(code, [4, 4]).log_prob(data)
    elbo = tf.reduce_mean(likelihood - tfd.kl_divergence(posterior, prior))
    improve = tf.train.AdamOptimizer(0.01).minimize(-elbo)
    samples = decoder(prior.sample(3, seed=4), [4, 4]).mean()

    chain = []
    for i in range(2):
        with tf.variable_scope("layer_%d" % i):
            perturb = tf.get_variable("V", [2, 2])
            triangle = tfd.fill_triangular(tf.get_variable("L", [3]))
            chain.append(tfb.Affine(scale_tril=triangle, scale_perturb_factor=perturb, shift=tf.get_variable("shift", [2])))
            chain.append(tfb.Permute(permutation=[1, 0]))
    template = tfb.masked_autoregressive_default_template(hidden_layers=[4, 4])
    chain.append(tfb.MaskedAutoregressiveFlow(shift_and_log_scale_fn=template))
    base = tfd.MultivariateNormalDiag(loc=tf.zeros([2]))
    flow = tfd.TransformedDistribution(base, tfb.Chain(list(reversed(chain))))
    points = tf.placeholder(tf.float32, [5, 2])
    surprise = -tf.reduce_mean(flow.log_prob(points))
    fit = tf.train.AdamOptimizer(0.01).minimize(surprise)
    mixture = tfd.MixtureSameFamily(tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal(loc=[-1.0, 1.0], scale=[0.1, 0.5]))
    spread = mixture.variance()

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        images = (rng.rand(6, 4, 4) > 0.5).astype(np.float32)
        losses = [sess.run([elbo, improve], {data: images})[0] for _ in range(3)]
        out("elbo", np.array(losses), rtol=1e-3, atol=1e-4)
        out("samples", sess.run(samples), rtol=1e-3, atol=1e-4)
        out("mean", sess.run(posterior.mean(), {data: images}), rtol=1e-3, atol=1e-4)
        places = rng.randn(5, 2)
        out("surprise", np.array([sess.run([surprise, fit], {points: places})[0] for _ in range(3)]), rtol=1e-3, atol=1e-4)
        out("spread", sess.run(spread), rtol=1e-3, atol=1e-4)
    out.graph()
