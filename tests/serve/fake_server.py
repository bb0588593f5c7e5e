"""The command `deixis serve` with a stand-in for its model: `python fake_server.py ARGUMENT …`.

A process of its own, as in use: under the tests' checks of every call a server is several times
slower. `serving` says how to start and end one.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def fake_server(
    library: Path, *more: str, stderr: int | None = None, **variables: str
) -> Iterator[tuple[str, subprocess.Popen]]:
    """The address and the process of a server over a library that FakeEncoder made."""
    command = [sys.executable, __file__, "serve", "-l", str(library), "--port", "0", *more]
    pipes = {"stdout": subprocess.PIPE, "stderr": stderr, "text": True}
    server = subprocess.Popen(command, **pipes, env={**os.environ, **variables})
    try:
        line = server.stdout.readline()
        yield line.split()[2], server
        server.send_signal(signal.SIGTERM)
        server.wait(120)
    finally:
        server.kill()
        server.communicate()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from deixis.cli import main
    from deixis.search.library import library
    from deixis.serve import app
    from deixis.serve.limits import bounded_protocol, guard
    from fake_encoder import FakeEncoder

    class Slow(FakeEncoder):
        """Takes as long for pictures as a test says, and writes down that it has begun."""

        def encode_image(self, files):
            if "DEIXIS_TEST_BEGUN" in os.environ:
                with open(os.environ["DEIXIS_TEST_BEGUN"], "a") as begun:
                    begun.write("begun\n")
            time.sleep(float(os.environ.get("DEIXIS_TEST_PICTURE", "0")))
            return super().encode_image(files)

    token, _, *rest = app.create_app.__defaults__
    app.create_app.__defaults__ = (token, lambda source: Slow(), *rest)
    library.load_encoder = lambda source: Slow()
    for module, name in ((bounded_protocol, "HEAD"), (bounded_protocol, "IDLE"), (guard, "BODY")):
        limit = os.environ.get(f"DEIXIS_TEST_{name}")  # seconds, where a test cannot wait longer
        if limit is not None:
            setattr(module, name, type(getattr(module, name))(limit))
    main()
