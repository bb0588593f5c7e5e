"""The command reference as Markdown, read from the command itself."""

from typing import Any

import typer

from deixis.cli.command import VERBS_BY_TASK, app, load_verbs

HEAD = """# Command reference

`make docs-write` writes this page from the command itself; `make check` compares the two.

`deixis VERB --help` prints the same. Every verb that prints a result takes `--json`. Exit codes:

| code | meaning |
|---|---|
| 0 | finished |
| 1 | an error: one sentence says why, and [the list of errors](../errors.md) what to do |
| 2 | the command line was wrong, for example an unknown verb or option |
| 3 | finished, but something needs attention: no hit, no usable image, files that changed |
"""


def root_command() -> Any:
    """The whole command as the parser sees it."""
    load_verbs()
    return typer.main.get_command(app)


def command_reference() -> str:
    """The verbs by task, then one section per verb, in alphabetical order."""
    sections = [HEAD, _by_task()]
    for path, command in walk(root_command(), ()):
        if path:
            sections.append(_section(path, command))
    return "\n".join(sections)


def _by_task() -> str:
    rows = [
        f"| {task} | {', '.join(f'[`{verb}`](#deixis-{verb})' for verb in verbs)} |"
        for task, verbs in VERBS_BY_TASK.items()
    ]
    return "\n".join(["| task | verbs |", "|---|---|", *rows, ""])


def walk(command: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    """Every command below one, with the words that reach it."""
    found = [(path, command)]
    for name, below in sorted(getattr(command, "commands", {}).items()):
        found += walk(below, (*path, name))
    return found


def _section(path: tuple[str, ...], command: Any) -> str:
    words = " ".join(("deixis", *path))
    lines = [f"## {words}", "", (command.help or "").strip(), ""]
    if hasattr(command, "commands"):
        below = ", ".join(f"`{name}`" for name in sorted(command.commands))
        return "\n".join([*lines, f"A group of verbs: {below}.", ""])
    lines += ["```text", _usage(words, command), "```", ""]
    shown = [one for one in command.params if not one.hidden and one.name != "help"]
    if shown:
        lines += ["| | default | |", "|---|---|---|", *map(_row, shown), ""]
    return "\n".join(lines)


def _usage(words: str, command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    names = [_argument(one) for one in arguments]
    options = ["[OPTIONS]"] if len(arguments) < len(command.params) else []
    return " ".join([words, *options, *names])


def _argument(argument: Any) -> str:
    name = argument.name.upper() + ("…" if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _row(one: Any) -> str:
    if one.param_type_name == "argument":
        name = f"`{one.name.upper()}`"
    else:
        name = " ".join(f"`{word}`" for word in (*one.opts, *one.secondary_opts))
    default = "required" if one.required else _default(one)
    text = " ".join((one.help or "").split()).replace("|", "\\|")
    return f"| {name} | {default} | {text} |"


def _default(one: Any) -> str:
    value = one.default
    if value is None or value is False or callable(value) or value in ("", [], ()):
        return ""
    return "on" if value is True else f"`{value}`"
