"""The programs once more in eager torch, as one writes them by hand: `BY_HAND` has a function for each that has such a
form, which returns a step to call.
"""

# ruff: noqa: F401  a file's programs are noted when it is loaded
from benchmarks.by_hand import feed_forward, recurrent
from benchmarks.by_hand.registry import BY_HAND
