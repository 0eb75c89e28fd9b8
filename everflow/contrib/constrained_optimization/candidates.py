"""Which of the models seen during training to take: one that violates the constraints least, or a mixture of some."""

from __future__ import annotations

import numpy as np


def find_best_candidate_index(objective_vector, constraints_matrix, rank_objectives=False):
    """The candidate whose worst rank is best: by how much each constraint is violated, and with `rank_objectives` by
    the objective as well. Of equally good ones the one with the lowest objective, and of those the last.

    Args:
      objective_vector: The objective of each candidate.
      constraints_matrix: A row for each constraint, a column for each candidate; above zero is a violation.
      rank_objectives: Whether the objective's rank counts like a constraint's.

    Returns:
      The candidate's position, None where there is none.

    Raises:
      ValueError: If the shapes don't fit.

    Example:
      >>> from everflow.contrib import constrained_optimization as constrained
      >>> constrained.find_best_candidate_index(np.array([1.0, 2.0, 3.0]), np.array([[0.5, -0.1, -0.2]]))
      1
    """
    objectives, constraints = _checked(objective_vector, constraints_matrix)
    if not len(objectives):
        return None
    ranked = [np.maximum(row, 0) for row in constraints] + ([objectives] if rank_objectives else [])
    worst = np.max([_ranks(row) for row in ranked] or [np.zeros(len(objectives))], axis=0)
    return min((worst[i], objectives[i], -i, i) for i in range(len(objectives)))[-1]


def find_best_candidate_distribution(objective_vector, constraints_matrix, epsilon=0.0):
    """How likely to take each candidate, so that the expected objective is lowest while the constraints hold on average.

    Where no mixture satisfies them all, they may be violated, by little more than has to be: within `epsilon`.

    Args:
      objective_vector: The objective of each candidate.
      constraints_matrix: A row for each constraint, a column for each candidate; above zero is a violation.
      epsilon: How near to the smallest possible violation the mixture's has to come.

    Returns:
      An array of probabilities.

    Raises:
      ValueError: If the shapes don't fit, or the constraints can't hold and `epsilon` isn't positive.
    """
    objectives, constraints = _checked(objective_vector, constraints_matrix)
    if epsilon < 0:
        raise ValueError(f"epsilon must be at least 0, but is {epsilon}")
    found = _mixture(objectives, constraints, 0.0)
    if found is not None:
        return found
    if epsilon <= 0:
        raise ValueError("No mixture of the candidates satisfies all constraints: give an epsilon above 0")
    low, high = 0.0, float(constraints.max())
    found = _mixture(objectives, constraints, high)
    while high - low > epsilon:
        middle = (low + high) / 2
        tried = _mixture(objectives, constraints, middle)
        if tried is None:
            low = middle
        else:
            high, found = middle, tried
    return found


def _checked(objective_vector, constraints_matrix):
    """Both as arrays whose shapes fit."""
    objectives, constraints = objective_vector, constraints_matrix
    for name, value, rank in (("objective_vector", objectives, 1), ("constraints_matrix", constraints, 2)):
        if not isinstance(value, np.ndarray):
            raise TypeError(f"{name} must be an array, but is a {type(value).__name__}")
        if value.ndim != rank:
            raise ValueError(f"{name} must have rank {rank}, but has the shape {value.shape}")
    if constraints.shape[1] != len(objectives):
        raise ValueError(
            f"constraints_matrix has {constraints.shape[1]} columns, but there are {len(objectives)} candidates"
        )
    return objectives, constraints


def _ranks(values):
    """How many are smaller than each."""
    return np.searchsorted(np.sort(values), values)


def _mixture(objectives, constraints, violation):
    """The probabilities with the lowest expected objective among those that violate no constraint by more; None where
    there are none.
    """
    import scipy.optimize  # not everybody has it

    solved = scipy.optimize.linprog(
        objectives,
        A_ub=constraints,
        b_ub=np.full(len(constraints), violation),
        A_eq=np.ones([1, len(objectives)]),
        b_eq=np.ones(1),
        bounds=(0, 1),
    )
    return solved.x if solved.success else None
