"""tf.contrib.solvers: linear equations, least squares, bidiagonal forms, by iterations that only multiply by a matrix.

The functions are in the modules, as in TensorFlow: `solvers.linear_equations.conjugate_gradient`.
"""

from everflow.contrib.solvers import lanczos, least_squares, linear_equations, util

__all__ = ["lanczos", "least_squares", "linear_equations", "util"]
