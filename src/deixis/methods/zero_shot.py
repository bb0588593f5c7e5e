"""Zero-shot: a pretrained pair such as CLIP or SigLIP as it is, nothing trained."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.encoder import Encoder
from deixis.errors import FeatureError, RecipeError
from deixis.features.backbones import image_backbone, text_source
from deixis.heads.pool import Mean
from deixis.methods.matcher import Matcher, RunConfig
from deixis.methods.model import Method, Model, Paper, Sizes, methods
from deixis.similarity.base import Cosine
from deixis.types import Regions, Tokens


class Whole(nn.Module):
    """The vector a backbone gives a whole picture or text, as the only place there is."""

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Take the whole vector."""
        if batch.pooled is None:
            raise RecipeError("zero-shot needs features with a vector for the whole item")
        return batch.pooled[:, None], batch.mask[:, :1]


@methods.register("zero_shot")
@dataclass(frozen=True)
class ZeroShot(Method):
    """Both whole vectors as they come, cosine."""

    name: ClassVar[str] = "zero_shot"
    paper: ClassVar[Paper] = Paper(
        title="Learning Transferable Visual Models From Natural Language Supervision",
        authors="Alec Radford and others",
        year=2021,
        venue="ICML",
    )

    def model(self, sizes: Sizes) -> Model:
        """Whole vectors on both sides; they must be of one width."""
        if not sizes.image or sizes.image != sizes.text:
            raise RecipeError(
                f"zero-shot needs a pair in one space; the image's vector has {sizes.image}"
                f" numbers, the text's {sizes.text}"
            )
        return Model(Encoder(Whole(), Mean()), Encoder(Whole(), Mean()), Cosine())


def adopt(tower: str, folder: Path) -> Matcher:
    """Make a run folder of a pretrained pair, which then indexes and searches as any other."""
    images, texts = image_backbone(tower), text_source(tower).fit([])
    seen, read = images([]), texts([])
    if seen.pooled is None or read.pooled is None or read.values is None:
        raise FeatureError(f"{tower} gives no vectors for whole pictures and texts")
    sizes = Sizes(
        region=seen.values.shape[1],
        image=seen.pooled.shape[1],
        token=read.values.shape[1],
        text=read.pooled.shape[1],
        vocabulary=texts.size,
    )
    config = RunConfig({"name": ZeroShot.name}, sizes, tower, tower)
    matcher = Matcher(ZeroShot().model(sizes), config, None)
    matcher.save(folder)
    return matcher
