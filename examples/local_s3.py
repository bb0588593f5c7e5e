"""A real S3 server (SeaweedFS) on loopback, for tests and trials."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS = 60


def weed() -> str | None:
    """The server's program, beside the interpreter or on the path."""
    beside = Path(sys.executable).parent / "weed"
    return str(beside) if beside.exists() else shutil.which("weed")


@contextmanager
def s3_server(folder: Path) -> Iterator[dict[str, str]]:
    """Run SeaweedFS over a folder; yields the environment that makes clients use it."""
    master, volume, filer, s3, *grpc = _free_ports(8)
    program = weed()
    assert program is not None
    command = [
        program, "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
        f"-master.port={master}", f"-volume.port={volume}", f"-filer.port={filer}",
        f"-master.port.grpc={grpc[0]}", f"-volume.port.grpc={grpc[1]}",
        f"-filer.port.grpc={grpc[2]}",
        "-s3", f"-s3.port={s3}", f"-s3.port.grpc={grpc[3]}", "-volume.max=20",
        "-master.volumeSizeLimitMB=64", "-s3.port.iceberg=0", "-s3.port.lance=0",
    ]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "weed.log", "wb") as log:
        # It would take a user's own keys for its administrator's, and refuse everybody else.
        plain = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        server = subprocess.Popen(command, stdout=log, stderr=log, env=plain)
    try:
        _wait(f"http://127.0.0.1:{s3}", server, folder / "weed.log")
        yield {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{s3}",
            "AWS_ACCESS_KEY_ID": "any",
            "AWS_SECRET_ACCESS_KEY": "any",
            "AWS_REGION": "us-east-1",
        }
    finally:
        os.kill(server.pid, signal.SIGKILL)  # it does not end on anything milder
        server.wait()


def make_bucket(environment: dict[str, str], name: str) -> None:
    """Create a bucket, waiting until the server can hold objects."""
    request = urllib.request.Request(f"{environment['AWS_ENDPOINT_URL']}/{name}", method="PUT")
    urllib.request.urlopen(request, timeout=SECONDS).close()


def _wait(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        assert server.poll() is None, log.read_text()[-2000:]
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(log.read_text()[-2000:])


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
