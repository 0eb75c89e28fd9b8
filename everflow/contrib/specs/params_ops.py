"""Random numbers for parameters of networks, and Python's functions of numbers: `depth = Li(10, 100)`."""

# ruff: noqa: F403  Python's functions are words here.

from __future__ import annotations

import math
import random
from math import *

__all__ = ["Lf", "Li", "Nt", "Uf", "Ui", *(name for name in vars(math) if not name.startswith("_"))]


def Uf(lo: float = 0.0, hi: float = 1.0) -> float:
    """A number between two."""
    return random.uniform(lo, hi)


def Ui(lo: int, hi: int) -> int:
    """A whole number between two, both included."""
    return random.randint(lo, hi)


def Lf(lo: float, hi: float) -> float:
    """A number between two, each order of magnitude as likely as the next."""
    return math.exp(random.uniform(math.log(lo), math.log(hi)))


def Li(lo: int, hi: int) -> int:
    """A whole number between two, each order of magnitude as likely as the next."""
    return int(math.floor(math.exp(random.uniform(math.log(lo), math.log(hi + 1 - 1e-5)))))


def Nt(mu: float, sigma: float, limit: float = 3.0) -> float:
    """A normal number, no further from `mu` than `limit` times `sigma`."""
    return min(max(random.gauss(mu, sigma), mu - limit * sigma), mu + limit * sigma)
