"""Options that no recipe changes still reach the model or its objective."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from deixis.errors import RecipeError
from deixis.methods import load_all
from deixis.methods.model import Method, methods
from deixis.similarity.places.place_score import PlaceScore
from deixis.types import Sizes

load_all()
SIZES = Sizes(region=8, image=8, text=8, vocabulary=30, labels=4)
CHANGED: list[dict[str, Any]] = [
    {"name": "bfan", "margin": 0.5},
    {"name": "bfan", "temperature": 4.0},
    {"name": "camp", "margin": 0.5, "fuse": False},
    {"name": "dive", "margin": 0.5},
    {"name": "dive", "discrepancy": 0.5},
    {"name": "dive", "diversity": 0.5},
    {"name": "dive", "dropout": 0.5},
    {"name": "dscmr", "pairs": 0.5},
    {"name": "dscmr", "distance": 0.5},
    {"name": "places", "image_dropout": 0.5},
    {"name": "places", "text_dropout": 0.5},
    {"name": "places", "scale": 2.0},
    {"name": "places", "weight": 1.0},
    {"name": "places", "discount": 0.5},
    {"name": "places", "floor": 0.2},
    {"name": "places", "spread": 0.0},
    {"name": "pvse", "discrepancy": 0.5},
    {"name": "pvse", "diversity": 0.5},
    {"name": "pvse", "dropout": 0.5},
    {"name": "scan", "margin": 0.5},
    {"name": "text_trace", "parts": 2},
    {"name": "two_tower", "temperature": 0.5},
    {"name": "vse_infinity", "margin": 0.5},
    {"name": "vsepp", "image": "whole"},
    {"name": "vsepp", "margin": 0.5},
    {"name": "vsrn", "scale_first": False},
]


def parts_of(method: Method) -> list[object]:
    """What two builds may differ in: weights and plain attributes of every module, terms."""
    torch.manual_seed(0)
    model, objective = method.model(SIZES), method.objective(SIZES)
    found: list[object] = [(term.name, term.weight) for term in objective.terms]
    for root in (model, objective):
        for name, module in root.named_modules():
            found.append((name, type(module).__name__, *plain(module)))
        found += [value.tolist() for value in root.state_dict().values()]
    return found


def plain(module: nn.Module) -> list[tuple[str, object]]:
    kinds = (bool, int, float, str, PlaceScore)
    return [(k, v) for k, v in vars(module).items() if isinstance(v, kinds) and k != "training"]


@pytest.mark.parametrize("options", CHANGED, ids=lambda o: "-".join(map(str, o)))
def test_a_changed_option_changes_what_is_built(options):
    *others, option = sorted(set(options) - {"name"}, key=lambda key: key == "margin")
    small = {"dim": 8, "word_dim": 8, "head_dim": 8, "hidden": 8, "heads": 2, "layers": 1}
    small |= {key: options[key] for key in others}
    known = set(methods.find(options["name"]).__dataclass_fields__)
    small = {key: value for key, value in small.items() if key in known}
    before = parts_of(methods.build(options["name"], small))
    assert before == parts_of(methods.build(options["name"], small)), "a build must repeat itself"
    assert before != parts_of(methods.build(options["name"], small | {option: options[option]}))


@pytest.mark.parametrize(
    "options", [{"name": "consistency", "bert": "x"}, {"name": "independent", "bert": "x"}]
)
def test_a_checkpoint_that_is_not_there_is_asked_for(options):
    method = methods.build(options["name"], {"bert": options["bert"], "dim": 8, "heads": 2})
    with pytest.raises(RecipeError, match="no BERT checkpoint at x"):
        method.model(SIZES)


def test_a_tensor_is_no_plain_attribute():
    assert not [1 for _, value in plain(nn.Linear(2, 2)) if isinstance(value, Tensor)]
