"""Run benchmarks: `python -m benchmarks [NAME …] [--json]`; exit code 1 when a goal is missed."""

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path


def names() -> list[str]:
    """Every file here that measures something, which it says by a function `figures`."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return [file.stem for file in files if "\ndef figures(" in file.read_text(encoding="utf-8")]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(names())}")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    parser.add_argument("--threads", type=int, default=1, help="threads of each library")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(names()))
    if unknown:
        parser.error(f"there is no benchmark '{unknown[0]}'; known: {', '.join(names())}")
    for library in ("OMP", "MKL", "OPENBLAS"):  # read when the library is first loaded
        os.environ[f"{library}_NUM_THREADS"] = str(options.threads)
    return run(options.names or names(), options.threads, as_json=options.json)


def run(chosen: list[str], threads: int, *, as_json: bool) -> int:
    import torch
    from rich.console import Console

    from benchmarks.harness import record, table

    torch.set_num_threads(threads)
    told = Console(stderr=True)
    measured = {}
    for name in chosen:
        with told.status(f"measuring {name} …"):
            measured[name] = import_module(f"benchmarks.{name}").figures()
        if not as_json:
            Console().print(table(name, measured[name], threads))
    if as_json:
        print(record(measured, threads))
    return 0 if all(figure.ok for listed in measured.values() for figure in listed) else 1


if __name__ == "__main__":
    sys.exit(main())
