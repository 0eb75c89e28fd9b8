"""`lang.directives`: what programs say about lists and loops."""

# ruff: noqa: F401  Names handed on are a purpose of this file.

from everflow.ops.autograph.lists import set_element_type
from everflow.ops.autograph.public import _UNSPECIFIED as UNSPECIFIED
from everflow.ops.autograph.public import set_loop_options
