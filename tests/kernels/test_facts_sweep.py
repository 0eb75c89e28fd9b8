"""Every kernel is called under the checker, on inputs that are fed and on variables: what is declared of it holds, what
a caller fetches
is the caller's own, and nothing that was fed or is kept changes."""

import copy

import numpy as np
import pytest

import everflow as tf
from everflow import kernels
from everflow.framework import dtypes, op_defs
from everflow.kernels import registry
from everflow.kernels.facts import Effect
from everflow.runtime import checking
from everflow.runtime.plan import specialize
from tests.kernels import op_calls, op_examples, op_programs
from tests.kernels.old_graphs import old_graph
from tests.kernels.op_calls import Sources

pytestmark = pytest.mark.usefixtures("watched", "shaped_at_once")


@pytest.fixture
def shaped_at_once(monkeypatch):
    """Plans for known shapes at the second run: some kernels are only in these."""
    monkeypatch.setattr(specialize, "WORTH", 0.0)


exercised: set = set()
done: set = set()  # the calls of the tests below that ran in this process
_checked = checking.checked


def _watched(node, function, facts):
    call = _checked(node, function, facts)

    def watch(*arguments, **keywords):
        result = call(*arguments, **keywords)
        exercised.add(node.type)
        return result

    watch.func = call.func
    return watch


@pytest.fixture
def watched(monkeypatch):
    """Checking is on, and it is noted which op types were called."""
    monkeypatch.setenv("EVERFLOW_EXECUTOR", "CHECKED")
    monkeypatch.setattr(checking, "checked", _watched)


_CLOCKS = ("Timestamp", "BytesInUse", "MaxBytesInUse")


def _is_steady(tensor) -> bool:
    """Whether a tensor is the same in every run: no random numbers, and nothing that others change, on the way to it."""
    waiting, seen = [tensor.op], set()
    while waiting:
        op = waiting.pop()
        if op in seen:
            continue
        seen.add(op)
        entry = registry.lookup(op.type)
        acts = Effect.ACTS if op_defs.get(op.type).is_stateful else Effect.PURE
        if op.type in _CLOCKS or (
            entry is not None and not entry.once and (entry.facts.effect or acts) in (Effect.RANDOM, Effect.ACTS)
        ):
            return False
        waiting += [t.op for t in op.inputs] + list(op.control_inputs)
    return True


def _same(before, now) -> bool:
    if np.asarray(before).dtype.kind in "fc":
        return np.allclose(
            before, now, 1e-3, 1e-6, equal_nan=True
        )  # LAPACK rounds differently as memory lies differently
    return np.array_equal(before, now)


def _exercise(make, kind: str) -> None:
    """Fetch what `make(sources)` builds, write into it, and look whether that shows anywhere."""
    with old_graph().as_default(), tf.Session() as session:
        sources = Sources(kind)
        tensors = [
            t for t in make(sources) if isinstance(t, tf.Tensor) and t.dtype not in (dtypes.variant, dtypes.resource)
        ]
        session.run([v.initializer for v, _ in sources.variables])
        fed = {placeholder: array.copy() for placeholder, array in sources.feeds.items()}
        first = session.run(tensors, sources.feeds)
        kept = copy.deepcopy(first)
        for array in first:
            if isinstance(array, np.ndarray):
                array[...] = np.zeros((), array.dtype)
        sources.check_unchanged(session, fed)
        second = session.run(tensors, sources.feeds)
        for tensor, before, now in zip(tensors, kept, second):
            if _is_steady(tensor):
                assert _same(before, now), f"{tensor.op.type} gave something else after its first result was written to"


@pytest.mark.parametrize("kind", ["fed", "ref", "resource"])
@pytest.mark.parametrize("family", op_examples.FAMILIES, ids=lambda family: family.__name__)
def test_family(family, kind):
    _exercise(family, kind)
    done.add((_exercise, family, kind))


@pytest.mark.parametrize("program", op_programs.PROGRAMS, ids=lambda program: program.__name__)
def test_program(program):
    with old_graph().as_default():
        program()
    done.add((test_program, program))


def test_files(tmp_path):
    with old_graph().as_default():
        op_programs.files(tmp_path)


# --- op types whose inputs can be made up -----------------------------------------------------

# Made-up inputs contradict each other, or an attribute that should follow from them: these are among the examples.
_BY_HAND = frozenset(
    """
    BoostedTreesMakeStatsSummary Complex Concat ConcatV2 LSTMBlockCellGrad ParallelConcat QuantizedAvgPool QuantizedMaxPool QuantizedMul
    QuantizedRelu QuantizedRelu6 QuantizedReluX TileGrad
    """.split()
)
_OUTSIDE = (
    "Collective",
    "Queue",
    "Barrier",
    "Reader",
    "File",
    "Save",
    "Restore",
    "Checkpoint",
    "Stage",
    "Iterator",
    "Dataset",
    "PyFunc",
    "Writer",
    "TensorArray",
    "Rpc",
)


def _made_up() -> list[str]:
    found = [
        op_defs.find(name)
        for name in kernels.names()
        if name not in _BY_HAND and not name.startswith("_") and not any(word in name for word in _OUTSIDE)
    ]
    special = (dtypes.resource, dtypes.variant)
    return [
        d.name
        for d in found
        if d is not None
        and not any(a.is_ref or a.type in special for a in d.inputs + d.outputs)
        and not any("func" in a.type for a in d.attrs)
    ]


