"""DivE: a set of diverse vectors per image and per text, scored by smooth Chamfer."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from deixis.encoders.encoder import Encoder
from deixis.encoders.image.grid_encoder import GridEncoder
from deixis.encoders.projection import Projection
from deixis.encoders.refined_projection import RefinedProjection
from deixis.encoders.text.word_embedding import WordEmbedding
from deixis.errors import RunError
from deixis.heads.item_summary import BiGRUSummary, ItemSummary
from deixis.heads.pooling import MaxPool, MeanPool
from deixis.heads.sine_positions import grid_positions, text_positions
from deixis.heads.slots import Slots, SlotShape
from deixis.losses.miners import EveryThenHardest
from deixis.losses.objective import Objective, Term
from deixis.losses.sets.mmd import MMD
from deixis.losses.sets.uniformity import Uniformity
from deixis.losses.triplet import Triplet
from deixis.methods.model import Method, Model, Paper, methods
from deixis.methods.released import (
    BERT,
    CNN,
    Checkpoint,
    Released,
    only_built,
    region_sizes,
    setting,
    word_width,
)
from deixis.similarity.set_similarity import (
    BestPair,
    Chamfer,
    MatchProbability,
    SetSimilarity,
    SmoothChamfer,
)
from deixis.types import Sizes

SIDES = ("img_enc", "txt_enc")

# What the published code calls its similarities, and options of it that no weight shows: the only
# values built here, for every model and for those over regions, grids, words and BERT.
SIMILARITIES = {"smooth_chamfer": "smooth_chamfer", "chamfer": "chamfer", "max": "mil"}
BUILT = {
    "spm_txt_pos_enc_type": "sine",
    "spm_activation": "gelu",
    "temperature_txt_scale": 1.0,
    "img_res_first_pool": False,
    "img_res_last_pool": False,
}
OVER_REGIONS = {"img_res_pool": "max", "spm_img_pos_enc_type": "none"}
OVER_GRIDS = {"img_res_pool": "avg", "spm_img_pos_enc_type": "sine"}

# The parts of the slot head, as the published code calls them and as they are called here.
SLOTS = {
    "agg_block.latents": "start.slots",
    "agg_block.slots_mu": "start.mean",
    "agg_block.slots_log_sigma": "start.log_deviation",
    "agg_block.layers.0.0.norm.": "slot_norm.",
    "agg_block.layers.0.0.norm_context.": "place_norm.",
    "agg_block.layers.0.0.fn.to_q.": "query.",
    "agg_block.layers.0.0.fn.to_k.": "key.",
    "agg_block.layers.0.0.fn.to_v.": "value.",
    "agg_block.layers.0.0.fn.to_out.0.": "out.",
    "agg_block.layers.0.2.norm.": "feed.0.",
    "agg_block.layers.0.2.fn.net.0.": "feed.1.",
    "agg_block.layers.0.2.fn.net.3.": "feed.4.",
    "agg_block.last_layer.0.": "last_norm.",
    "residual_norm.": "whole_norm.",
}


@methods.register("dive")
@dataclass(frozen=True)
class DivE(Method):
    """Slots that compete for places, the whole added to each, and every element in the score."""

    name: ClassVar[str] = "dive"
    paper: ClassVar[Paper] = Paper(
        title="Improving Cross-Modal Retrieval with Set of Diverse Embeddings",
        authors="Dongwon Kim, Namyup Kim, Suha Kwak",
        year=2023,
        venue="CVPR",
    )
    dim: int = 1024
    word_dim: int = 300
    parts: int = 4
    iterations: int = 4
    head_dim: int = 512
    start: Literal["learned", "sampled"] = "learned"
    update: Literal["sum", "gru"] = "sum"
    whole: bool = True  # add the whole image or text to each element
    image: Literal["regions", "grid"] = "regions"
    similarity: Literal["smooth_chamfer", "chamfer", "mil", "mp"] = "smooth_chamfer"
    sharpness: float = 16.0  # α of smooth Chamfer
    margin: float = 0.2
    discrepancy: float = 0.01  # weight of the MMD term
    diversity: float = 0.01  # weight of the uniformity term
    dropout: float = 0.1
    warmup: int = 0  # steps over every negative before the hardest alone

    def model(self, sizes: Sizes) -> Model:
        """Refined regions → slots against words (or frozen states, where there are) → slots."""
        return Model(self._image(sizes), self._text(sizes), self._similarity())

    def objective(self, sizes: Sizes) -> Objective:
        """Rank over all texts of an image, spread the sides alike, keep elements apart."""
        return Objective(
            Term("rank", Triplet(self.margin, EveryThenHardest(self.warmup), "mean")),
            Term("discrepancy", MMD(), self.discrepancy),
            Term("diversity", Uniformity(), self.diversity),
        )

    @classmethod
    def released(cls, found: Checkpoint) -> Released:
        """Read a model of the published code, its CNN included; a CNN marks the grid models."""
        slots = "img_enc.spm.agg_block."
        sampled, grid = found.has(slots + "slots_mu"), found.has("img_enc.cnn.")
        pooled = {"txt_pooling": "max" if found.has("txt_enc.bert.") else "rnn"}
        only_built(found, BUILT | (OVER_GRIDS if grid else OVER_REGIONS) | pooled)
        iterations = found.count(slots + "layers.{}.")
        options = {
            "dim": found.shape("img_enc.fc.weight")[0],
            **word_width(found),
            "parts": int(setting(found, "img_num_embeds", cls.parts)),
            "iterations": iterations,
            "head_dim": found.shape(slots + "layers.0.0.fn.to_q.weight")[0] // SlotShape.heads,
            "start": "sampled" if sampled else "learned",
            "image": "grid" if grid else "regions",
            "similarity": _similarity_of(found),
            "sharpness": float(setting(found, "temperature", cls.sharpness)),
            "margin": setting(found, "margin", cls.margin),
        }
        if not sampled:
            options["parts"] = found.shape(slots + "latents")[0]
        names = {
            "img_enc.cnn.": CNN,
            "img_enc.fc.": "image.body.linear.",
            "img_enc.mlp.fc1.": "image.body.branch.0.",
            "img_enc.mlp.bn.bn.": "image.body.branch.1.",
            "img_enc.mlp.fc2.": "image.body.branch.3.",
            "txt_enc.embed.": "text.body.embed.",
            "txt_enc.rnn.": "text.head.whole.gru.",
            "txt_enc.linear.": "text.body.linear.",
            "txt_enc.bert.": BERT,
        }
        for side, ours in (("img_enc", "image"), ("txt_enc", "text")):
            for theirs, part in SLOTS.items():
                names[f"{side}.spm.{theirs}"] = f"{ours}.head.{part}"
        return Released(options, region_sizes(found), names, _tied(found, iterations))

    def _image(self, sizes: Sizes) -> Encoder:
        grid = self.image == "grid"
        body = RefinedProjection(sizes.region, self.dim, self.dropout)
        pool = MeanPool().pool if grid else MaxPool().pool
        head = Slots(self.dim, self._shape(), self._of(pool), grid_positions if grid else None)
        return GridEncoder(body, head) if grid else Encoder(body, head)

    def _text(self, sizes: Sizes) -> Encoder:
        if sizes.token:
            states = Projection(sizes.token, self.dim)
            return Encoder(
                states, Slots(self.dim, self._shape(), self._of(MaxPool().pool), text_positions)
            )
        words = WordEmbedding(sizes.vocabulary, self.word_dim, self.dropout)
        end = BiGRUSummary(self.word_dim, self.dim, self.dropout)
        return Encoder(words, Slots(self.word_dim, self._shape(), self._of(end), text_positions))

    def _of(self, whole: ItemSummary) -> ItemSummary | None:
        return whole if self.whole else None

    def _shape(self) -> SlotShape:
        return SlotShape(
            dim=self.dim,
            parts=self.parts,
            iterations=self.iterations,
            head_dim=self.head_dim,
            dropout=self.dropout,
            start=self.start,
            update=self.update,
        )

    def _similarity(self) -> SetSimilarity:
        if self.similarity == "smooth_chamfer":
            return SmoothChamfer(self.sharpness)
        return {"chamfer": Chamfer, "mil": BestPair, "mp": MatchProbability}[self.similarity]()


def _similarity_of(found: Checkpoint) -> str:
    """The similarity that the published evaluation scores by, which it calls a loss."""
    name = setting(found, "loss", "smooth_chamfer")
    if name not in SIMILARITIES:
        named = ", ".join(SIMILARITIES)
        raise RunError(f"this model is scored by loss = {name!r}: wanted one of {named}")
    return SIMILARITIES[name]


def _tied(found: Checkpoint, iterations: int) -> tuple[str, ...]:
    """Names of the later iterations, which must repeat the first: here every iteration is one."""
    first = "agg_block.layers.0."
    for name, value in found.weights.items():
        for number in range(1, iterations) if first in name else ():
            other = found.weights.get(name.replace(first, f"agg_block.layers.{number}."))
            if other is None or not other.equal(value):
                raise RunError(f"iteration {number} has weights of its own; here all share them")
    return tuple(
        f"{side}.spm.agg_block.layers.{n}." for side in SIDES for n in range(1, iterations)
    )
