"""Strings matched and rewritten by patterns: empty matches, groups, patterns that are none."""

import pytest

import everflow as tf
from tests.kernels.feeding import fed


@pytest.mark.parametrize(
    ("pattern", "rewrite", "text", "wanted"),
    [
        ("a(b)?", r"[\1]", "abaa", b"[b][][]"),
        ("^", "> ", "x", b"> x"),
        ("$", "!", "x", b"x!"),
        ("", "-", "\u00e9", b"-\xc3\xa9-"),
        ("(?i)A", "b", "aA", b"bb"),
        (r"\s+", " ", "a \t\n b", b"a b"),
        ("x", r"\\", "axb", b"a\\b"),
        ("", "-", "", b"-"),
    ],
)
def test_replacements(sess, pattern, rewrite, text, wanted):
    static, given = sess.run(
        [
            tf.strings.regex_replace(fed(text), pattern, rewrite),
            tf.raw_ops.RegexReplace(input=fed(text), pattern=fed(pattern), rewrite=fed(rewrite)),
        ]
    )
    assert static == given == wanted


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [("a|ab", [True, True, False]), ("ab?", [True, True, False]), (".*", [True] * 3), ("", [False] * 3)],
)
def test_matches_of_the_whole(sess, pattern, wanted):
    assert sess.run(tf.strings.regex_full_match(fed(["a", "ab", "abc"]), pattern)).tolist() == wanted


@pytest.mark.parametrize("pattern", ["(", "[a", "*"])
def test_patterns_that_are_none(sess, pattern):
    for found in (
        tf.strings.regex_full_match(fed(["a"]), pattern),
        tf.strings.regex_replace(fed(["a"]), fed(pattern), ""),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern"):
            sess.run(found)
