"""The packaged model with a place head trained in a second, on drawn pictures.

Discs stand for dogs and squares for men. The head is a ridge regression from the cells of a few
pictures, and from a few phrases, to shared directions: small, deterministic, and read through the
same files and code as a packaged one.
"""

import shutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from deixis.features.backbones.backbone import image_backbone, text_source
from deixis.features.places.phrase_inputs import phrase_inputs
from deixis.features.places.pointed_region import coverage
from deixis.runs.places.place_head import PlaceHead
from deixis.runs.run import Run
from deixis.search.encoders.load_encoder import packaged
from deixis.similarity.places.place_score import PlaceScore

DIM, HIDDEN, SHARPNESS = 64, 256, 9.0
KINDS = ("dog", "man")
PHRASES = ("a {}", "{}", "a brown {}", "the {}", "a {} on the left", "two {}s")
Box = tuple[float, float, float, float]  # xmin, xmax, ymin, ymax


def place_run(folder: Path) -> Path:
    """A run folder: the packaged model with the small head instead of its own."""
    shutil.copytree(packaged(), folder)
    small_head().write(Run(folder).path("places"))
    return folder


def drawn(
    dog: Box | None,
    man: Box | None,
    seed: int = 0,
    size: tuple[int, int] = (300, 225),
    other_dog: Box | None = None,
) -> Image.Image:
    """A picture of a disc or two and a square on a noisy ground."""
    random = np.random.default_rng(seed)
    ground = random.integers(90, 170, (size[1] // 8 + 1, size[0] // 8 + 1, 3), dtype=np.uint8)
    picture = Image.fromarray(ground).resize(size, Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(picture)
    for box, colour, shape in (
        (dog, (150, 75, 20), pen.ellipse),
        (other_dog, (150, 75, 20), pen.ellipse),
        (man, (20, 40, 200), pen.rectangle),
    ):
        if box is not None:
            xmin, xmax, ymin, ymax = box
            corners = (xmin * size[0], ymin * size[1], xmax * size[0] - 1, ymax * size[1] - 1)
            shape(corners, fill=colour)
    return picture


def around(x: float, y: float, side: float = 0.3) -> Box:
    """A square box around a point, within the picture."""
    x, y = (min(max(value, side / 2), 1 - side / 2) for value in (x, y))
    return x - side / 2, x + side / 2, y - side / 2, y + side / 2


@cache
def small_head() -> PlaceHead:
    random = np.random.default_rng(0)
    directions = np.linalg.qr(random.normal(size=(DIM, DIM)))[0][: len(KINDS) + 1]
    weights = _cell_side(directions, random) | _phrase_side(directions, random)
    anything = SHARPNESS * directions[: len(KINDS)].mean(axis=0)
    weights |= {"anything": anything, "log_scale": np.array(np.log(SHARPNESS))}
    made = {name: value.astype(np.float32) for name, value in weights.items()}
    return PlaceHead(made, PlaceScore(), "cells-int8", "minilm-int8")


def _cell_side(directions: np.ndarray, random: np.random.Generator) -> dict[str, np.ndarray]:
    backbone, values, wanted = image_backbone("cells-int8"), [], []
    for seed in range(10):
        boxes = [around(*random.uniform(0.1, 0.9, 2)) for _ in KINDS]
        picture = drawn(*boxes, seed=seed)
        pixels = [np.asarray(picture.resize((net.side, net.side))) for net in backbone.networks]
        values.append(backbone([tuple(pixels)]).values)
        covered = [coverage(np.array([box])) for box in boxes]
        covered[0] = covered[0] * (1 - covered[1])  # the square is drawn over the disc
        wanted.append(np.stack([*covered, np.clip(1 - sum(covered), 0, 1)], axis=1))
    weight, bias = _ridge(np.concatenate(values), np.concatenate(wanted) @ directions, 300.0)
    return {"cell.weight": weight, "cell.bias": bias}


def _phrase_side(directions: np.ndarray, random: np.random.Generator) -> dict[str, np.ndarray]:
    texts, spans, wanted = [], [], []
    for place, kind in enumerate(KINDS):
        for phrase in (form.format(kind) for form in PHRASES):
            for text in (phrase, f"{phrase} and a tree", f"a house and {phrase}"):
                start = text.index(phrase)
                texts.append(text)
                spans.append([(start, start + len(phrase))])
                wanted.append(directions[place])
    inputs = phrase_inputs(texts, spans, text_source("minilm-int8").fit([]))
    width = inputs.shape[1]
    blank = {
        "norm.weight": np.ones(width),
        "norm.bias": np.zeros(width),
        "hidden.weight": random.normal(size=(HIDDEN, width)) / np.sqrt(width),
        "hidden.bias": np.zeros(HIDDEN),
    }
    normal = (inputs - inputs.mean(axis=1, keepdims=True)) / inputs.std(axis=1, keepdims=True)
    hidden = normal @ blank["hidden.weight"].T
    hidden = 0.5 * hidden * (1 + np.tanh(np.sqrt(2 / np.pi) * (hidden + 0.044715 * hidden**3)))
    weight, bias = _ridge(hidden, np.stack(wanted), 1.0)
    return {**blank, "out.weight": weight, "out.bias": bias}


def _ridge(x: np.ndarray, y: np.ndarray, strength: float) -> tuple[np.ndarray, np.ndarray]:
    x, y = x.astype(np.float64), y.astype(np.float64)
    mean, middle = x.mean(axis=0), y.mean(axis=0)
    x, y = x - mean, y - middle
    weight = (x.T @ np.linalg.solve(x @ x.T + strength * np.eye(len(x)), y)).T
    return weight, middle - weight @ mean


def save_all(folder: Path, pictures: Iterable[tuple[str, Image.Image]]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, picture in pictures:
        files.append(folder / name)
        picture.save(files[-1])
    return files
