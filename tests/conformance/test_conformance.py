"""Every case recorded from TensorFlow 1.15.5, against what is expected of it so far.

`expected_failures.txt` lists what is not good yet. A case that falls short of it fails here, and so does one that is
better than the list says: `python -m tests.conformance.update` writes the list anew. A verdict with a question mark is
unsteady and not held to either.
"""

import pytest

from tests.conformance import cases
from tests.conformance.compare import judge
from tests.conformance.server import Server

EXPECTED = cases.expected_failures()


@pytest.fixture(scope="session")
def server():
    server = Server()
    yield server
    server.stop()


@pytest.mark.parametrize("name", cases.names())
def test_case(server, name):
    short = judge(cases.golden(name), *server.run(name))
    expected = EXPECTED.get(name, set())
    unsteady = {kind[1:] for kind in expected if kind.startswith("?")}
    worse = {kind: words for kind, words in short.items() if kind not in expected | unsteady}
    better = {kind for kind in expected if not kind.startswith("?")} - set(short)
    assert not worse, "\n".join(f"{kind}: {line}" for kind, words in worse.items() for line in words)
    assert not better, (
        f"now good: {' '.join(sorted(better))}. Run `python -m tests.conformance.update {name}` to take it off the list."
    )


def test_the_list_names_only_cases():
    assert set(EXPECTED) <= set(cases.names())
