"""Functions and a class that tests take apart:

- a function of one line, which has a comment,
- one with another inside,
- one that prints,
- a lambda,
- a class with two methods,
- a function that calls another over several lines.

Tests of libraries that transform source look at the lines where these stand, which
are those that they have in TensorFlow. Whoever adds something adds it at the end;
formatting keeps the lines.

What they do is of no matter: they are as short as they can be, so that a test can say
which nodes their trees have.
"""

# ruff: noqa: E731  The lambda has a name so that it can be looked up.

from __future__ import annotations


def simple_function(x):
    """Docstring."""
    return x  # comment


def nested_functions(x):
    """Docstring."""

    def inner_fn(y):
        return y

    return inner_fn(x)


def function_with_print():
    print("foo")


simple_lambda = lambda: None


class SimpleClass:
    # Methods, one after the other.
    def simple_method(self):
        return self

    def method_with_print(self):
        print("foo")


def function_with_multiline_call(x):
    """Docstring."""
    return range(
        x,
        x + 1,
    )
