"""Threads stay awake on a machine of our own only, and as the environment says."""

import pytest

from everflow.platform import spinning


@pytest.fixture(
    params=[("0.00 0.10 0.20 1/300 4242\n", True), ("2.10 1.90 1.00 3/300 4242\n", False)], ids=["idle", "shared"]
)
def machine(request, tmp_path, monkeypatch):
    text, is_idle = request.param
    (tmp_path / "loadavg").write_text(text)
    monkeypatch.setattr(spinning, "_RUNNING", tmp_path / "loadavg")
    return is_idle


def test_machine_decides(machine):
    environment = {}
    spinning.choose_spinning(environment)
    assert environment == {"GOMP_SPINCOUNT": spinning.LONG if machine else spinning.SHORT}


@pytest.mark.parametrize("said", [{"GOMP_SPINCOUNT": "7"}, {"OMP_WAIT_POLICY": "active"}])
def test_environment_decides_before(machine, said):
    environment = dict(said)
    spinning.choose_spinning(environment)
    assert environment == said


@pytest.mark.parametrize("text", ["", "0.1 0.2 0.3 many/300 1\n", None])
def test_a_system_that_does_not_tell(text, tmp_path, monkeypatch):
    if text is not None:
        (tmp_path / "loadavg").write_text(text)
    monkeypatch.setattr(spinning, "_RUNNING", tmp_path / "loadavg")
    assert not spinning.is_idle()
