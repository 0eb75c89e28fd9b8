"""Keras's optimizers for several processes: subclasses that average gradients before they apply them."""

from __future__ import annotations

from everflow.framework.scopes import executing_eagerly
from everflow.horovod.exchanges import reduced_gradients


def distributed_class(kind, exchange):
    """A class of optimizers whose gradients are averaged over all processes; it keeps its name, for files."""

    def get_gradients(self, loss, params):
        found = super(made, self).get_gradients(loss, params)
        names = [f"gradient_{p.name.split(':')[0].replace('/', '_')}" for p in params]
        return reduced_gradients(found, *exchange, names=names)

    def apply_gradients(self, grads_and_vars, name=None):
        pairs = list(grads_and_vars)
        if executing_eagerly():  # where nobody has asked `get_gradients`
            found = reduced_gradients([g for g, _ in pairs], *exchange)
            pairs = [(g, v) for g, (_, v) in zip(found, pairs, strict=True)]
        return super(made, self).apply_gradients(pairs, name)

    made = type(kind.__name__, (kind,), {"get_gradients": get_gradients, "apply_gradients": apply_gradients})
    return made


def distributed_optimizer(optimizer, exchange):
    """The same optimizer, with its settings, for several processes."""
    return distributed_class(type(optimizer), exchange).from_config(optimizer.get_config())
