"""Equal footing: any method over one trunk of strong features, with its own loss or InfoNCE."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from torch import nn

from deixis.encoders.encoder import Encoder
from deixis.encoders.projection import Projection
from deixis.encoders.start_as_identity import start_as_identity
from deixis.encoders.trunk import OnTrunk, Trunk
from deixis.errors import RecipeError
from deixis.losses.infonce import InfoNCE
from deixis.losses.objective import Objective
from deixis.methods import load_all
from deixis.methods.model import Method, Model, Paper, methods
from deixis.similarity.camp_fusion import GatedFusion
from deixis.similarity.camp_fusion_start import LIFT, start_as_dot_product
from deixis.types import Sizes


@methods.register("on_trunk")
@dataclass(frozen=True)
class OnTrunkMethod(Method):
    """A method whose regions and words come through the trunk that all methods share.

    Papers differ in features and batches as much as in ideas. Here all read the same, so that what
    is left between two rows is the idea. *Paper*: ours, after CLIP, whose loss may stand in.
    """

    name: ClassVar[str] = "on_trunk"
    paper: ClassVar[Paper] = Paper(
        title="Learning Transferable Visual Models From Natural Language Supervision",
        authors="Alec Radford and others",
        year=2021,
        venue="ICML",
    )
    base: Mapping[str, Any] = field(default_factory=lambda: {"name": "vsepp"})  # the method
    width: int = 512  # of every place
    text_hidden: int = 2048  # of the whole text's map; that of the whole image is linear
    image_dropout: float = 0.5
    text_dropout: float = 0.1
    drop_whole: float = 0.0  # share of items of a batch whose whole is dropped, so that parts learn
    unit: bool = False  # places at unit length, so that no dot product ranks by their lengths
    loss: Literal["own", "infonce"] = "infonce"  # of the ranking term
    temperature: float = 0.05

    def model(self, sizes: Sizes) -> Model:
        """The base's model, its towers over the trunk."""
        model = self.wrapped().model(replace(sizes, region=self.width, token=self.width))
        images = self._trunk(sizes.region, sizes.image, 0, self.image_dropout)
        texts = self._trunk(sizes.token, sizes.text, self.text_hidden, self.text_dropout)
        fronts = (model.image.body, model.text.body)
        model.image, model.text = _over(images, model.image), _over(texts, model.text)
        if isinstance(model.similarity, GatedFusion):
            _start_fusion(model.similarity, [f for f in fronts if isinstance(f, Projection)])
        return model

    def objective(self, sizes: Sizes) -> Objective:
        """The base's terms; its ranking term as it is, or InfoNCE in its place."""
        terms = self.wrapped().objective(replace(sizes, region=self.width, token=self.width)).terms
        if self.loss == "own":
            return Objective(*terms)
        loss = InfoNCE(self.temperature)
        return Objective(*(replace(t, loss=loss) if t.name == "rank" else t for t in terms))

    def _trunk(self, part: int, whole: int, hidden: int, dropout: float) -> Trunk:
        return Trunk(part, whole, self.width, hidden, dropout, self.drop_whole, unit=self.unit)

    def wrapped(self) -> Method:
        """The method over the trunk."""
        load_all()
        options = {key: value for key, value in self.base.items() if key != "name"}
        return methods.build(self.base.get("name", ""), options)


def _over(trunk: Trunk, encoder: Encoder) -> Encoder:
    if type(encoder) is not Encoder:
        raise RecipeError("a trunk needs towers of one body and one head")
    start_as_identity(encoder)
    return Encoder(OnTrunk(trunk, encoder.body), encoder.head)


def _start_fusion(fusion: GatedFusion, fronts: Sequence[Projection]) -> None:
    """Start a fused score as a dot product, where the parts of both sides can be lifted for it."""
    if fusion.fuse_images.fusion == "sum" and len(fronts) == 2:
        start_as_dot_product(fusion)
        for front in fronts:
            nn.init.constant_(front.linear.bias, LIFT)
