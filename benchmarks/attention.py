"""Attention over 200 images × 1,000 texts of real lengths, beside the product it cannot avoid.

Also beside the straightforward loop over texts, timed on every tenth of them; CAMP beside CAMP
pair by pair; and re-ranking beside scoring everything. Vectors are random around shared topics.
"""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor
from torch.nn.functional import leaky_relu, normalize

from benchmarks.harness import Figure, Timed, interleaved, speed_up
from deixis.evaluation.reranking.two_models import merged, rerank, shortlist
from deixis.similarity.bfan_focal import FocalAttention
from deixis.similarity.blocked.pair_scorer import pair_scorer
from deixis.similarity.camp_fusion import GatedFusion
from deixis.similarity.part_level import PartLevel, equal_length_buckets
from deixis.similarity.scan_attention import CrossAttention, GramParts, dot_products
from deixis.similarity.similarity import Cosine
from deixis.types import Embedding

IMAGES, TEXTS, REGIONS, DIM = 200, 1_000, 36, 1024
EVERY = 10  # the loop is timed on one text in so many
CAMP = (80, 400)  # images and texts that CAMP scores
FEW = (20, 30)  # of them meet pair by pair
TINY = {"IMAGES": 6, "TEXTS": 20, "REGIONS": 4, "DIM": 16, "CAMP": (6, 20), "FEW": (2, 3)}
# Words of a caption, start and end included: how many of a thousand captions of Flickr8k have 6, 7…
# fmt: off
LENGTHS = [
    7, 13, 32, 66, 86, 95, 107, 108, 101, 90, 76, 61,
    44, 33, 24, 18, 12, 8, 5, 5, 3, 2, 2, 2,
]
# fmt: on

Loop = Callable[[Tensor, Tensor], Tensor]  # regions of all images, words of one text → scores


def figures() -> list[Figure]:
    scan = {"t2i": (9.0, "lse", 6.0), "i2t": (4.0, "mean", 5.0)}
    out: list[Figure] = []
    for way, product_goal, loop_goal in (("t2i", 1.3, 7), ("i2t", 1.6, 12)):
        loop = loop_t2i if way == "t2i" else loop_i2t
        similarity = CrossAttention(way, *scan[way])
        out += attention_figures(f"SCAN {way}", similarity, loop, (product_goal, loop_goal))
    for focus in ("equal", "prob"):
        name, similarity = f"BFAN {focus}", FocalAttention(focus, 20.0)
        out += attention_figures(name, similarity, loop_bfan(focus), (2.2, 15))
    return [*out, *camp_figures()]


def gallery(images: int, texts: int) -> tuple[Embedding, Embedding]:
    counts = np.random.default_rng(0).choice(len(LENGTHS), texts, p=np.array(LENGTHS) / 1000)
    counts = torch.from_numpy(counts) + 6
    mask = torch.arange(int(counts.max())) < counts.unsqueeze(1)
    topics = torch.randn(images, 1, DIM)
    v = normalize(topics + 1.5 * torch.randn(images, REGIONS, DIM), dim=2)
    own = topics[torch.arange(texts) % images]
    w = normalize(own + 1.5 * torch.randn(texts, mask.shape[1], DIM), dim=2)
    return Embedding(v, torch.ones(images, REGIONS, dtype=torch.bool)), Embedding(w, mask)


def attention_figures(
    name: str, similarity: PartLevel[GramParts], loop: Loop, goals: tuple[float, float]
) -> list[Figure]:
    """Ours against the bare product in the same blocks, and against the loop."""
    torch.manual_seed(0)
    images, texts = gallery(IMAGES, TEXTS)
    some = torch.arange(0, TEXTS, EVERY)
    blocks = prepared(similarity, images, texts)
    with torch.no_grad():
        ours, bare = interleaved(5, lambda: similarity(images, texts), lambda: multiply(blocks))
        (slow,) = interleaved(1, lambda: looped(images, texts.rows(some), loop))
        slow = Timed(slow.result, slow.seconds * texts.mask.sum() / texts.mask[some].sum())
        double = [Embedding(e.vectors.double(), e.mask) for e in (images, texts)]
        exact = similarity(*double)
        plain = looped(double[0], double[1].rows(some), loop)
    ratio = ours.seconds / bare.seconds
    detail = f"{ours.seconds:.2f} s beside {bare.seconds:.2f} s"
    gap = (ours.result.double() - exact).abs().max().item()
    exact_gap = (exact[:, some] - plain).abs().max().item()
    return [
        Figure(f"{name}, in bare products", ratio, goals[0], "lower", detail=detail),
        speed_up(f"{name} over a loop of float32", ours, slow, goals[1]),
        Figure("  from float64, largest difference", gap, 1e-5, "lower", ""),
        Figure("  float64 from the loop's float64", exact_gap, 1e-9, "lower", ""),
        order_figure(ours.result.numpy(), exact.numpy()),
    ]


