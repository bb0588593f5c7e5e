"""Mining 20,000 images × 100,000 texts: beside the bare product and faiss; and a training step."""

import os
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from numpy import ndarray

from benchmarks.harness import Figure, Timed, extra_memory, interleaved, speed_up
from deixis.losses.objective import Objective
from deixis.losses.quintuplet import needs_partners
from deixis.methods.aoq import AOQ
from deixis.methods.model import Model
from deixis.methods.vsrn import VSRN
from deixis.runs.hard_negatives.nearest_pass import STRIP
from deixis.similarity.blocked.blocked_scoring import score_blocks
from deixis.similarity.blocked.nearest_rows import NearestRows
from deixis.similarity.similarity import Cosine
from deixis.training.gradients import Gradients
from deixis.types import Batch, Embedding, Offline, Regions, Sizes, Tokens

# Of the queries: each meets all items of the other side, as lists are as hard to find as in full.
SHARE = float(os.environ.get("DEIXIS_MINING_SHARE", "0.1"))
IMAGES, TEXTS, DIM = 20_000, 100_000, 1024
HARD_TEXTS, HARD_IMAGES = 300, 60
BLOCK = 32 * 2**20
# A training step: small by default; DEIXIS_STEP=paper has the width and batch of AOQ's table 3.
SMALL_STEP = {"pairs": 64, "region": 256, "dim": 256, "caption_dim": 128, "vocabulary": 1000}
PAPER_STEP = {"pairs": 128, "region": 2048, "dim": 2048, "caption_dim": 512, "vocabulary": 10_000}
STEP = PAPER_STEP if os.environ.get("DEIXIS_STEP") == "paper" else SMALL_STEP
PAIRS = STEP["pairs"]
# Seconds per batch on one GeForce GTX 1080 Ti. AOQ 2020, supplement, table 3.
VSRN_SECONDS = 1.096
AOQ_SECONDS = {"OffTri": 1.489, "OffQuin": 1.557, "AdapOffQuin": 1.604}
TINY = {"IMAGES": 400, "TEXTS": 500, "DIM": 16, "PAIRS": 4}


def figures() -> list[Figure]:
    return [*mining_figures(), *step_figures()]


def mining_figures() -> list[Figure]:
    images, texts = embedded(IMAGES, 0), embedded(TEXTS, 1)
    some, others = (e.rows(slice(0, max(1, int(SHARE * len(e))))) for e in (images, texts))
    of_texts, of_images = interleaved(
        1, lambda: engine(texts, HARD_TEXTS), lambda: engine(images, HARD_IMAGES)
    )
    product, forth, back, faiss = interleaved(
        1,
        lambda: bare_product(some, texts),
        lambda: nearest(some, of_texts.result),
        lambda: nearest(others, of_images.result),
        lambda: by_faiss(some, texts),
    )
    # Rows are laid out once for all queries, so a share of the queries bears a share of it.
    one = Timed(forth.result, forth.seconds + SHARE * of_texts.seconds)
    both = Timed(None, one.seconds + back.seconds + SHARE * of_images.seconds)
    same = np.mean([set(a) == set(b) for a, b in zip(one.result, faiss.result, strict=True)])
    size = f"{IMAGES:,} × {TEXTS:,} × {DIM:,}, {SHARE:.0%} of the queries"
    return [
        beside(f"best {HARD_TEXTS} texts, {size}: beside the bare product", one, product, 0.9),
        beside(f"and best {HARD_IMAGES} images: beside the bare product", both, product, 1.3),
        speed_up("one direction: speed over faiss IndexFlatIP", one, faiss, 3),
        Figure("one direction: share of equal sets", 100 * same, 100, unit="%"),
        Figure(
            "both directions: memory with the embeddings",
            held(images, texts) + extra_memory(lambda: both_ways(images, texts, some, others)),
            1500,
            "lower",
            "MB",
        ),
    ]


def engine(rows: Embedding, k: int) -> NearestRows:
    return NearestRows(rows.vectors[:, 0], k)


def nearest(queries: Embedding, rows: NearestRows) -> ndarray:
    """The nearest rows of every query: what mining does for one side, nothing hidden."""
    none = np.empty((0, 2), dtype=np.int64)
    return np.concatenate([rows.of(s, none).items for s in queries.vectors[:, 0].split(STRIP)])


def both_ways(images: Embedding, texts: Embedding, some: Embedding, others: Embedding) -> None:
    nearest(some, engine(texts, HARD_TEXTS))
    nearest(others, engine(images, HARD_IMAGES))


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


def by_faiss(images: Embedding, texts: Embedding) -> ndarray:
    import faiss

    faiss.omp_set_num_threads(torch.get_num_threads())
    index = faiss.IndexFlatIP(DIM)
    index.add(texts.vectors[:, 0].numpy())
    return index.search(images.vectors[:, 0].numpy(), HARD_TEXTS)[1]


def step_figures() -> list[Figure]:
    """A step of VSRN: plain, with quintuplets, and plain over as many items as those bring."""
    sizes = Sizes(region=STEP["region"], vocabulary=STEP["vocabulary"])
    options = {"dim": STEP["dim"], "caption_dim": STEP["caption_dim"]}
    plain = VSRN(**options)
    base = {"name": "vsrn", **options}
    rounds = [AOQ(base=base, variant=name) for name in ("OffTri", "OffQuin", "AdapOffQuin")]
    few, many = batch(PAIRS), batch(3 * PAIRS)
    works = [
        *(mined_step(aoq.model(sizes), aoq.objective(sizes)) for aoq in rounds),
        step(plain.model(sizes), plain.objective(sizes), many),
        step(plain.model(sizes), plain.objective(sizes), few),
    ]
    *variants, same, less = interleaved(1 if STEP is PAPER_STEP else 7, *works)
    return [
        beside("AdapOffQuin step beside a triplet step of as many items", variants[2], same, 1.1),
        *(
            beside(
                f"{name} step of {PAIRS} pairs, width {STEP['dim']}, beside VSRN's "
                f"(the paper: {seconds / VSRN_SECONDS:.2f}, {seconds} s beside {VSRN_SECONDS} s)",
                found,
                less,
                None,
            )
            for (name, seconds), found in zip(AOQ_SECONDS.items(), variants, strict=True)
        ),
    ]


def batch(pairs: int) -> Batch:
    random = torch.Generator().manual_seed(0)
    return Batch(
        Regions(
            torch.randn(pairs, 36, STEP["region"], generator=random),
            torch.ones(pairs, 36, dtype=torch.bool),
        ),
        Tokens(
            torch.randint(5, STEP["vocabulary"], (pairs, 12), generator=random),
            torch.ones(pairs, 12, dtype=torch.bool),
        ),
        torch.eye(pairs, dtype=torch.bool),
    )


def mined_step(model: Model, objective: Objective) -> Callable[[], None]:
    """A step with mined items behind the batch's own, with partners where a term reads them."""
    kinds = 3 if needs_partners(objective) else 2
    rows, items = torch.arange(PAIRS), batch(kinds * PAIRS)
    mined = [torch.stack([rows + s, rows + s], 1) for s in range(0, kinds * PAIRS, PAIRS)]
    return step(model, objective, replace(items, offline=Offline(PAIRS, PAIRS, *mined)))


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
