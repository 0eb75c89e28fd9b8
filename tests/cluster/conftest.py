"""Clusters for tests: servers in this process, on free ports of the loopback interface."""

import pytest

import everflow as tf
from everflow.cli.launch import free_addresses


class Cluster:
    """Running servers: `cluster.target("worker", 0)`, `cluster.spec`."""

    def __init__(self, **jobs):
        addresses = iter(free_addresses(sum(jobs.values())))
        self.spec = tf.train.ClusterSpec({job: [next(addresses) for _ in range(count)] for job, count in jobs.items()})
        self.servers = {
            (job, i): tf.train.Server(self.spec, job, i) for job, count in jobs.items() for i in range(count)
        }

    def target(self, job, index=0):
        return self.servers[job, index].target

    def stop(self, job, index):
        self.servers.pop((job, index))._stop()

    def close(self):
        for server in self.servers.values():
            server._stop()


@pytest.fixture
def cluster():
    """`cluster(ps=2, worker=1)` starts servers; they end with the test."""
    made = []

    def make(**jobs):
        made.append(Cluster(**jobs))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def server():
    """A server of its own."""
    made = tf.train.Server.create_local_server()
    yield made
    made._stop()


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made
