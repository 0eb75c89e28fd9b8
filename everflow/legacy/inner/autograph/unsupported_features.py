"""`core.unsupported_features_checker`: code that no conversion takes."""

from __future__ import annotations

from everflow.legacy.inner.autograph.trees import nodes


class UnsupportedFeaturesChecker(nodes.NodeVisitor):
    """The walk that looks for it."""

    def visit_Attribute(self, node):
        if node.attr.startswith("__") and not node.attr.endswith("__"):
            raise NotImplementedError(f"{node.attr}: names that a class keeps for itself aren't converted")
        self.generic_visit(node)

    def _generator(self, node):
        raise NotImplementedError("generators aren't converted")

    visit_Yield = visit_YieldFrom = _generator


def verify(node):
    """NotImplementedError where a tree has such code."""
    UnsupportedFeaturesChecker().visit(node)
