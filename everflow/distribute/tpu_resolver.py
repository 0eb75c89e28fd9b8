"""Where a TPU is: an address, hosts that Kubernetes names, or a node that Google Cloud is asked for."""

from __future__ import annotations

import collections
import os
import re
import urllib.error
import urllib.request

from everflow.cluster.cluster import ClusterSpec
from everflow.cluster.server import Server
from everflow.distribute.cluster_resolver import ClusterResolver, format_master_url, get_accelerator_devices
from everflow.framework import errors
from everflow.platform.signatures import takes

_DEFAULT_ENV_VARIABLE = "TPU_NAME"
_GKE_ENV_VARIABLE = "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"
_DISCOVERY_SERVICE_URL_ENV_VARIABLE = "TPU_API_DISCOVERY_URL"
_GCE_METADATA_ENDPOINT = "http://metadata.google.internal"
_ENDPOINTS_SEPARATOR = ","
_TPU_CONN_RETRIES = 120
_TPU_DEVICE_REGEX = re.compile(r".*task:(?P<host_id>\d+)/.*device:TPU:(?P<core_id>\d+)$")

DeviceDetails = collections.namedtuple("DeviceDetails", "device_map total_cores")


def is_running_in_gce() -> bool:
    """Whether this is a machine of Google's Compute Engine, which answers questions about itself."""
    try:
        request = urllib.request.Request(_GCE_METADATA_ENDPOINT, headers={"Metadata-Flavor": "Google"})
        answer = urllib.request.urlopen(request, timeout=1)
        return "Google" in answer.info().get("Metadata-Flavor", "")
    except (urllib.error.URLError, OSError):
        return False


