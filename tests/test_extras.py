"""A package that is not installed is one sentence with the command that installs it."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from deixis.errors import DeixisError
from deixis.extras import need

ROOT = Path(__file__).parents[1]


def test_an_installed_module_is_no_error():
    need("json", "report")


def test_a_missing_module_names_itself_and_its_extra():
    with pytest.raises(DeixisError, match=r"needs no_such_module: pip install 'deixis\[report\]'"):
        need("no_such_module", "report")


def test_the_command_prints_the_extra_whole():
    code = (
        "import sys; sys.modules['no_such'] = None\n"
        "import deixis.cli.command as a\n"
        "from deixis.extras import need\n"
        "a.load_verbs = lambda *_: None\n"
        "a.app = lambda: need('no_such', 'report')\n"
        "a.main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr == "error: this needs no_such: pip install 'deixis[report]'\n"


def test_every_extra_named_in_the_package_exists():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r'need\("[\w.]+", "(\w+)"\)', source))
    assert named <= set(declared["optional-dependencies"])


def test_the_command_loads_the_verb_that_is_asked_for_and_all_for_help():
    code = (
        "import sys; sys.argv = ['deixis', *{words}]\n"
        "import deixis.cli.command as a\n"
        "a.typer.Typer.__call__ = lambda *_: None\n"
        "a.main()\n"
        "print(sum(f'deixis.cli.{{verb}}' in sys.modules for verb in a.VERBS) == len(a.VERBS))"
    )
    for words, everything in ((["status"], "False"), (["--help"], "True"), (["nothing"], "True")):
        command = [sys.executable, "-c", code.format(words=words)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.stdout.strip() == everything, run.stderr
