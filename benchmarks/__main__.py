"""Run benchmarks: `python -m benchmarks [NAME …] [--json]`; exit code 1 when a goal is missed.

Every benchmark has a table `TINY` of sizes at which it takes seconds; figures then mean nothing.
"""

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType


def names() -> list[str]:
    """Every file here that measures something, which it says by a function `figures`."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return [file.stem for file in files if "\ndef figures(" in file.read_text(encoding="utf-8")]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(names())}")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    parser.add_argument("--threads", type=int, default=1, help="threads of each library")
    parser.add_argument("--tiny", action="store_true", help="small sizes: only to see that it runs")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(names()))
    if unknown:
        parser.error(f"there is no benchmark '{unknown[0]}'; known: {', '.join(names())}")
    for library in ("OMP", "MKL", "OPENBLAS"):  # read when the library is first loaded
        os.environ[f"{library}_NUM_THREADS"] = str(options.threads)
    modules = {name: import_module(f"benchmarks.{name}") for name in options.names or names()}
    if options.tiny:
        for module in modules.values():
            vars(module).update(module.TINY)
    return run(modules, options.threads, as_json=options.json)


def run(modules: dict[str, ModuleType], threads: int, *, as_json: bool) -> int:
    import torch
    from rich.console import Console

    from benchmarks.harness import record, table

    torch.set_num_threads(threads)
    progress = Console(stderr=True)
    measured = {}
    for name, module in modules.items():
        with progress.status(f"measuring {name} …"):
            measured[name] = module.figures()
        if not as_json:
            Console().print(table(name, measured[name], threads))
    if as_json:
        print(record(measured, threads))
    return 0 if all(figure.ok for listed in measured.values() for figure in listed) else 1


if __name__ == "__main__":
    sys.exit(main())
