"""Two Ray nodes on this machine: the smallest possible cluster, for tests and trials."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SETTINGS = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # stay on loopback
    "RAY_raylet_start_wait_time_s": "120",
    "RAY_worker_niceness": "0",  # else whatever else runs comes before the workers
    "RAY_DEDUP_LOGS": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "OMP_NUM_THREADS": "1",
}
os.environ.update(SETTINGS)  # Ray reads them when it is imported


@contextmanager
def two_nodes(memory: int = 200 * 2**20) -> Iterator[Any]:
    """A head and a second node with two processors each, on 127.0.0.1."""
    import ray  # noqa: PLC0415  after the settings
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    shape = {
        "num_cpus": 2,
        "object_store_memory": memory,
        "node_ip_address": "127.0.0.1",
        "include_dashboard": False,
    }
    cluster = Cluster(initialize_head=True, head_node_args=shape)
    try:
        cluster.add_node(**shape)
        cluster.wait_for_nodes()
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def workers(cluster: Any, title: str) -> list[int]:
    """The processes of this cluster, and of no other, whose work Ray calls so."""
    listed = subprocess.run(
        ["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True
    )
    own = {
        found.process.pid
        for node in cluster.list_all_nodes()
        for found in node.all_processes["raylet"]
    }
    lines = [line.split(maxsplit=2) for line in listed.stdout.splitlines()[1:]]
    return [
        int(pid)
        for pid, parent, arguments in lines
        if int(parent) in own and arguments.startswith(f"ray::{title}")
    ]


def kill_worker(cluster: Any, title: str) -> bool:
    """Kill one of them outright; False where there is none."""
    for process in workers(cluster, title)[:1]:
        os.kill(process, signal.SIGKILL)
        return True
    return False
