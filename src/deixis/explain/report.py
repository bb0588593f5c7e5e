"""A run's sets on a page: what slots look at and mean, how far they spread, who idles."""

import base64
import html
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from deixis.data.collate import regions_of
from deixis.data.dataset import Dataset
from deixis.errors import RunError
from deixis.evaluation.encode import encode
from deixis.explain.drawing import HUES, heat, key, note, scatter, sheet
from deixis.explain.layout import tsne
from deixis.explain.sets import SetHealth, WatchedHead, attention_of, health, nearest_texts
from deixis.features.files import write_atomic
from deixis.methods.model import Model
from deixis.types import Embedding

SIDE = 150  # pixels of a picture in a sheet
BESIDE = 230  # pixels for the text nearest to an element
OWN, OTHER = "#1b7f3b", "#222222"  # a text that describes the picture, and one that does not
POINTS = 120  # images, with one text each, whose elements are laid out on the plane


@dataclass(frozen=True)
class Subject:
    """A trained model with the split it is looked at on."""

    name: str
    model: Model
    dataset: Dataset


@dataclass(frozen=True)
class Sets:
    """A subject's embeddings and what they are like."""

    subject: Subject
    images: Embedding
    texts: Embedding
    health: SetHealth


def judge(subject: Subject) -> Sets:
    """Embed a subject's split and measure its sets."""
    images, texts = encode(subject.model, subject.dataset)
    pairs = torch.from_numpy(subject.dataset.corpus.pairs.astype(np.int64))
    return Sets(subject, images, texts, health(images, texts, pairs))


