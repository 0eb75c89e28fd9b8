"""Clusters that a scheduler or a cloud has started: Slurm, Kubernetes, groups of instances of Google's Compute Engine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from everflow.cluster.cluster import ClusterSpec
from everflow.distribute.cluster_resolver import ClusterResolver, format_master_url
from everflow.platform.signatures import takes


class _Asking(ClusterResolver):
    """A resolver that asks anew whenever it is asked."""

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        task_type = task_type if task_type is not None else self.task_type
        task_id = task_id if task_id is not None else self.task_id
        if task_type is None or task_id is None:
            return ""
        return format_master_url(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self.rpc_layer)


# --- Slurm ---------------------------------------------------------------------------------------


class SlurmClusterResolver(_Asking):
    """The tasks of a step that `srun` has started: `jobs` says how many of them each job gets, in the order of their ranks.

    >>> tf.distribute.cluster_resolver.SlurmClusterResolver({"ps": 1, "worker": 3}, gpus_per_node=2, tasks_per_node=2)
    """

    @takes(
        """jobs, port_base=8888, gpus_per_node=1, gpus_per_task=1, tasks_per_node=None, auto_set_gpu=True,
        rpc_layer="grpc" """,
    )
    def __init__(self, jobs, port_base, gpus_per_node, gpus_per_task, tasks_per_node, auto_set_gpu, rpc_layer):
        if tasks_per_node is None:
            if "SLURM_NTASKS_PER_NODE" not in os.environ:
                raise RuntimeError("SLURM_NTASKS_PER_NODE is not set: pass `tasks_per_node`")
            tasks_per_node = int(os.environ["SLURM_NTASKS_PER_NODE"])
        if gpus_per_task * tasks_per_node > gpus_per_node:
            raise RuntimeError(
                f"{tasks_per_node} tasks of a node want {gpus_per_task} GPUs each, and it has {gpus_per_node}"
            )
        started = int(os.environ["SLURM_NTASKS"])
        if sum(jobs.values()) != started:
            raise RuntimeError(f"`jobs` has {sum(jobs.values())} tasks, and Slurm has started {started}")
        self._jobs, self._port_base = dict(jobs), port_base
        self._gpus_per_node, self._gpus_per_task = gpus_per_node, gpus_per_task
        self._tasks_per_node, self._auto_set_gpu = tasks_per_node, auto_set_gpu
        self._rank = int(os.environ["SLURM_PROCID"])
        self.rpc_layer = rpc_layer

    def _resolve_hostnames(self):
        return _slurm_hosts()

    def cluster_spec(self):
        """The cluster; from now on this task knows its place, and sees its GPUs only."""
        places = [(host, i) for host in self._resolve_hostnames() for i in range(self._tasks_per_node)]
        cluster, rank = {}, 0
        for job, count in self._jobs.items():
            cluster[job] = [f"{host}:{self._port_base + i}" for host, i in places[rank : rank + count]]
            if rank <= self._rank < rank + count:
                self.task_type, self.task_id = job, self._rank - rank
            rank += count
        if self._auto_set_gpu:
            first = places[self._rank][1] * self._gpus_per_task
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(str(first + i) for i in range(self._gpus_per_task))
        return ClusterSpec(cluster)

    def get_task_info(self):
        """(job, number) of this task; known after `cluster_spec()`."""
        return self.task_type, self.task_id

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return {"GPU": self._gpus_per_node}


def _slurm_hosts() -> list[str]:
    """The nodes of a job, as Slurm names them or, without its commands, from their short form."""
    if shutil.which("scontrol"):
        return subprocess.run(
            ["scontrol", "show", "hostname"], capture_output=True, text=True, check=True
        ).stdout.split()
    text = os.environ.get("SLURM_JOB_NODELIST") or os.environ.get("SLURM_NODELIST", "")
    found = []
    for name, ranges in re.findall(r"([^,\[]+)(?:\[([^\]]*)\])?,?", text):
        if not ranges:
            found.append(name)
            continue
        for part in ranges.split(","):
            first, _, last = part.partition("-")
            found += [f"{name}{number:0{len(first)}d}" for number in range(int(first), int(last or first) + 1)]
    return found


# --- Kubernetes ----------------------------------------------------------------------------------


class KubernetesClusterResolver(_Asking):
    """The pods that have certain labels: `{"worker": ["job-name=worker-1", ...], "ps": [...]}`."""

    def __init__(self, job_to_label_mapping=None, tf_server_port=8470, rpc_layer="grpc", override_client=None):
        try:
            from kubernetes import client, config  # installed where there is a cluster
        except ImportError:
            if override_client is None:
                raise ImportError(
                    "Kubernetes is asked by its own Python client: install it with `pip install kubernetes`"
                ) from None
        else:
            if override_client is None:
                config.load_kube_config()
                override_client = client.CoreV1Api()
        self._client = override_client
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port = tf_server_port
        self.rpc_layer = rpc_layer

    def cluster_spec(self):
        """The cluster as it is now: running pods of each label, sorted by name."""
        cluster = {}
        for job, labels in self._labels.items():
            cluster[job] = []
            for label in labels:
                pods = self._client.list_pod_for_all_namespaces(label_selector=label).items
                for pod in sorted(pods, key=lambda pod: pod.metadata.name):
                    if pod.status.phase != "Running":
                        raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"')
                    cluster[job].append(f"{pod.status.host_ip}:{self._port}")
        return ClusterSpec(cluster)


# --- Google Compute Engine -----------------------------------------------------------------------


class GCEClusterResolver(_Asking):
    """The running instances of an instance group, sorted by address."""

    @takes(
        """project, zone, instance_group, port, task_type="worker", task_id=0, rpc_layer="grpc",
        credentials="default", service=None""",
    )
    def __init__(self, project, zone, instance_group, port, task_type, task_id, rpc_layer, credentials, service):
        if service is None:
            service = _compute_service(credentials)
        self._service, self._port = service, port
        self._place, self._group = {"project": project, "zone": zone}, instance_group
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer

    def cluster_spec(self):
        """The cluster as it is now."""
        groups, addresses = self._service.instanceGroups(), []
        running = {"body": {"instanceState": "RUNNING"}, "orderBy": "name"}
        request = groups.listInstances(**self._place, instanceGroups=self._group, **running)
        while request is not None:
            response = request.execute()
            for item in response["items"]:
                name = item["instance"].split("/")[-1]
                instance = self._service.instances().get(**self._place, instance=name).execute()
                if instance["status"] == "RUNNING":
                    addresses.append(f"{instance['networkInterfaces'][0]['networkIP']}:{self._port}")
            request = groups.listInstances_next(previous_request=request, previous_response=response)
        return ClusterSpec({self.task_type: sorted(addresses)})


def _compute_service(credentials):
    try:
        from googleapiclient import discovery  # installed where there is a cloud
        from oauth2client.client import GoogleCredentials  # installed where there is a cloud
    except ImportError:
        raise ImportError(
            "Compute Engine is asked by googleapiclient: install it with `pip install google-api-python-client oauth2client`"
        ) from None
    if credentials == "default":
        credentials = GoogleCredentials.get_application_default()
    return discovery.build("compute", "v1", credentials=credentials)
