"""tf.contrib.integrate: solutions of ordinary differential equations, in steps of adapted or given size."""

from everflow.contrib.integrate.adaptive import odeint
from everflow.contrib.integrate.fixed import odeint_fixed

__all__ = ["odeint", "odeint_fixed"]
