"""The table of rewrites, in the order they are tried. Each keeps the values that a run gives; `tests/runtime/plan`
holds each to it.
"""

from __future__ import annotations

from everflow.runtime.plan.accumulators import running_sums
from everflow.runtime.plan.invariants import loop_invariants
from everflow.runtime.plan.joints import JOINTS
from everflow.runtime.plan.patterns import Bits, Pass, Rules
from everflow.runtime.plan.products import PRODUCTS
from everflow.runtime.plan.sharing import common_subexpressions
from everflow.runtime.plan.simplify import FACTORS, SIMPLIFICATIONS
from everflow.runtime.plan.sums import PAIRS, PRODUCTS_IN_SUMS, SUMS
from everflow.runtime.plan.updates import JOINT_UPDATES, UPDATES

REWRITES: list[Pass | Rules] = [
    Rules((*SIMPLIFICATIONS,)),
    Pass("common subexpressions", "arithmetic_optimization", common_subexpressions),
    Pass("loop invariants", "loop_optimization", loop_invariants),
    Rules((*JOINTS,)),
    Pass("running sums", "arithmetic_optimization", running_sums, Bits.REORDERED),
    Rules((*FACTORS, *SUMS, *PRODUCTS)),
    Rules((*UPDATES,)),
    JOINT_UPDATES,
    Rules((*PAIRS, *PRODUCTS_IN_SUMS)),
]
