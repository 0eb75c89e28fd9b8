"""How a plan is cut into functions: Python compiles long functions slowly, and nests blocks only so deep.

Values that stay in one piece are its locals; those that others take are in a list that all pieces get.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from everflow.runtime.plan.program import END, Block, Edge, Node, Program

if TYPE_CHECKING:
    from everflow.runtime.hints import Origin

# So many nodes make a function that still compiles quickly; calls of pieces then cost nothing beside those of kernels.
LARGEST = 400
DEEPEST = 12


class Pieces:
    """Which function each node's statements are in: 0 is the plan's own. `calls`: block → the pieces that its
    statements are in, in a row.
    """

    def __init__(self, program: Program, largest: int = LARGEST, deepest: int = DEEPEST) -> None:
        self._largest, self._deepest = largest, deepest
        self._sizes: dict[Node, int] = {}
        self._heights: dict[Node, int] = {}
        total, height = self._measure(program)
        self.is_whole = total <= largest and height <= deepest
        self.count = 1
        self.piece_of: dict[Node, int] = {}
        self.calls: dict[Block, list[tuple[int, list[Node]]]] = {}
        if not self.is_whole:
            self._cut(program.top)

    def _measure(self, program: Program) -> tuple[int, int]:
        sizes, heights = self._sizes, self._heights
        total = height = 0
        for node in reversed(list(program.nodes())):
            sizes[node] = size = sizes.get(node, 0) + 1
            heights.setdefault(node, 0)
            owner = node.block.owner
            if owner is None:
                total += size
                height = max(height, heights[node])
            else:
                sizes[owner] = sizes.get(owner, 0) + size
                heights[owner] = max(heights.get(owner, 0), heights[node] + 1)
        return total, height

    def _cut(self, top: Block) -> None:
        left = [top]
        while left:
            block = left.pop()
            pieces: list[tuple[int, list[Node]]] = []
            room = 0
            for node in block:
                fits = self._sizes[node] <= self._largest and self._heights[node] < self._deepest
                size = self._sizes[node] if fits else 1
                if room < size:
                    pieces.append((self.count, []))
                    self.count += 1
                    room = self._largest
                room -= size
                number, nodes = pieces[-1]
                nodes.append(node)
                self._put(node, number, fits)
                if not fits:
                    left += node.blocks
            self.calls[block] = pieces

    def _put(self, node: Node, number: int, whole: bool) -> None:
        """Note the piece of a node, and of all that is in it where it is not cut itself."""
        left = [node]
        while left:
            at = left.pop()
            self.piece_of[at] = number
            for block in at.blocks:
                self.piece_of[block.end] = number
                if whole:
                    left += block

    def piece(self, node: Node) -> int:
        """The piece of a node's statements; the end of the whole program is in the plan's own function."""
        return 0 if self.is_whole or (node.type == END and node.block.owner is None) else self.piece_of[node]

    def shared(self, program: Program, origin: Origin) -> dict[Edge, int]:
        """The values that several pieces use, each with its place in the list."""
        if self.is_whole:
            return {}
        home: dict[Edge, int] = {}
        found: dict[Edge, int] = {}

        def use(edge: Edge, piece: int) -> None:
            if home.setdefault(edge, piece) != piece and edge not in found:
                found[edge] = len(found)

        for feed in program.feeds:
            use((feed, 0), 0)
        for node in program.nodes():
            mine = self.piece(node)
            # A loop's variables get their values where the loop's own statements are.
            makes = self.piece(node.block.owner) if node.type == "_LoopVariable" else mine
            for output in range(len(node.output_dtypes)):
                use(origin((node, output)), makes)
            for edge in node.inputs:
                use(origin(edge), mine)
            for block in node.blocks:
                for edge in block.end.inputs:
                    use(origin(edge), self.piece(block.end))
        for edge in program.top.end.inputs:
            use(origin(edge), 0)
        return found
