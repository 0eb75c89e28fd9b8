"""Where a TPU is: by address, by the hosts that Kubernetes names, and by asking Google Cloud."""

from unittest import mock

import pytest

import everflow as tf
from everflow.distribute import tpu_resolver
from everflow.runtime.devices import DeviceAttributes

Resolver = tf.distribute.cluster_resolver.TPUClusterResolver


def _cloud(**node):
    service = mock.MagicMock()
    service.projects().locations().nodes().get.return_value.execute.return_value = node
    return service


def _named(service, **more):
    return Resolver("name", zone="z", project="p", credentials=None, service=service, **more)


def test_a_tpu_by_name():
    ends = [{"ipAddress": "10.0.0.1", "port": 1}, {"ipAddress": "10.0.0.2", "port": 2}]
    service = _cloud(state="READY", networkEndpoints=ends)
    found = _named(service, coordinator_name="c", coordinator_address="10.0.0.9:9")
    assert found.cluster_spec().as_dict() == {"worker": ["10.0.0.1:1", "10.0.0.2:2"], "c": ["10.0.0.9:9"]}
    assert found.master() == "grpc://10.0.0.1:1" and found.master("worker", 1) == "grpc://10.0.0.2:2"
    assert service.projects().locations().nodes().get.call_args[1] == {"name": "projects/p/locations/z/nodes/name"}
    assert found.get_job_name() == "worker" and found.environment == ""
    with pytest.raises(RuntimeError, match="CREATING"):
        _named(_cloud(state="CREATING", ipAddress="1", port=1)).master()


def test_a_tpu_by_address(monkeypatch):
    monkeypatch.delenv("TPU_NAME", raising=False)
    with pytest.raises(ValueError, match="No TPU"):
        Resolver()
    monkeypatch.setenv("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "grpc://a:1,grpc://b:2")
    assert Resolver().cluster_spec().as_dict() == {"worker": ["a:1", "b:2"]} and Resolver().master() == "grpc://a:1"
    assert Resolver("local").cluster_spec() is None and Resolver("local").environment == "google"
    with pytest.raises(ImportError, match="googleapiclient"):
        Resolver("name", zone="z", project="p")


def test_cores_are_counted_by_host(monkeypatch):
    def devices(*places):
        return [DeviceAttributes(f"/job:w/task:{host}/device:TPU:{core}", "TPU", 1, 0) for host, core in places]

    found = _named(_cloud(ipAddress="1", port=1))
    for places, count in ((((0, 0), (0, 1), (1, 0), (1, 1)), 2), ((), 0)):
        monkeypatch.setattr(tpu_resolver, "get_accelerator_devices", lambda *_, p=places: devices(*p))
        assert found.num_accelerators() == {"TPU": count}
    monkeypatch.setattr(tpu_resolver, "get_accelerator_devices", lambda *_: devices((0, 0), (1, 0), (1, 1)))
    with pytest.raises(RuntimeError, match="same number"):
        found.num_accelerators()