class TPUClusterResolver(ClusterResolver):
    """The address of a TPU's host: `grpc://host:port`, or an empty string for this process, where a program can do without.
    TPUs by name are found by asking Google Cloud, with its Python client.

    Args:
        tpu: The address, or a list of them.
        zone: The zone in Google Cloud.
        project: The project in Google Cloud.
        job_name: The job of the TPU's hosts.
        coordinator_name: The job of this process.
        coordinator_address: The address of this process.
        credentials: What Google Cloud is asked with.
        service: What Google Cloud is asked by.
        discovery_url: Where that is found.

    Example:
        >>> tf.distribute.cluster_resolver.TPUClusterResolver("grpc://10.0.0.1:8470").master()
        'grpc://10.0.0.1:8470'
    """

    @takes(
        """tpu=None, zone=None, project=None, job_name="worker", coordinator_name=None, coordinator_address=None,
        credentials="default", service=None, discovery_url=None""",
    )
    def __init__(
        self, tpu, zone, project, job_name, coordinator_name, coordinator_address, credentials, service, discovery_url
    ):
        if isinstance(tpu, list):
            if not tpu:
                raise ValueError("No TPU was given: the list is empty.")
            if len(tpu) != 1:
                raise NotImplementedError(f"One session can use one TPU, not {len(tpu)}: {tpu}")
            tpu = tpu[0]
        if tpu is None:
            tpu = self._gke_endpoints() if self._in_gke() else self._env_var_fallback()
        if tpu is None:
            raise ValueError("No TPU Name was given: pass it as `tpu`")
        self._tpu = tpu.decode() if isinstance(tpu, bytes) else tpu
        self._job_name, self._credentials = job_name, credentials
        self._service, self._discovery_url = service, discovery_url or self._environment_discovery_url()
        self._coordinator_name, self._coordinator_address = coordinator_name, coordinator_address
        self.task_type, self.task_id = job_name, 0
        self.rpc_layer = None if self._is_google_environment() else "grpc"
        if self._should_resolve():
            self._project = project or self._request_compute_metadata("project/project-id")
            self._zone = zone or self._request_compute_metadata("instance/zone").split("/")[-1]
            if service is None:
                self._service = self._tpu_service()
            if coordinator_name and not coordinator_address:
                address = self._request_compute_metadata("instance/network-interfaces/0/ip")
                port = self._start_local_server().rpartition(":")[2]
                self._coordinator_address = f"{address}:{port}"

    # --- the environment ---------------------------------------------------------------------

    @staticmethod
    def _in_gke():
        return _GKE_ENV_VARIABLE in os.environ

    @staticmethod
    def _gke_endpoints():
        return os.environ[_GKE_ENV_VARIABLE]

    @staticmethod
    def _env_var_fallback():
        return os.environ.get(_DEFAULT_ENV_VARIABLE)

    @staticmethod
    def _environment_discovery_url():
        return os.environ.get(_DISCOVERY_SERVICE_URL_ENV_VARIABLE)

    def _is_google_environment(self):
        return self._tpu in ("", "local") or self._tpu.startswith(("/", "uptc://"))

    def _should_resolve(self):
        """Whether Google Cloud has to be asked."""
        return not (self._is_google_environment() or self._tpu.startswith("grpc://"))

    environment = property(lambda self: "google" if self._is_google_environment() else "")

    def _request_compute_metadata(self, path):
        """What this machine of Compute Engine knows of itself."""
        url = f"{_GCE_METADATA_ENDPOINT}/computeMetadata/v1/{path}"
        request = urllib.request.Request(url, headers={"Metadata-Flavor": "Google"})
        return urllib.request.urlopen(request).read().decode()

    def _tpu_service(self):
        try:
            from googleapiclient import discovery  # installed where there is a cloud
            from oauth2client.client import GoogleCredentials  # installed where there is a cloud
        except ImportError:
            raise ImportError(
                "TPUs are found by their names with googleapiclient: install it with `pip install google-api-python-client "
                "oauth2client`, or give the TPU's address as grpc://host:port"
            ) from None
        credentials = self._credentials
        if credentials == "default":
            credentials = GoogleCredentials.get_application_default()
        where = {"discoveryServiceUrl": self._discovery_url} if self._discovery_url else {}
        return discovery.build("tpu", "v1", credentials=credentials, **where)

    def _fetch_cloud_tpu_metadata(self):
        name = f"projects/{self._project}/locations/{self._zone}/nodes/{self._tpu}"
        return self._service.projects().locations().nodes().get(name=name).execute()

    def _start_local_server(self):
        """Start a server for this process; gives its address."""
        self._server = Server.create_local_server()
        return self._server.target.removeprefix("grpc://")

    # --- the cluster -------------------------------------------------------------------------

    def _hosts(self) -> list[str]:
        if not self._should_resolve():
            return [host.removeprefix("grpc://") for host in self._tpu.split(_ENDPOINTS_SEPARATOR)]
        found = self._fetch_cloud_tpu_metadata()
        if found.get("state", "READY") != "READY":
            raise RuntimeError(f'TPU "{self._tpu}" is not ready; its state is "{found["state"]}"')
        ends = found.get("networkEndpoints") or [found]
        return [f"{end['ipAddress']}:{end['port']}" for end in ends]

    def cluster_spec(self):
        """The TPU's hosts as a cluster; None where there is no address."""
        if self._is_google_environment():
            return None
        jobs = {self._job_name: self._hosts()}
        if self._coordinator_address:
            jobs[self._coordinator_name] = [self._coordinator_address]
        return ClusterSpec(jobs)

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if self._is_google_environment():
            return format_master_url(self._tpu, rpc_layer)
        if self._should_resolve():
            job = self.task_type if task_type is None else task_type
            host = self.cluster_spec().task_address(job, self.task_id if task_id is None else task_id)
        else:
            host = self._hosts()[0]
        return format_master_url(host, rpc_layer or self.rpc_layer)

    def get_master(self):
        return self.master()

    def get_job_name(self):
        """The job of the TPU's hosts; None where it doesn't matter, since the program knows the address."""
        return self._job_name if self._should_resolve() else None

    # --- cores -------------------------------------------------------------------------------

    @staticmethod
    def _get_device_dict_and_cores(devices):
        """DeviceDetails: the cores of each host, and how many there are."""
        hosts = collections.defaultdict(list)
        for found in devices:
            match = _TPU_DEVICE_REGEX.match(found.name)
            if match:
                hosts[match.group("host_id")].append(match.group("core_id"))
        return DeviceDetails(hosts, sum(len(cores) for cores in hosts.values()))

    @staticmethod
    def _verify_and_return_same_core_count(device_dict):
        counts = {len(cores) for cores in device_dict.values()}
        if len(counts) != 1:
            raise RuntimeError(f"All hosts of a TPU have the same number of cores; these have {dict(device_dict)}")
        return counts.pop()

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """How many cores each host has."""
        target = self.master(task_type, task_id)
        for _ in range(_TPU_CONN_RETRIES):
            try:
                details = self._get_device_dict_and_cores(get_accelerator_devices(target, config_proto))
            except errors.DeadlineExceededError:
                continue
            cores = self._verify_and_return_same_core_count(details.device_map) if details.total_cores else 0
            return {"TPU": cores}
        raise RuntimeError(f"{target} doesn't answer: the TPU is not ready, or the address is wrong")

    def __deepcopy__(self, memo):
        return self  # which would connect once more
