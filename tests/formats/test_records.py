"""Record files read one record at a time and in blocks: the same records, and the same errors at the same place."""

import gzip
import io
import random
import zlib

import pytest

from everflow.formats import records
from everflow.framework.errors import DataLossError
from everflow.native.loops.library import Library


@pytest.fixture
def both(monkeypatch):
    """What a file has, read in both ways: its records, and the error at its end if there is one."""

    def read(data, compression=""):
        outcomes = []
        for ready in (lambda library, work: None, _made):
            monkeypatch.setattr(Library, "ready", ready)
            found = []
            try:
                for record in records.read_records(io.BytesIO(data), compression, "a file"):
                    found.append(record)
            except DataLossError as error:
                found.append(error.message)
            outcomes.append(found)
        assert outcomes[0] == outcomes[1]
        return outcomes[1]

    return read


def _made(library, work):
    if library.code is None:
        library.make()
    return library.code


def content(rng, count, sizes):
    return [rng.randbytes(rng.choice(sizes)) for _ in range(count)]


@pytest.mark.parametrize("sizes", [[0, 1, 7, 8, 9], range(1000), [5, 300_000], [1_000_000]])
@pytest.mark.parametrize(("compression", "pack"), [("", bytes), ("GZIP", gzip.compress), ("ZLIB", zlib.compress)])
def test_whole_files(both, sizes, compression, pack):
    written = content(random.Random(1), 1 if sizes == [1_000_000] else 300 if max(sizes) < 2000 else 12, list(sizes))
    assert both(pack(b"".join(map(records.encode, written))), compression) == written


def test_more_records_than_are_looked_at_together(both, monkeypatch):
    monkeypatch.setattr(records, "_MOST", 3)
    written = content(random.Random(2), 50, [3, 4])
    assert both(b"".join(map(records.encode, written))) == written


@pytest.mark.parametrize("seed", range(60))
def test_files_that_are_cut_off_or_changed(both, seed, monkeypatch):
    rng = random.Random(seed)
    monkeypatch.setattr(records, "_CHUNK", rng.choice([1, 10, 64, 1 << 18]))
    data = bytearray(b"".join(map(records.encode, content(rng, 6, [0, 3, 40]))))
    at = rng.randrange(len(data))
    if seed % 2:
        del data[at:]
    else:
        data[at] ^= 1 << rng.randrange(8)
    both(bytes(data))


def test_an_empty_file(both):
    assert both(b"") == []
