"""What is known of a product of two operators from what is known of both: True, False, or None where it is open."""

from __future__ import annotations

from everflow.framework.shapes import dimension_value


def is_square(operator_a, operator_b):
    """Whether a product is square, as far as the first operator tells: one of unlike operators is taken not to be."""
    a, b = operator_a.is_square, operator_b.is_square
    if a is None:
        return None
    if a is False and b is False:
        # They may be m by n and n by m.
        sizes = dimension_value(operator_a.range_dimension), dimension_value(operator_b.domain_dimension)
        return None if None in sizes else sizes[0] == sizes[1]
    return a is b


def combined_non_singular_hint(operator_a, operator_b):
    """Whether a product has an inverse: it does where both have one, and doesn't where one lacks it."""
    if operator_a.is_non_singular is False or operator_b.is_non_singular is False:
        return False
    return True if operator_a.is_non_singular and operator_b.is_non_singular else None


def combined_commuting_self_adjoint_hint(operator_a, operator_b):
    """Whether a product of operators that commute is its own adjoint: where both are; where one is, it is not."""
    hints = operator_a.is_self_adjoint, operator_b.is_self_adjoint
    if hints == (True, True):
        return True
    return False if hints in ((True, False), (False, True)) else None


def combined_commuting_positive_definite_hint(operator_a, operator_b):
    """True where a product of operators that commute is positive definite, as both are, and are their own adjoints."""
    definite = operator_a.is_positive_definite is True and operator_b.is_positive_definite is True
    return True if definite and operator_a.is_self_adjoint and operator_b.is_self_adjoint else None
