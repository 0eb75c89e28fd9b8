"""A rewrite of loops: what is the same in every round is computed once, before the first."""

from __future__ import annotations

from everflow.runtime.plan.binding import CONSTANTS, constant_value
from everflow.runtime.plan.program import Node, Program, is_ref, value_node
from everflow.runtime.plan.structure import ENTER, NEXT, Loop, Structure, structure
from everflow.runtime.plan.waiting import only_telling_places

# What can't fail once all shapes are known: a loop that never goes round must not raise what its body would have.
_SAFE = frozenset(
    """
    Abs Add AddV2 All Any BatchMatMul BatchMatMulV2 Cast Ceil ConcatV2 Cos Equal Erf Exp ExpandDims Floor Greater GreaterEqual IsFinite IsInf
    IsNan Less LessEqual Log Log1p LogSoftmax LogicalAnd LogicalNot LogicalOr MatMul Max Maximum Mean Min Minimum Mul Neg NotEqual OneHot
    RealDiv Reciprocal Relu Rsqrt Select SelectV2 Sigmoid Sign Sin Softmax Softplus Sqrt Square SquaredDifference Squeeze Sub Sum Tanh
    Tile Transpose
    """.split()
)
# Larger values would take memory for as long as the loop goes on.
_LARGEST = 1 << 22


def loop_invariants(program: Program, session) -> int:
    """Nodes of a loop that take constants and what enters it unchanged are put before it, and their results enter it."""
    if not any(_enters_unchanged(node) for node in program.nodes):
        return 0
    moved: dict[Node, Node] = {}  # node of a loop → the one before it
    made: dict[Node, list[Node]] = {}  # → that one, with its constants, and the Enter of its result
    found = structure(program)
    pivots = {path: loop.pivots()[1] for path, loop in found.loops.items() if not _uses_refs(loop)}
    telling = only_telling_places(program)
    for node in program.nodes:
        if node.type not in _SAFE or pivots.get(node.frame) is None or not telling.issuperset(node.controls) or not _is_known(node):
            continue
        loop = found.loops[node.frame]
        sources = [source for source, _ in node.inputs]
        if node.guard == loop.guard and all(s in moved or s.type in CONSTANTS or _enters_unchanged(s) for s in sources):
            if loop.guard and all(source.type in CONSTANTS for source in sources):
                continue  # nothing would keep it in the loop's branch
            made[node] = _before(program, node, moved, session)
            moved[node] = made[node][-1]
            made[node].append(_entering(program, moved[node], loop))
    if moved:
        _keep_in_bodies(program, moved, found, pivots)
        program.insert(made)
        program.replace({(node, 0): (new[-1], 0) for node, new in made.items()}, {})
        program.sort()
    return len(moved)


def _keep_in_bodies(program: Program, moved: dict[Node, Node], found: Structure, pivots: dict) -> None:
    """Have those wait for something of their loop's body that were there because of what they took: they would run once too often."""
    for node in program.nodes:
        path = node.frame[:-1] if node.type in ENTER else node.frame
        if node in moved or node.type in NEXT or not any(source in moved for source, _ in node.inputs):
            continue
        if found.owner(node, len(path)) in found.loops[path].body and pivots[path] not in node.controls:
            node.controls = [*node.controls, pivots[path]]


def _uses_refs(loop: Loop) -> bool:
    """Whether a loop has to do with ref variables: what it writes shows in values that entered it."""
    return any(is_ref(*edge) for node in loop.nodes for edge in node.inputs)


def _enters_unchanged(node: Node) -> bool:
    return node.type == "Enter" and bool(node.attribute("is_constant"))


def _is_known(node: Node) -> bool:
    shapes = [node.output_shapes[0], *(source.output_shapes[output] for source, output in node.inputs)]
    return all(s is not None and s.is_fully_defined() and s.num_elements() <= _LARGEST for s in shapes)


def _before(program: Program, node: Node, moved: dict[Node, Node], session) -> list[Node]:
    """The node as it stands before the loop, after its constants: those of the loop wait for something there."""
    made = Node(program.new_index(), node.op, node.name, node.type)
    made.definition, made.device = node.definition, node.device
    made.output_dtypes, made.output_shapes = node.output_dtypes, node.output_shapes
    made.set_attributes(node.attrs)
    constants: list[Node] = []
    for source, output in node.inputs:
        if source in moved:
            made.inputs.append((moved[source], output))
        elif source.type in CONSTANTS:
            constants.append(value_node(program.new_index(), constant_value(source, session), source.output_dtypes[0], source, 0))
            made.inputs.append((constants[-1], 0))
        else:
            made.inputs.append(source.inputs[0])
    return [*constants, made]


def _entering(program: Program, before: Node, loop: Loop) -> Node:
    """The Enter by which a result comes into a loop; it is like those that are there."""
    like = next(n for n in loop.nodes if n.type == "Enter" and n.frame == loop.path)
    made = Node(program.new_index(), before.op, before.name, "Enter")
    made.definition, made.device = like.definition, before.device
    made.output_dtypes, made.output_shapes = before.output_dtypes, before.output_shapes
    made.inputs = [(before, 0)]
    made.set_attributes({**like.attrs, "is_constant": True, "T": before.output_dtypes[0]})
    return made
