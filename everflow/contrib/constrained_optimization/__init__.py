"""tf.contrib.constrained_optimization: an objective minimized while inequalities hold, as a game between the model's
parameters and multipliers of the constraints.
"""

from everflow.contrib.constrained_optimization.candidates import (
    find_best_candidate_distribution,
    find_best_candidate_index,
)
from everflow.contrib.constrained_optimization.external_regret import AdditiveExternalRegretOptimizer
from everflow.contrib.constrained_optimization.problem import ConstrainedMinimizationProblem, ConstrainedOptimizer
from everflow.contrib.constrained_optimization.swap_regret import (
    AdditiveSwapRegretOptimizer,
    MultiplicativeSwapRegretOptimizer,
)

__all__ = [
    "AdditiveExternalRegretOptimizer",
    "AdditiveSwapRegretOptimizer",
    "ConstrainedMinimizationProblem",
    "ConstrainedOptimizer",
    "MultiplicativeSwapRegretOptimizer",
    "find_best_candidate_distribution",
    "find_best_candidate_index",
]