def prepared(
    similarity: PartLevel[GramParts], images: Embedding, texts: Embedding
) -> list[tuple[GramParts, GramParts]]:
    """The blocks that meet, contexts first, without anything to score."""
    left = [
        GramParts.of(v.vectors)
        for _, v in equal_length_buckets(images, similarity.images_per_block)
    ]
    right = [
        GramParts.of(w.vectors) for _, w in equal_length_buckets(texts, similarity.texts_per_block)
    ]
    pairs = [(v, w) for w in right for v in left]
    regions_ask = isinstance(similarity, CrossAttention) and similarity.direction == "i2t"
    return [(w, v) for v, w in pairs] if regions_ask else pairs


def multiply(blocks: list[tuple[GramParts, GramParts]]) -> None:
    for contexts, queries in blocks:
        dot_products(contexts, queries, grid=True)


def looped(images: Embedding, texts: Embedding, loop: Loop) -> Tensor:
    """One text after the other with all images, as published code does."""
    columns = zip(texts.vectors, texts.mask, strict=True)
    return torch.stack([loop(images.vectors, w[m]) for w, m in columns], dim=1)


def weights(queries: Tensor, contexts: Tensor, temperature: float) -> Tensor:
    """Attention as published code computes it, axis by axis: image, context, query."""
    clipped = leaky_relu(contexts @ queries.transpose(1, 2), 0.1)
    scaled = clipped / (clipped.square().sum(dim=2, keepdim=True).sqrt() + 1e-8)
    return (temperature * scaled.transpose(1, 2).contiguous()).softmax(dim=2).transpose(1, 2)


def attended(contexts: Tensor, shares: Tensor) -> Tensor:
    return (contexts.transpose(1, 2) @ shares).transpose(1, 2)


