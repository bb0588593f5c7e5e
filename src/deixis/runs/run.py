"""A trained run: one folder with weights, configuration, measures and the recipe row behind them.

This file owns every file name inside a run folder. Importing it loads no torch, so that search can
read a run without it; torch comes with ``config``, ``matcher`` and ``dataset``.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from deixis.errors import RunError
from deixis.files import parse_json
from deixis.registry import build_dataclass
from deixis.runs.advance import Advance, silent
from deixis.runs.data_spec import DataSpec

if TYPE_CHECKING:
    from deixis.data.dataset import Dataset
    from deixis.runs.matcher import Matcher
    from deixis.runs.run_config import RunConfig

RunFile = Literal[
    "config", "weights", "vocabulary", "recipe", "metrics", "ranks", "log", "card", "bank",
    "places", "onnx", "state", "state_before", "best",
]  # fmt: skip

FILES: dict[RunFile, str] = {
    "config": "config.json",  # what builds the model again; written last by ``Matcher.save``
    "weights": "model.safetensors",
    "vocabulary": "vocabulary.json",  # where texts are read as words
    "recipe": "recipe.json",  # the row as it was resolved, overrides included
    "metrics": "metrics.json",  # written last of all: the run is finished
    "ranks": "ranks.npz",  # of every query of the test split
    "log": "log.jsonl",  # one line per step and per validation
    "card": "README.md",
    "bank": "bank.safetensors",  # training texts for hubness correction, in packed runs
    "places": "places.safetensors",  # the place head, in packed runs that can be pointed at
    "onnx": "onnx",  # a folder: both towers as graphs
    "state": "state.safetensors",  # checkpoint of a training that is not over
    "state_before": "state-before.safetensors",  # the one before it, should it be damaged
    "best": "best.safetensors",  # best weights of a training that is not over
}


@dataclass(frozen=True, init=False)
class Run:
    """A run folder; files are read on demand.

    >>> run = Run("runs/tiny/vse++-0")
    >>> run.path("metrics").name
    'metrics.json'
    """

    folder: Path

    def __init__(self, folder: "Path | str | Run") -> None:
        path = folder.folder if isinstance(folder, Run) else Path(folder)
        object.__setattr__(self, "folder", path)

    def __str__(self) -> str:
        return str(self.folder)

    @property
    def name(self) -> str:
        """The folder's own name, as tables and pages show it."""
        return self.folder.name

    def path(self, kind: RunFile) -> Path:
        """The path of a file of the run, whether or not it exists."""
        return self.folder / FILES[kind]

    @property
    def trained(self) -> bool:
        """Whether there is a model to load."""
        return self.path("config").is_file()

    @property
    def begun(self) -> bool:
        """Whether a training has written more than what it was for."""
        return any(self.path(kind).exists() for kind in ("log", "state", "weights", "metrics"))

    @property
    def finished(self) -> bool:
        """Whether the run was trained and evaluated to the end."""
        return self.path("metrics").is_file()

    def read(self, kind: RunFile) -> dict[str, Any]:
        """A JSON file of the run; one that is missing or damaged is refused with the reason."""
        path = self.path(kind)
        if not self.folder.is_dir():
            raise RunError(f"there is no run folder at {self.folder}; {self._others()}")
        if not path.is_file():
            raise RunError(f"{self.folder} is not a finished run: it has no {path.name}")
        try:
            content = parse_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RunError(f"{path} is damaged: {error}; train or copy the run again") from error
        if not isinstance(content, dict):
            raise RunError(f"{path} is damaged: it holds no table; train or copy the run again")
        return content

    def _others(self) -> str:
        """What may have been meant instead of a folder that is not there."""
        parent = self.folder.parent
        folders = [path for path in parent.iterdir() if path.is_dir()] if parent.is_dir() else []
        names = sorted(path.name for path in folders if Run(path).trained)
        if not names:
            return "deixis train and deixis table write them"
        more = ", …" if len(names) > 5 else ""
        return f"{parent} has {', '.join(names[:5])}{more}"

    @cached_property
    def config(self) -> "RunConfig":
        """What builds the model again: method, sizes, features."""
        from deixis.runs.run_config import RunConfig  # torch comes with it

        return RunConfig.of(self.read("config"), self.path("config"))

    @cached_property
    def matcher(self) -> "Matcher":
        """The trained model with its features."""
        from deixis.runs.matcher import load  # torch comes with it

        return load(self.folder)

    @cached_property
    def recipe_row(self) -> dict[str, Any]:
        """The row of the recipe that trained the run, as it was resolved."""
        return self.read("recipe")

    @cached_property
    def data(self) -> DataSpec:
        """The data the run was trained and evaluated on; for an adopted run, only its features."""
        if self.trained and not self.path("recipe").is_file():
            return DataSpec(corpus="", image=self.config.image, text=self.config.text)
        record = self.recipe_row.get("data")
        if not isinstance(record, dict):
            raise RunError(f"{self.path('recipe')} is damaged: it does not say which data it read")
        return build_dataclass(DataSpec, record, str(self.path("recipe")))

    @property
    def metrics(self) -> dict[str, Any]:
        """What the run scored on its test split, and under which protocol."""
        return self.read("metrics")

    def dataset(self, split: str = "", corpus: str = "", advance: Advance = silent) -> "Dataset":
        """A split with the features the run reads; by default the split it was evaluated on."""
        from deixis.runs.prepare import prepare_split  # torch comes with it

        spec = replace(self.data, corpus=corpus, holdout=0, also=()) if corpus else self.data
        if not spec.corpus:
            raise RunError(f"{self.folder} was not trained here; name a corpus to evaluate it on")
        return prepare_split(spec, split or spec.test, self.matcher.vocabulary, advance)


def seeds_of(run: Path | str) -> list[Run]:
    """A run; or, named without the number at its end, the runs of all its seeds."""
    folder = Path(run)
    if folder.is_dir():
        return [Run(folder)]
    found = {
        int(path.name[len(folder.name) + 1 :]): path
        for path in folder.parent.glob(f"{folder.name}-*")
        if path.name[len(folder.name) + 1 :].isdigit()
    }
    if not found:
        raise RunError(f"there is no run at {folder}, and none of any seed, such as {folder}-0")
    return [Run(found[seed]) for seed in sorted(found)]
