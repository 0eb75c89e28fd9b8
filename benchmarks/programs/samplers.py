"""Programs that draw from a distribution."""

from benchmarks.programs.registry import RANDOM, program


@program
def hamiltonian_monte_carlo(tf, chains=32, size=10, examples=100, leaps=20, step=0.1):
    """A draw of the weights of a logistic regression: leapfrog steps along gradients, then accepted or not."""
    x = tf.constant(RANDOM.randn(examples, size), tf.float32)
    y = tf.constant(RANDOM.randint(0, 2, examples), tf.float32)
    place = tf.get_variable("place", [chains, size])

    def energy(weights):
        logits = tf.matmul(weights, x, transpose_b=True)
        labels = tf.ones([chains, 1]) * y
        misfit = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits), 1)
        return misfit + 0.5 * tf.reduce_sum(tf.square(weights), 1)

    def slope(weights):
        return tf.gradients(energy(weights), weights)[0]

    def leap(i, weights, momentum):
        weights += step * momentum
        return i + 1, weights, momentum - step * slope(weights)

    def total(weights, momentum):
        return energy(weights) + 0.5 * tf.reduce_sum(tf.square(momentum), 1)

    began, momentum = tf.identity(place), tf.random_normal([chains, size], seed=1)
    first = momentum - 0.5 * step * slope(began)
    _, ended, last = tf.while_loop(lambda i, *_: i < leaps, leap, (tf.constant(0), began, first))
    change = total(ended, last + 0.5 * step * slope(ended)) - total(began, momentum)
    accepted = tf.log(tf.random_uniform([chains], seed=2)) < -change
    moved = place.assign(tf.where(accepted, ended, began))
    return [moved, tf.reduce_mean(tf.cast(accepted, tf.float32))], {}
