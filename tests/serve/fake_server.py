"""The command `deixis serve` with a stand-in for its model: `python fake_server.py ARGUMENT …`.

A process of its own, as in use: under the tests' checks of every call a server is several times
slower. `serving` says how to start and end one.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def fake_server(library: Path, *more: str) -> Iterator[tuple[str, subprocess.Popen]]:
    """The address and the process of a server over a library that FakeEncoder made."""
    command = [sys.executable, __file__, "serve", "-l", str(library), "--port", "0", *more]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        yield line.split()[2], server
        server.send_signal(signal.SIGTERM)
        server.wait(20)
    finally:
        server.kill()
        server.communicate()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent / "search"))
    from fake_encoder import FakeEncoder

    from deixis.cli import main
    from deixis.serve import app

    token, _, line, engine = app.create_app.__defaults__
    app.create_app.__defaults__ = (token, lambda source: FakeEncoder(), line, engine)
    main()