def cosine(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(dim=2) / (a.norm(dim=2) * b.norm(dim=2)).clamp(min=1e-8)


def loop_t2i(regions: Tensor, words: Tensor) -> Tensor:
    words = words.repeat(len(regions), 1, 1)
    found = cosine(words, attended(regions, weights(words, regions, 9.0)))
    return torch.logsumexp(6.0 * found, dim=1) / 6.0


def loop_i2t(regions: Tensor, words: Tensor) -> Tensor:
    words = words.repeat(len(regions), 1, 1)
    return cosine(regions, attended(words, weights(regions, words, 4.0))).mean(dim=1)


def loop_bfan(focus: str) -> Loop:
    def one_way(queries: Tensor, contexts: Tensor) -> Tensor:
        given = weights(queries, contexts, 20.0).transpose(1, 2)
        # The published code compares every two contexts for "prob".
        above = given * given.shape[2] - given.sum(dim=2, keepdim=True)
        if focus == "prob":
            above = ((given.unsqueeze(3) - given.unsqueeze(2)) * given.sqrt().unsqueeze(2)).sum(
                dim=3
            )
        kept = given * (above > 0)
        shares = (kept / kept.sum(dim=2, keepdim=True)).transpose(1, 2)
        return cosine(queries, attended(contexts, shares)).mean(dim=1)

    def loop(regions: Tensor, words: Tensor) -> Tensor:
        words = words.repeat(len(regions), 1, 1)
        return one_way(words, regions) + one_way(regions, words)

    return loop


def order_figure(ours: ndarray, exact: ndarray) -> Figure:
    """Neighbours in the float64 ranking, both ways, that float32 puts the other way round."""
    turned = near = 0
    for rounded, true in ((ours, exact), (ours.T, exact.T)):
        order = np.argsort(-true, axis=1)
        gaps = -np.diff(np.take_along_axis(true, order, axis=1))
        falls = -np.diff(np.take_along_axis(rounded, order, axis=1).astype(np.float64))
        turned += int(((gaps > 1e-6) & (falls <= 0)).sum())
        near += int((gaps <= 1e-6).sum())
    detail = f"{near} neighbours nearer than 1e-6 not counted"
    return Figure("  neighbours out of order", turned, 0, "lower", "", detail)


def camp_figures() -> list[Figure]:
    images, texts = gallery(*CAMP)
    similarity = GatedFusion(DIM, "sum", attend=True, squash=False)
    few = [(images.rows(slice(i, i + 1)), texts.rows(slice(t, t + 1))) for i, t in np.ndindex(*FEW)]
    with torch.no_grad():
        whole, alone, plain, layers, again, both = interleaved(
            3,
            lambda: similarity(images, texts),
            lambda: [similarity.pairs(*pair) for pair in few],
            lambda: [plain_camp(similarity, v.vectors[0], w.vectors[w.mask]) for v, w in few],
            lambda: fusion_alone(similarity),
            lambda: reranked(similarity, images, texts),
            lambda: rerank(fast_scores(images, texts), pair_scorer(similarity, images, texts), 0.1),
        )
    alone, plain = (
        Timed(t.result, t.seconds * whole.result.numel() / len(few)) for t in (alone, plain)
    )
    rows = whole.result.numel() * REGIONS + len(images) * int(texts.mask.sum())
    floor = layers.seconds * rows / layers.result
    gap = np.abs(again.result[0] - whole.result.numpy().T[again.result[1]]).max()
    plain_gap = (torch.stack(plain.result).view(FEW) - whole.result[: FEW[0], : FEW[1]]).abs().max()
    one, two = (100 * work.seconds / whole.seconds for work in (again, both))
    pairs = f"{100 * both.result.pairs / whole.result.numel():.1f} % of the pairs"
    bare = f"which alone would be {alone.seconds / floor:.1f} × as fast as pair by pair"
    return [
        speed_up(f"CAMP over pair by pair (timed on {len(few)})", whole, alone, 5),
        Figure("  over the plain formula", plain.seconds / whole.seconds, None),
        Figure("  in bare products of its layers", whole.seconds / floor, None, detail=bare),
        Figure("  from the plain formula", float(plain_gap), 1e-5, "lower", ""),
        Figure("re-ranking 10 % by CAMP, share of its time", one, 15, "lower", "%"),
        Figure("  both ways, each pair once", two, 15, "lower", "%", pairs),
        Figure("  largest difference", float(gap), 1e-5, "lower", ""),
    ]


def plain_camp(
    camp: GatedFusion, v: Float[Tensor, "region dim"], w: Float[Tensor, "word dim"]
) -> Float[Tensor, ""]:
    """One pair by the paper's formulas, as they are written."""
    affinity = camp.image_key(v) @ camp.text_key(w).T / DIM**0.5
    to_regions, to_words = affinity.softmax(dim=1) @ w, affinity.T.softmax(dim=1) @ v
    regions = camp.fuse_images.layer((v * to_regions).sigmoid() * (v + to_regions)).relu() + v
    words = camp.fuse_texts.layer((w * to_words).sigmoid() * (w + to_words)).relu() + w
    image = (camp.pool_images.question(regions) / DIM**0.5).softmax(dim=0).T @ regions
    text = (camp.pool_texts.question(words) / DIM**0.5).softmax(dim=0).T @ words
    return camp.match(image + text)[0, 0]


def fusion_alone(camp: GatedFusion) -> int:
    """The layer every part of every pair needs, over parts that lie ready; how many that was."""
    parts = torch.ones(64 * REGIONS, DIM)
    return sum(len(camp.fuse_images.layer(parts)) for _ in range(20))


def fast_scores(images: Embedding, texts: Embedding) -> ndarray:
    """The cosine of mean vectors."""
    means = []
    for items in (images, texts):
        vector = items.vectors.masked_fill(~items.mask.unsqueeze(2), 0.0).sum(dim=1, keepdim=True)
        means.append(Embedding(normalize(vector, dim=2), items.mask[:, :1]))
    return Cosine()(*means).numpy()


def reranked(
    similarity: GatedFusion, images: Embedding, texts: Embedding
) -> tuple[ndarray, ndarray]:
    """Every text asks: a mean vector ranks the images, CAMP the best tenth of them."""
    fast = fast_scores(images, texts).T
    chosen = shortlist(fast, 0.1)
    text, image = np.nonzero(chosen)
    scores = np.zeros(fast.shape)
    scores[text, image] = pair_scorer(similarity, images, texts)(image, text)
    merged(fast, scores, chosen).argsort(axis=1)
    return scores[chosen], chosen
