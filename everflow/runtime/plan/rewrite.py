"""Second stage: rules that make a program smaller, each a small function in a table.

A rule takes the Program, changes it and says how many nodes it changed. `ConfigProto.graph_options` can switch each off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from everflow.protos import config_pb2, rewriter_config_pb2
from everflow.runtime.plan.program import Program

_OFF = rewriter_config_pb2.RewriterConfig.OFF


@dataclass(frozen=True, slots=True)
class Rule:
    """A rewrite: its name, the function, and the RewriterConfig switch that turns it off."""

    name: str
    apply: Callable[[Program, object], int]
    switch: str


def rules_for(config) -> list[Rule]:
    """The rules that a ConfigProto leaves on."""
    from everflow.runtime.plan.rules import RULES

    options = config.graph_options.rewrite_options if config is not None else None
    if options is not None and options.disable_meta_optimizer:
        return []
    if config is not None and config.graph_options.optimizer_options.opt_level == config_pb2.OptimizerOptions.L0:
        return []
    return [rule for rule in RULES if options is None or getattr(options, rule.switch) != _OFF]


def rewrite(program: Program, rules: list[Rule], session) -> dict[str, int]:
    """Apply rules in the table's order; rule name → nodes changed."""
    changes: dict[str, int] = {}
    for rule in rules:
        count = rule.apply(program, session)
        if count:
            program.keep_needed()
            changes[rule.name] = changes.get(rule.name, 0) + count
    return changes
