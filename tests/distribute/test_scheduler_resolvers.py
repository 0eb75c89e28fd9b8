"""Clusters that Slurm, Kubernetes and Compute Engine know; what TensorFlow 1.15 makes of the same answers."""

from types import SimpleNamespace

import pytest

import everflow as tf
from everflow.distribute import scheduler_resolvers

resolvers = tf.distribute.cluster_resolver


@pytest.fixture
def slurm(monkeypatch):
    def step(tasks, rank, **more):
        names = {"SLURM_NTASKS": tasks, "SLURM_PROCID": rank, "SLURM_JOB_NODELIST": "n[1-2],m07", **more}
        for name, value in names.items():
            monkeypatch.setenv(name, str(value))

    monkeypatch.setattr(scheduler_resolvers.shutil, "which", lambda name: None)
    monkeypatch.delenv("SLURM_NTASKS_PER_NODE", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    return step


def test_slurm(slurm):
    slurm(6, 3)
    resolver = resolvers.SlurmClusterResolver({"ps": 1, "worker": 5}, tasks_per_node=2, gpus_per_node=2)
    assert (resolver.master(), resolver.task_type) == ("", None)
    assert resolver.cluster_spec().as_dict() == {
        "ps": ["n1:8888"],
        "worker": ["n1:8889", "n2:8888", "n2:8889", "m07:8888", "m07:8889"],
    }
    assert resolver.get_task_info() == ("worker", 2)
    assert (resolver.master(), resolver.master("ps", 0)) == ("grpc://n2:8889", "grpc://n1:8888")
    assert resolver.num_accelerators() == {"GPU": 2}
    assert scheduler_resolvers.os.environ["CUDA_VISIBLE_DEVICES"] == "1"


def test_slurm_has_started_something_else(slurm):
    slurm(3, 1)
    with pytest.raises(RuntimeError, match="tasks_per_node"):
        resolvers.SlurmClusterResolver({"worker": 3})
    with pytest.raises(RuntimeError, match="GPUs"):
        resolvers.SlurmClusterResolver({"worker": 3}, tasks_per_node=2)
    with pytest.raises(RuntimeError, match="has started 3"):
        resolvers.SlurmClusterResolver({"worker": 4}, tasks_per_node=1)


class _Kubernetes:
    def __init__(self, phase="Running"):
        self.phase, self.asked = phase, []

    def list_pod_for_all_namespaces(self, label_selector):
        self.asked.append(label_selector)
        pods = [
            SimpleNamespace(
                status=SimpleNamespace(host_ip=f"h{9 - i}", phase=self.phase), metadata=SimpleNamespace(name=f"n{i}")
            )
            for i in (1, 0)
        ]
        return SimpleNamespace(items=pods)


def test_kubernetes():
    client = _Kubernetes()
    resolver = resolvers.KubernetesClusterResolver(
        {"worker": ["a=b", "c=d"], "ps": ["e=f"]}, 99, override_client=client
    )
    assert resolver.cluster_spec().as_dict() == {"worker": ["h9:99", "h8:99"] * 2, "ps": ["h9:99", "h8:99"]}
    assert client.asked == ["a=b", "c=d", "e=f"]
    resolver.task_type, resolver.task_id = "worker", 1
    assert resolver.master() == "grpc://h8:99"
    with pytest.raises(RuntimeError, match="Pending"):
        resolvers.KubernetesClusterResolver(override_client=_Kubernetes("Pending")).cluster_spec()
    with pytest.raises(ImportError, match="pip install kubernetes"):
        resolvers.KubernetesClusterResolver()


class _Compute:
    """Groups and instances, which answer when `execute` is called."""

    def instanceGroups(self):
        items = [{"instance": "a/b/i-1"}, {"instance": "a/b/i-0"}, {"instance": "a/b/i-2"}]
        return SimpleNamespace(
            listInstances=lambda **place: SimpleNamespace(execute=lambda: {"items": items}),
            listInstances_next=lambda **response: None,
        )

    def instances(self):
        def get(project, zone, instance):
            status = "RUNNING" if instance != "i-2" else "STOPPED"
            return SimpleNamespace(
                execute=lambda: {"status": status, "networkInterfaces": [{"networkIP": f"10.0.0.{instance[-1]}"}]}
            )

        return SimpleNamespace(get=get)


def test_compute_engine():
    resolver = resolvers.GCEClusterResolver("project", "zone", "group", 8470, task_id=1, service=_Compute())
    assert resolver.cluster_spec().as_dict() == {"worker": ["10.0.0.0:8470", "10.0.0.1:8470"]}
    assert (resolver.master(), resolver.master("worker", 0)) == ("grpc://10.0.0.1:8470", "grpc://10.0.0.0:8470")
    with pytest.raises(ImportError, match="googleapiclient"):
        resolvers.GCEClusterResolver("project", "zone", "group", 8470)
