"""deixis: image–text retrieval from paper to search box."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deixis.extras import missing_extra

# ONNX Runtime's packages since 1.29 report its use to Microsoft and keep an id of the machine,
# unless this is set before they load. Nothing leaves a machine unless its user sends it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

if TYPE_CHECKING:
    from deixis.data.corpus import Corpus as Corpus
    from deixis.data.read_corpus import read_corpus as read_corpus
    from deixis.evaluation.evaluate_run import evaluate as evaluate
    from deixis.explanation.attribution import explain as explain
    from deixis.methods.model import Method as Method
    from deixis.methods.model import register as register
    from deixis.recipes.recipe import Recipe as Recipe
    from deixis.recipes.train_corpus import train as train
    from deixis.runs.matcher import Matcher as Matcher
    from deixis.runs.matcher import load as load
    from deixis.runs.prepare import prepare_corpus
    from deixis.runs.run import Run as Run
    from deixis.search.client import Client as Client
    from deixis.search.library.library import Library as Library
    from deixis.search.query.query import Query as Query
    from deixis.training.fit import fit as fit
    from deixis.training.spec import TrainSpec as TrainSpec

    prepare = prepare_corpus

# Where each public name lives. Names load on first use, so that `import deixis` needs no torch.
_PUBLIC = {
    "Client": "search.client:Client",
    "Corpus": "data.corpus:Corpus",
    "Library": "search.library.library:Library",
    "Matcher": "runs.matcher:Matcher",
    "Method": "methods.model:Method",
    "Query": "search.query.query:Query",
    "Recipe": "recipes.recipe:Recipe",
    "Run": "runs.run:Run",
    "TrainSpec": "training.spec:TrainSpec",
    "evaluate": "evaluation.evaluate_run:evaluate",
    "explain": "explanation.attribution:explain",
    "fit": "training.fit:fit",
    "load": "runs.matcher:load",
    "prepare": "runs.prepare:prepare_corpus",
    "read_corpus": "data.read_corpus:read_corpus",
    "register": "methods.model:register",
    "train": "recipes.train_corpus:train",
}

__version__ = "0.1.0"
__all__ = sorted(["__version__", *_PUBLIC])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'deixis' has no attribute '{name}'")
    module, _, attribute = _PUBLIC[name].partition(":")
    try:
        return getattr(import_module(f"deixis.{module}"), attribute)
    except ImportError as error:
        refused = missing_extra(error)
        raise error if refused is None else refused from error


def __dir__() -> list[str]:
    return __all__
