"""Mining 20,000 images × 100,000 texts: beside the bare product and faiss; and a training step."""

import os
from collections.abc import Callable

import numpy as np
import torch
from numpy import ndarray

from benchmarks.harness import Figure, Timed, extra_memory, interleaved, speed_up
from deixis.losses.base import Objective
from deixis.methods.aoq import AOQ
from deixis.methods.model import Model, Sizes
from deixis.methods.vsrn import VSRN
from deixis.similarity.base import Cosine
from deixis.similarity.best import Best
from deixis.similarity.blocks import score_blocks
from deixis.training.gradients import Gradients
from deixis.types import Batch, Embedding, Offline, Regions, Tokens

SHARE = float(os.environ.get("DEIXIS_MINING_SHARE", "0.2"))  # of either side
IMAGES, TEXTS, DIM = int(20_000 * SHARE), int(100_000 * SHARE), 1024
HARD_TEXTS, HARD_IMAGES = 300, 60
BLOCK = 32 * 2**20
PAIRS = 64  # of a training step


def figures() -> list[Figure]:
    return [*mining_figures(), *step_figures()]


def mining_figures() -> list[Figure]:
    images, texts = embedded(IMAGES, 0), embedded(TEXTS, 1)
    product, one, both, faiss = interleaved(
        1,
        lambda: bare_product(images, texts),
        lambda: mined(images, texts, both_ways=False),
        lambda: mined(images, texts, both_ways=True),
        lambda: by_faiss(images, texts),
    )
    found, wanted = one.result[0], faiss.result
    same = np.mean([set(a) == set(b) for a, b in zip(found, wanted, strict=True)])
    size = f"top {HARD_TEXTS} and {HARD_IMAGES} of {IMAGES:,} × {TEXTS:,}"
    return [
        beside(f"{size}: one direction beside the bare product", one, product, 1.25),
        beside("both directions beside the bare product", both, product, 1.8),
        speed_up("one direction: speed over faiss IndexFlatIP", one, faiss, 3),
        Figure("one direction: share of equal sets", 100 * same, 100, unit="%"),
        Figure(
            "both directions: memory with the embeddings",
            held(images, texts) + extra_memory(lambda: mined(images, texts, both_ways=True)),
            1500,
            "lower",
            "MB",
        ),
    ]


def embedded(items: int, seed: int) -> Embedding:
    random = torch.Generator().manual_seed(seed)
    vectors = torch.empty(items, 1, DIM)
    for start in range(0, items, 1000):
        vectors[start : start + 1000].normal_(generator=random)
    vectors /= vectors.norm(dim=2, keepdim=True)
    return Embedding(vectors, torch.ones(items, 1, dtype=torch.bool))


def held(*embeddings: Embedding) -> float:
    return sum(e.vectors.numel() * 4 for e in embeddings) / 2**20


def bare_product(images: Embedding, texts: Embedding) -> None:
    for _ in score_blocks(Cosine(), images, texts, BLOCK):
        pass


def mined(images: Embedding, texts: Embedding, *, both_ways: bool) -> tuple[ndarray, ...]:
    texts_of = Best(len(images), len(texts), HARD_TEXTS)
    images_of = Best(len(texts), len(images), HARD_IMAGES)
    for here, there, block in score_blocks(Cosine(), images, texts, BLOCK):
        texts_of.see(block.numpy(), here, there.start)
        if both_ways:
            images_of.see(block.numpy().T, there, here.start)
    sides = (texts_of, images_of) if both_ways else (texts_of,)
    return tuple(side.nearest().items for side in sides)


def by_faiss(images: Embedding, texts: Embedding) -> ndarray:
    import faiss

    faiss.omp_set_num_threads(torch.get_num_threads())
    index = faiss.IndexFlatIP(DIM)
    index.add(texts.vectors[:, 0].numpy())
    return index.search(images.vectors[:, 0].numpy(), HARD_TEXTS)[1]


def step_figures() -> list[Figure]:
    """A step of VSRN: plain, with quintuplets, and plain over as many items as those bring."""
    sizes = Sizes(region=256, vocabulary=1000)
    base = {"name": "vsrn", "dim": 256, "caption_dim": 128}
    plain = VSRN(dim=256, caption_dim=128)
    rounds = [AOQ(base=base, variant=name) for name in ("OffTri", "OffQuin", "AdapOffQuin")]
    few, many = batch(PAIRS), batch(3 * PAIRS)
    rows = torch.arange(PAIRS)
    mined_for = [torch.stack([rows + s, rows + s], 1) for s in (0, PAIRS, 2 * PAIRS)]
    offline = Batch(
        many.images, many.texts, many.positives, offline=Offline(PAIRS, PAIRS, *mined_for)
    )
    works = [
        *(step(aoq.model(sizes), aoq.objective(sizes), offline) for aoq in rounds),
        step(plain.model(sizes), plain.objective(sizes), many),
        step(plain.model(sizes), plain.objective(sizes), few),
    ]
    *variants, same, less = interleaved(7, *works)
    third = "step beside one of a third of the items"
    return [
        beside("AdapOffQuin step beside a triplet step of as many items", variants[2], same, 1.1),
        beside(f"OffTri {third} (the paper: 1.36)", variants[0], less, None),
        beside(f"OffQuin {third} (the paper: 1.42)", variants[1], less, None),
        beside(f"AdapOffQuin {third} (the paper: 1.46)", variants[2], less, None),
    ]


def batch(pairs: int) -> Batch:
    random = torch.Generator().manual_seed(0)
    return Batch(
        Regions(
            torch.randn(pairs, 36, 256, generator=random), torch.ones(pairs, 36, dtype=torch.bool)
        ),
        Tokens(
            torch.randint(5, 1000, (pairs, 12), generator=random),
            torch.ones(pairs, 12, dtype=torch.bool),
        ),
        torch.eye(pairs, dtype=torch.bool),
    )


def step(model: Model, objective: Objective, batch: Batch) -> Callable[[], None]:
    parameters = [*model.parameters(), *objective.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=1e-4)

    def work() -> None:
        optimiser.zero_grad(set_to_none=True)
        Gradients(model, objective).add(batch, 0, seed=0)
        optimiser.step()

    return work


def beside(name: str, ours: Timed, baseline: Timed, goal: float | None) -> Figure:
    detail = f"{ours.seconds:.2f} s beside {baseline.seconds:.2f} s"
    return Figure(name, ours.seconds / baseline.seconds, goal, "lower", detail=detail)
