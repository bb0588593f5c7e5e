"""A page on the set embeddings of runs: attention of each slot, spread, unused slots, t-SNE."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from deixis.data.batches.collate import regions_of
from deixis.data.dataset import Dataset
from deixis.errors import RunError
from deixis.explanation.set_health import SetHealth, health, nearest_texts
from deixis.explanation.slot_attention import attention_maps
from deixis.explanation.tsne import tsne
from deixis.features.store.picture_formats import formats
from deixis.files import write_atomic
from deixis.methods.model import Model
from deixis.pages.figures.chart import SERIES, Chart
from deixis.pages.figures.image_sheet import Panel, image_sheet
from deixis.pages.figures.overlay import overlay
from deixis.pages.figures.plots import Plane, scatter_chart
from deixis.pages.render import write_html
from deixis.runs.advance import Advance
from deixis.runs.embed_dataset import encode
from deixis.runs.run import Run
from deixis.types import Embedding

SIDE = 200  # pixels of a picture on the page
POINTS = 120  # images, with one text each, whose elements are drawn on the plane


@dataclass(frozen=True)
class EmbeddedSets:
    """A trained model, a split, its embeddings and their health."""

    name: str
    model: Model
    dataset: Dataset
    images: Embedding
    texts: Embedding
    health: SetHealth

    @classmethod
    def of(cls, name: str, model: Model, dataset: Dataset) -> "EmbeddedSets":
        """Embed a split and measure its sets."""
        images, texts = encode(model, dataset)
        pairs = torch.from_numpy(dataset.corpus.pairs.astype(np.int64))
        return cls(name, model, dataset, images, texts, health(images, texts, pairs))


@dataclass(frozen=True)
class SlotRow:
    """One slot of one picture: its attention at every iteration, and the text nearest to it."""

    name: str
    rounds: Sequence[Image.Image]
    text: str
    own: bool  # whether the text describes the picture


@dataclass(frozen=True)
class PictureSlots:
    """A picture and all its slots."""

    name: str
    picture: Image.Image
    slots: Sequence[SlotRow]


@dataclass(frozen=True)
class Gallery:
    """The pictures of one run, or why there are none."""

    name: str
    pictures: Sequence[PictureSlots]
    reason: str = ""


def report_sets(
    runs: Sequence[Run], folder: Path, pictures: int, advance: Advance, split: str = ""
) -> tuple[list[EmbeddedSets], Path]:
    """Embed a split with each run and write the page; returns the sets and where the page is."""
    sets = embedded_sets(runs, advance, split)
    *_, page = write_set_report(sets, folder, pictures)
    return sets, page


def embedded_sets(runs: Sequence[Run], advance: Advance, split: str = "") -> list[EmbeddedSets]:
    """Embed a split of each run, by default the one it was judged on."""
    return [
        EmbeddedSets.of(run.name, run.matcher.model, run.dataset(split, advance=advance))
        for run in runs
    ]


def write_set_report(sets: Sequence[EmbeddedSets], folder: Path, pictures: int) -> list[Path]:
    """Write PNG files and one page that holds them all; returns what was written, page last."""
    plane = element_planes(sets)
    galleries = [gallery(one, pictures) for one in sets]
    charts = {"tsne": plane}
    for one in galleries:
        for shown in one.pictures:
            charts[f"attention-{one.name}-{Path(shown.name).stem}"] = slot_sheet(shown)
    for name, chart in charts.items():
        write_atomic(folder / f"{name}.png", chart.content("png"))
    title = f"Sets of {', '.join(one.name for one in sets)}"
    page = folder / "index.html"
    values = {"sets": sets, "plane": plane, "galleries": galleries, "colours": SERIES}
    write_html(page, "sets", title=title, **values)
    return [*(folder / f"{name}.png" for name in charts), page]


def gallery(sets: EmbeddedSets, pictures: int) -> Gallery:
    """Pictures spread over the split, with the attention of their slots."""
    chosen = np.linspace(0, len(sets.images) - 1, pictures).astype(int)
    if not sets.dataset.corpus.path(0).is_file():
        return Gallery(sets.name, [], "the corpus has features but no picture files")
    try:
        return Gallery(sets.name, [picture_slots(sets, image) for image in chosen.tolist()])
    except RunError as error:
        return Gallery(sets.name, [], str(error))


def picture_slots(sets: EmbeddedSets, image: int) -> PictureSlots:
    """The attention of every slot over one picture."""
    dataset = sets.dataset
    regions = regions_of(dataset.regions, dataset.images[image : image + 1])
    maps = attention_maps(sets.model.eval().image, regions)
    shares, boxes = maps.shares[0].numpy(), maps.boxes[0].numpy()
    with Image.open(dataset.corpus.path(image), formats=formats()) as opened:
        picture = opened.convert("RGB").resize((SIDE, SIDE))
    slots = [
        SlotRow(
            f"slot {part + 1}",
            [overlay(picture, boxes, shares[turn, part]) for turn in range(len(shares))],
            text,
            own,
        )
        for part, (text, own) in enumerate(_nearest(sets, image))
    ]
    return PictureSlots(dataset.corpus.files[image], picture, slots)


def slot_sheet(shown: PictureSlots) -> Chart:
    """One row per slot, one column per iteration over the picture, then the nearest text."""
    rows = []
    for number, slot in enumerate(shown.slots):
        first = Panel(shown.picture, "picture") if number == 0 else Panel(None, "")
        turns = [
            Panel(image, f"{slot.name}, iteration {turn}")
            for turn, image in enumerate(slot.rounds, 1)
        ]
        note = "(describes this picture)" if slot.own else ""
        rows.append([first, *turns, Panel(None, slot.text, note)])
    return image_sheet(rows, f"Attention of each slot, and the text nearest to it: {shown.name}")


def element_planes(sets: Sequence[EmbeddedSets]) -> Chart:
    """The elements of each run, on one plane per run."""
    slots = max(one.images.vectors.shape[1] for one in sets)
    names = [f"slot {slot + 1}" for slot in range(slots)]
    return scatter_chart([_plane(one) for one in sets], names, ("of an image", "of a text"))


def _plane(sets: EmbeddedSets) -> Plane:
    """The elements of some images and of one text each, coloured by slot."""
    images = np.linspace(0, len(sets.images) - 1, min(POINTS, len(sets.images))).astype(int)
    owners = sets.dataset.corpus.owners
    texts = np.array([np.flatnonzero(owners == image)[0] for image in images if image in owners])
    sides = [
        sets.images.vectors[torch.from_numpy(images)],
        sets.texts.vectors[torch.from_numpy(texts)],
    ]
    points = np.concatenate([side.flatten(0, 1).numpy() for side in sides])
    slot = np.concatenate([np.tile(np.arange(side.shape[1]), len(side)) for side in sides])
    of_images = np.arange(len(points)) < sides[0].shape[0] * sides[0].shape[1]
    return Plane(sets.name, tsne(points), slot, of_images)


def _nearest(sets: EmbeddedSets, image: int) -> list[tuple[str, bool]]:
    """The text nearest to each element of an image, and whether it describes the image."""
    corpus = sets.dataset.corpus
    own = set(corpus.pairs[corpus.pairs[:, 0] == image, 1].tolist())
    found = nearest_texts(sets.images.vectors[image], sets.texts).tolist()
    return [(corpus.texts[text], text in own) for text in found]
