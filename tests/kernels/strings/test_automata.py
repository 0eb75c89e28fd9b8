"""Automata of patterns match what RE2 matches; where they can't, there is none."""

import random

import numpy as np
import pytest

from everflow.kernels.strings import patterns
from everflow.kernels.strings.automata import automaton

SIMPLE = [
    "[aeiou]+", "a*", "a*?", "", "a|ab", "ab|a", "(a|ab)(c|bcd)", "^a", "a$", "^$", "^\\s+|\\s+$", "x*y+?", "[^a-c]", ".", ".*",
    "(?:ab)+", "a{2}", "a{1,3}?", "b{2,}", "\\w+", "\\d", "[\\d.]+", "\\.", "[]a]", "[^]a]", "[a-]", "a?b?c?", "(a|b)*c", "|a",
    "(|a)b", "^|b", "$", "a+$", "a.c", "\\n", "[\\w-]+", "((a))",
]  # fmt: skip
REFUSED = [
    "\\b",
    "(?i)a",
    "(?P<n>a)",
    "[[:alpha:]]",
    "\\pL",
    "(a*)*",
    "(a?)+",
    "^*",
    "\\x41",
    "\u00e4",
    "a{100}",
    "$^",
    "\\Q.\\E",
]


@pytest.mark.parametrize("pattern", REFUSED)
def test_patterns_that_are_left_to_re2(pattern):
    assert automaton(pattern.encode(), False) is None


@pytest.mark.parametrize("pattern", SIMPLE)
def test_patterns_with_an_automaton(pattern):
    assert automaton(pattern.encode(), False) is not None


def texts(rng, count):
    odd = [b"", b"\n", "h\u00e4".encode(), b"a" * 3000, b"  a b  "]
    return [
        rng.choice(odd) if not rng.randrange(8) else bytes(rng.choices(b"aabbcdxy .-]1\n", k=rng.randrange(14)))
        for _ in range(count)
    ]


def compare(both_ways, rng, pattern):
    given = np.array(texts(rng, 40), object)
    both_ways(lambda: patterns.static_regex_full_match(given, pattern=pattern))
    for rewrite in ("_", "", "<\\0>", "\\\\-", "[\\1]", "\\2\\1"):
        for all_of_them in (True, False):
            both_ways(
                lambda r=rewrite, a=all_of_them: patterns.static_regex_replace(
                    given, pattern=pattern, rewrite=r, replace_global=a
                )
            )


@pytest.mark.parametrize("pattern", SIMPLE + REFUSED)
def test_matches_are_those_of_re2(both_ways, pattern):
    compare(both_ways, random.Random(pattern), pattern)


def made_up(rng, depth=3):
    """A random pattern of what automata know."""
    kind = rng.randrange(8 if depth else 3)
    if kind < 3:
        return rng.choice(["a", "b", "c", ".", "[ab]", "[^a]", "\\w", "x", "\\s", "-"])
    if kind == 3:
        return made_up(rng, depth - 1) + "|" + made_up(rng, depth - 1)
    if kind == 4:
        return "(" + made_up(rng, depth - 1) + ")" + rng.choice(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", ""])
    if kind == 5:
        return rng.choice(["^", "", ""]) + made_up(rng, depth - 1) + rng.choice(["$", "", ""])
    return made_up(rng, depth - 1) + made_up(rng, depth - 1)


@pytest.mark.parametrize("seed", range(200))
def test_random_patterns(both_ways, seed):
    rng = random.Random(seed)
    compare(both_ways, rng, made_up(rng))
