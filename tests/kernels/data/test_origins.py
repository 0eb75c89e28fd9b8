"""How datasets were made, as they remember it."""

import numpy as np
import pytest
import torch

from everflow.kernels.data.origins import MAKERS


def counted(kind, count):
    source = MAKERS["RangeDataset"](torch.tensor(0), torch.tensor(5), torch.tensor(1))
    return source, MAKERS[f"{kind}Dataset"](source, torch.tensor(count))


@pytest.mark.parametrize(
    ("kind", "count", "name"),
    [
        ("Take", 0, "EmptyTake"),
        ("Take", -1, "FiniteTake"),
        ("Skip", -1, "EmptySkip"),
        ("Skip", 0, "FiniteSkip"),
        ("Repeat", 0, "EmptyRepeat"),
        ("Repeat", 1, "FiniteRepeat"),
        ("Repeat", -1, "ForeverRepeat"),
    ],
)
def test_names_tell_what_a_count_leaves(kind, count, name):
    source, made = counted(kind, count)
    assert made.origin.names_for(source) == (name,)


def test_names_tell_which_of_several_datasets_it_is():
    source, other = counted("Take", 2)
    both = MAKERS["ZipDataset"]([source, other])
    assert [both.origin.names_for(part) for part in (source, other)] == [("Zip[0]",), ("Zip[1]",)]
    joined = MAKERS["ConcatenateDataset"](other, source)
    assert joined.origin.names_for(source) == ("Concatenate[1]",)
    assert list(joined.origin.sources()) == [other, source]


@pytest.mark.parametrize(("filename", "name"), [(b"", "MemoryCacheImpl"), (b"/nowhere/file", "FileCacheImpl")])
def test_caches_tell_where_they_are(filename, name):
    source, _ = counted("Take", 2)
    made = MAKERS["CacheDataset"](source, np.array(filename, object), output_types=[])
    assert made.origin.names_for(source) == (name,)


def test_a_dataset_is_made_anew_of_another_one():
    source, made = counted("Take", 2)
    other = MAKERS["RangeDataset"](torch.tensor(7), torch.tensor(9), torch.tensor(1))
    again = made.origin.made_of(lambda part: other if part is source else part)
    assert again.origin.inputs[0] is other
    assert again.origin.op_type == "TakeDataset"
