"""Parameters in groups, each with its share of the rate."""

from collections.abc import Iterable

import torch
from torch import nn
from torch.optim import Optimizer

from deixis.errors import RecipeError
from deixis.training.schedule import rate_factor
from deixis.training.spec import TrainSpec, steps_in


def make_optimiser(model: nn.Module, objective: nn.Module, spec: TrainSpec) -> Optimizer:
    """Group the parameters by the longest prefix the recipe names a rate for."""
    named = [*model.named_parameters(), *objective.named_parameters(prefix="objective")]
    for prefix in (*spec.rates, *spec.frozen):
        if not any(_under(name, prefix) for name, _ in named):
            listed = ", ".join(sorted({".".join(name.split(".")[:2]) for name, _ in named}))
            raise RecipeError(f"no parameter begins with '{prefix}'; there are: {listed}")
    groups: dict[tuple[float, str], list[nn.Parameter]] = {}
    for name, parameter in named:
        frozen = _longest(name, spec.frozen)
        factor = spec.rates[prefix] if (prefix := _longest(name, spec.rates)) else 1.0
        groups.setdefault((factor, frozen), []).append(parameter)
    tables = [
        {"params": parameters, "factor": factor, "frozen": frozen}
        for (factor, frozen), parameters in groups.items()
    ]
    if spec.optimiser == "sgd":
        return torch.optim.SGD(
            tables, lr=spec.lr, momentum=0.9, nesterov=True, weight_decay=spec.weight_decay
        )
    kind = torch.optim.Adam if spec.optimiser == "adam" else torch.optim.AdamW
    return kind(tables, lr=spec.lr, weight_decay=spec.weight_decay)


def set_rates(optimiser: Optimizer, spec: TrainSpec, step: int, steps_per_epoch: int) -> float:
    """Give every group its rate at a step, and withhold gradients from frozen ones."""
    rate = spec.lr * rate_factor(spec, step, steps_per_epoch)
    for group in optimiser.param_groups:
        until = spec.frozen.get(group["frozen"], 0)
        open_now = step >= steps_in(until, steps_per_epoch)
        group["lr"] = rate * group["factor"] if open_now else 0.0
        for parameter in group["params"]:
            parameter.requires_grad_(open_now)
    return rate


def _under(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def _longest(name: str, prefixes: Iterable[str]) -> str:
    matching = [prefix for prefix in prefixes if _under(name, prefix)]
    return max(matching, key=len, default="")
