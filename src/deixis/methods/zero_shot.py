"""Zero-shot: a pretrained pair such as CLIP or SigLIP as it is, nothing trained."""

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Bool, Float
from torch import Tensor, nn

from deixis.encoders.encoder import Encoder
from deixis.errors import RecipeError
from deixis.heads.pooling import MeanPool
from deixis.methods.model import Method, Model, Paper, methods
from deixis.similarity.similarity import Cosine
from deixis.types import Regions, Sizes, Tokens


class PretrainedVector(nn.Module):
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
        return Model(
            Encoder(PretrainedVector(), MeanPool()),
            Encoder(PretrainedVector(), MeanPool()),
            Cosine(),
        )
