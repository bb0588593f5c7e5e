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
from deixis.explain.drawing import HUES, heat, scatter, sheet
from deixis.explain.layout import tsne
from deixis.explain.sets import SetHealth, WatchedHead, attention_of, health, nearest_texts
from deixis.features.files import write_atomic
from deixis.methods.model import Model
from deixis.types import Embedding

SIDE = 150  # pixels of a picture in a sheet
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


def write_report(subjects: Sequence[Subject], folder: Path, pictures: int) -> Path:
    """Write PNG files and one page that holds them all; returns the page."""
    judged = [_sets(subject) for subject in subjects]
    folder.mkdir(parents=True, exist_ok=True)
    figures = {"tsne": sheet([[_plane(sets) for sets in judged]], [""] * len(judged))}
    galleries = []
    for sets in judged:
        if _can_be_watched(sets.subject):
            chosen = np.linspace(0, len(sets.images) - 1, pictures).astype(int)
            galleries.append((sets, chosen))
            for image in chosen.tolist():
                figures[_figure(sets, image)] = attention_sheet(sets.subject, image)
    for name, figure in figures.items():
        content = io.BytesIO()
        figure.save(content, "PNG", optimize=True)
        write_atomic(folder / f"{name}.png", content.getvalue())
    page = folder / "index.html"
    body = "".join(_page(judged, galleries, figures))
    write_atomic(page, body.encode())
    return page


def attention_sheet(subject: Subject, image: int) -> Image.Image:
    """One row a slot, one column a round, over the picture."""
    dataset = subject.dataset
    regions = regions_of(dataset.regions, dataset.images[image : image + 1])
    with Image.open(dataset.corpus.path(image)) as opened:
        picture = opened.convert("RGB").resize((SIDE, SIDE))
    maps = attention_of(subject.model.eval().image, regions)[0].numpy()
    if regions.boxes is None:
        raise RunError("these features say nothing of where regions lie; extract a grid instead")
    boxes = regions.boxes[0].numpy()
    rounds, parts = maps.shape[:2]
    rows = [
        [picture, *(heat(picture, boxes, maps[turn, part]) for turn in range(rounds))]
        for part in range(parts)
    ]
    return sheet(rows, ["picture", *(f"round {turn + 1}" for turn in range(rounds))])


def _can_be_watched(subject: Subject) -> bool:
    """Whether slots attend to places that lie somewhere in pictures that are there."""
    attends = isinstance(subject.model.image.head, WatchedHead)
    placed = subject.dataset.regions.boxes is not None
    return attends and placed and subject.dataset.corpus.path(0).is_file()


def _sets(subject: Subject) -> Sets:
    images, texts = encode(subject.model, subject.dataset)
    pairs = torch.from_numpy(subject.dataset.corpus.pairs.astype(np.int64))
    return Sets(subject, images, texts, health(images, texts, pairs))


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
    slots = max(sets.images.vectors.shape[1] for sets in judged)
    keys = "".join(
        f"<b style='color:{HUES[s % len(HUES)]}'>slot {s + 1}</b> " for s in range(slots)
    )
    yield "<h2>Elements on a plane</h2><p>t-SNE: neighbours stay neighbours. Squares are elements "
    yield f"of images, discs of texts. {keys}</p>{_embedded('t-SNE of elements', figures['tsne'])}"
    for sets, chosen in galleries:
        yield f"<h2>{html.escape(sets.subject.name)}: what each slot looks at</h2>"
        yield "<p>One row a slot, one column a round. Under it the text nearest to each element; "
        yield "<span class=right>green</span>: it describes the picture.</p>"
        for image in chosen.tolist():
            yield _embedded(f"attention on image {image}", figures[_figure(sets, image)])
            yield _nearest(sets, image)
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


def _nearest(sets: Sets, image: int) -> str:
    corpus = sets.subject.dataset.corpus
    own = set(corpus.pairs[corpus.pairs[:, 0] == image, 1].tolist())
    found = nearest_texts(sets.images.vectors[image], sets.texts).tolist()
    lines = (
        f"<li class={'right' if text in own else 'other'}>{html.escape(corpus.texts[text])}</li>"
        for text in found
    )
    return f"<ol>{''.join(lines)}</ol>"


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
h2 { margin-top: 2.5rem; } .right { color: #1b7f3b; font-weight: 600; } ol { margin-top: .4rem; }
"""
