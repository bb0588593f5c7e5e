"""The command in processes of its own, forked from one that has paid for the imports already."""

import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import IO, Any

# What verbs import when they run; forked from it, a command starts at once.
IMPORTED = ("deixis.cli.command", "deixis.recipes.run_recipe", "deixis.serve.app")


class ForkedCommands:
    """Runs ``deixis`` with arguments, once at a time; ends with the block it is used in."""

    def __init__(self) -> None:
        self._forking = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> "ForkedCommands":
        return self

    def __exit__(self, *_: object) -> None:
        with self._forking:
            self._pipe(self._forking.stdin).close()

    def run(self, *arguments: str, cwd: Path, said: Path) -> subprocess.CompletedProcess[str]:
        """What the command answers; what it prints goes through files in a folder."""
        paths = [str(said / name) for name in ("stdout", "stderr")]
        asked = json.dumps({"arguments": arguments, "cwd": str(cwd), "paths": paths})
        to, back = self._pipe(self._forking.stdin), self._pipe(self._forking.stdout)
        print(asked, file=to, flush=True)
        code = int(back.readline())
        out, err = (Path(path).read_text(encoding="utf-8") for path in paths)
        return subprocess.CompletedProcess(arguments, code, out, err)

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


def serve() -> None:
    """Answer questions from standard input until it ends, each in a fork."""
    for name in IMPORTED:
        __import__(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _answer(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _answer(asked: dict[str, Any]) -> None:
    """Become the command, with streams as a new process has them outside the C locale."""
    from deixis.cli.command import main

    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for handle, path in enumerate(asked["paths"], start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), handle)
    sys.stdout.reconfigure(encoding="utf-8", errors="strict")
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.argv = ["-c", *asked["arguments"]]
    os.chdir(asked["cwd"])
    code = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    serve()