def write_report(judged: Sequence[Sets], folder: Path, pictures: int) -> Path:
    """Write PNG files and one page that holds them all; returns the page."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = {"tsne": planes(judged)}
    galleries = []
    for sets in judged:
        if _can_be_watched(sets.subject):
            chosen = np.linspace(0, len(sets.images) - 1, pictures).astype(int)
            galleries.append((sets, chosen))
            for image in chosen.tolist():
                figures[_figure(sets, image)] = attention_sheet(sets, image)
    for name, figure in figures.items():
        content = io.BytesIO()
        figure.save(content, "PNG", optimize=True)
        write_atomic(folder / f"{name}.png", content.getvalue())
    page = folder / "index.html"
    body = "".join(_page(judged, galleries, figures))
    write_atomic(page, body.encode())
    return page


def planes(judged: Sequence[Sets]) -> Image.Image:
    """The elements of every subject on its own plane, side by side, with a key."""
    slots = max(sets.images.vectors.shape[1] for sets in judged)
    named = key([f"slot {slot + 1}" for slot in range(slots)], "of an image", "of a text")
    plane = sheet([[_plane(sets) for sets in judged]], [""] * len(judged))
    return sheet([[plane], [named]], [""])


def attention_sheet(sets: Sets, image: int) -> Image.Image:
    """One row a slot, one column a round over the picture, then the text nearest to the element."""
    dataset = sets.subject.dataset
    regions = regions_of(dataset.regions, dataset.images[image : image + 1])
    with Image.open(dataset.corpus.path(image)) as opened:
        picture = opened.convert("RGB").resize((SIDE, SIDE))
    maps = attention_of(sets.subject.model.eval().image, regions)[0].numpy()
    if regions.boxes is None:
        raise RunError("these features say nothing of where regions lie; extract a grid instead")
    boxes = regions.boxes[0].numpy()
    rounds = maps.shape[0]
    rows = []
    for part, (text, own) in enumerate(_nearest(sets, image)):
        first = picture if part == 0 else Image.new("RGB", (SIDE, SIDE), "white")
        label = note([f"slot {part + 1}"], HUES[part % len(HUES)], (44, SIDE))
        lit = [heat(picture, boxes, maps[turn, part]) for turn in range(rounds)]
        said = [text, "(of this picture)"] if own else [text]
        rows.append([first, label, *lit, note(said, OWN if own else OTHER, (BESIDE, SIDE))])
    turns = [f"round {turn + 1}" for turn in range(rounds)]
    return sheet(rows, ["picture", "", *turns, "nearest text"])


def _can_be_watched(subject: Subject) -> bool:
    """Whether slots attend to places that lie somewhere in pictures that are there."""
    attends = isinstance(subject.model.image.head, WatchedHead)
    placed = subject.dataset.regions.boxes is not None
    return attends and placed and subject.dataset.corpus.path(0).is_file()


def _plane(sets: Sets) -> Image.Image:
    """The elements of some images and of one text each, coloured by slot."""
    images = np.linspace(0, len(sets.images) - 1, min(POINTS, len(sets.images))).astype(int)
    owners = sets.subject.dataset.corpus.owners
    texts = np.array([np.flatnonzero(owners == image)[0] for image in images if image in owners])
    sides = [sets.images.vectors[torch.from_numpy(images)]]
    sides.append(sets.texts.vectors[torch.from_numpy(texts)])
    points = np.concatenate([side.flatten(0, 1).numpy() for side in sides])
    colour = np.concatenate([np.tile(np.arange(side.shape[1]), len(side)) for side in sides])
    square = np.arange(len(points)) < sides[0].shape[0] * sides[0].shape[1]
    return scatter(tsne(points), colour, square, sets.subject.name)


def _figure(sets: Sets, image: int) -> str:
    return f"attention-{sets.subject.name}-{image}"


def _page(
    judged: Sequence[Sets],
    galleries: Sequence[tuple[Sets, np.ndarray]],
    figures: dict[str, Image.Image],
) -> Iterator[str]:
    names = html.escape(", ".join(sets.subject.name for sets in judged))
    yield f"<!doctype html><html lang=en><meta charset=utf-8><title>Sets of {names}</title>"
    yield f"<meta name=viewport content='width=device-width'><style>{STYLE}</style><main>"
    yield f"<h1>Sets of {names}</h1>{_table(judged)}"
    yield "<h2>Elements on a plane</h2><p>t-SNE: neighbours stay neighbours.</p>"
    yield _embedded("t-SNE of elements", figures["tsne"])
    for sets, chosen in galleries:
        yield f"<h2>{html.escape(sets.subject.name)}: what each slot looks at</h2>"
        yield "<p>One row a slot, one column a round; a full glow is at least twice an even share. "
        yield f"Beside it the text nearest to the element; <span style='color:{OWN}'>green</span>: "
        yield "it describes the picture.</p>"
        for image in chosen.tolist():
            nearest = "; ".join(text for text, _ in _nearest(sets, image))
            shown = f"attention on image {image}; nearest texts: {nearest}"
            yield _embedded(shown, figures[_figure(sets, image)])
    yield "</main></html>"


def _table(judged: Sequence[Sets]) -> str:
    head = (
        "run",
        "circular variance of images (ln)",
        "of texts (ln)",
        "best pairs won by image slots, %",
        "by text slots, %",
    )
    lines = [f"<tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr>"]
    for sets in judged:
        seen = sets.health
        logs = seen.logs()
        cells = (
            html.escape(sets.subject.name),
            f"{seen.image_variance:.4f} ({logs[0]:.2f})",
            f"{seen.text_variance:.4f} ({logs[1]:.2f})",
            " · ".join(f"{100 * share:.0f}" for share in seen.image_wins),
            " · ".join(f"{100 * share:.0f}" for share in seen.text_wins),
        )
        lines.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _nearest(sets: Sets, image: int) -> list[tuple[str, bool]]:
    """The text nearest to each element of an image, and whether it describes the image."""
    corpus = sets.subject.dataset.corpus
    own = set(corpus.pairs[corpus.pairs[:, 0] == image, 1].tolist())
    found = nearest_texts(sets.images.vectors[image], sets.texts).tolist()
    return [(corpus.texts[text], text in own) for text in found]


def _embedded(name: str, figure: Image.Image) -> str:
    content = io.BytesIO()
    figure.save(content, "PNG", optimize=True)
    data = base64.b64encode(content.getvalue()).decode()
    return f"<img alt='{html.escape(name)}' src='data:image/png;base64,{data}'>"


STYLE = """
:root { color-scheme: light; font: 16px/1.5 system-ui, sans-serif; background: #fff; color: #222; }
main { max-width: 80rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } td, th { padding: .3rem .8rem; text-align: left; }
th { border-bottom: 2px solid #ccc; font-weight: 600; } td { border-bottom: 1px solid #e5e5e5; }
img { max-width: 100%; display: block; margin-top: 1.2rem; }
h2 { margin-top: 2.5rem; }
"""