_MADE_UP = _made_up()
_PARTS = 12


def _accepted(make) -> bool:
    """Whether made-up inputs fit: the call is tried, and a fact that does not hold is told."""
    try:
        _exercise(make, "fed")
    except tf.errors.InternalError as error:
        if "is declared to" in error.message:
            raise
        return False
    except (ValueError, TypeError, IndexError, tf.errors.OpError, AssertionError) as error:
        if "gave something else" in str(error) or "Arrays are not equal" in str(error):
            raise
        return False
    return True


@pytest.mark.parametrize("part", range(_PARTS))
def test_made_up_inputs(part):
    for op_type in _MADE_UP[part::_PARTS]:
        for of_one_type in op_calls.calls(op_type):
            fitting = []
            for make in of_one_type:
                if len(fitting) < 2 and _accepted(make):
                    fitting.append(make)
            for make in fitting[:1]:
                _exercise(make, "ref")
                _exercise(make, "resource")
    done.add((test_made_up_inputs, part))


# --- gathers of one position --------------------------------------------------------------------


@pytest.mark.parametrize("resource", [False, True])
def test_a_fetched_gather_is_not_the_variable(resource):
    with old_graph().as_default(), tf.Session() as session:
        variable = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=resource)
        session.run(variable.initializer)
        row = session.run(tf.gather_nd(variable, [1]))
        row[...] = 9
        np.testing.assert_array_equal(session.run(variable), [[1, 2], [3, 4]])


@pytest.mark.parametrize("resource", [False, True])
def test_a_gather_before_an_assignment_shows_the_old_value(resource):
    with old_graph().as_default(), tf.Session() as session:
        variable = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=resource)
        session.run(variable.initializer)
        row = tf.gather_nd(variable, [1])
        with tf.control_dependencies([row]):
            written = variable.assign([[5.0, 6.0], [7.0, 8.0]])
        with tf.control_dependencies([written.op if isinstance(written, tf.Tensor) else written]):
            after = tf.add(row, 0.5)
        np.testing.assert_array_equal(session.run(after), [3.5, 4.5])


def test_a_gather_of_what_was_fed_is_not_written_over():
    with old_graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [4, 5000])
        fed = np.ones((4, 5000), np.float32)
        found = session.run(tf.exp(tf.gather_nd(x, [1])), {x: fed})
        np.testing.assert_allclose(found, np.exp(np.ones(5000)), rtol=1e-6)
        np.testing.assert_array_equal(fed, 1)


# --- what is left ---------------------------------------------------------------------------------

# Op types that no test above calls, and why. What is exercised after all must be taken off the list.
_LEFT = {
    "Identity": "plans and eager execution give its input another name",
    "PlaceholderWithDefault": "as Identity",
    "PreventGradient": "as Identity",
    "RefIdentity": "as Identity",
    "Snapshot": "as Identity",
    "StopGradient": "as Identity",
    "NoOp": "has no results, so plans have no call of it",
    "ControlTrigger": "as NoOp",
    "_AddProduct": "rounds once: only where AGGRESSIVE asks for it",
    "_Send": "goes between tasks",
    "_Recv": "goes between tasks",
    "CollectiveReduce": "plans take it apart",
    "CollectiveGather": "as the one before",
    "CollectiveBcastSend": "as the one before",
    "CollectiveBcastRecv": "as the one before",
    "AnonymousMultiDeviceIterator": "is made by eager execution only",
    "DeleteMultiDeviceIterator": "as the one before",
    "CreateSummaryDbWriter": "writes a database",
    "SqlDataset": "reads a database",
    "ExperimentalSqlDataset": "as the one before",
    "LMDBDataset": "reads a store of an optional package",
    "ExperimentalLMDBDataset": "as the one before",
    "_DecodeJpegs": "stands for many calls of DecodeJpeg in a pipeline, whose tests compare it with those",
    "_DecodePngs": "as the one before",
    "_CropImages": "as the one before, for Slice",
    "_ImageShapes": "as the one before, for Shape",
    "_ResizeAreas": "as the one before, for ResizeArea",
    "_ResizeBicubics": "as the one before",
    "_ResizeBilinears": "as the one before",
    "_ResizeNearestNeighbors": "as the one before",
    "_StackImages": "as the one before, for nothing at all",
    "_RandomStandardNormals": "stands for many calls of RandomStandardNormal, as above",
    "_RandomUniformInts": "as the one before",
    "_RandomUniforms": "as the one before",
    "_TruncatedNormals": "as the one before",
    "Abort": "ends the process",
    "Rpc": "calls a server",
    "TryRpc": "as the one before",
}


def test_all_kernels_were_exercised(tmp_path):
    """In a process that ran only some of the tests above, the others are run first."""
    pieces = [(_exercise, family, "fed") for family in op_examples.FAMILIES]
    pieces += [(test_program, program) for program in op_programs.PROGRAMS]
    pieces += [(test_made_up_inputs, part) for part in range(_PARTS)] + [(test_files, tmp_path)]
    for piece, *arguments in pieces:
        if (piece, *arguments) not in done:
            piece(*arguments)
    # Op types that were registered together have one kernel.
    called = {id(registry.lookup(name)) for name in exercised}
    ours = [
        name for name in kernels.names() if name.startswith("_") or name in op_defs._facts()
    ]  # not those that other tests have registered
    left = {name for name in ours if id(registry.lookup(name)) not in called and not registry.lookup(name).once}
    assert left == set(_LEFT)
