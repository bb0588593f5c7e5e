"""One transformer that reads images and texts alike."""

from pathlib import Path

from jaxtyping import Bool, Float
from safetensors.torch import load_file
from torch import Tensor, nn

from deixis.encoders.encoder import Body
from deixis.errors import RecipeError
from deixis.paths import expanded
from deixis.types import Regions, Tokens

LONGEST = 150  # places read of an image or text; the paper's limit


class SharedBody(nn.Module):
    """A front of the modality's own, then a transformer that both modalities may share."""

    def __init__(self, front: Body, transformer: "SharedTransformer") -> None:
        super().__init__()
        self.front = front
        self.transformer = transformer

    def forward(
        self, batch: Regions | Tokens
    ) -> tuple[Float[Tensor, "item place dim"], Bool[Tensor, "item place"]]:
        """Bring places into the shared width and let them attend to one another."""
        places, mask = self.front(batch)
        places, mask = places[:, :LONGEST], mask[:, :LONGEST]
        return self.transformer(places, mask), mask


class SharedTransformer(nn.Module):
    """Pre-norm self-attention layers, a last norm, then a ReLU.

    Places carry no position: regions have none, and words were read in order by a GRU before.
    *Paper*: semantic sharing 2021, six layers of eight heads. Padding neither attends nor is
    attended to; in the published code it does both.
    """

    def __init__(self, dim: int, heads: int, layers: int, inner: int, dropout: float) -> None:
        super().__init__()
        if dim % heads:
            raise RecipeError(f"dim is {dim}, which cannot be split evenly among {heads} heads")
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                dim, heads, inner, dropout, batch_first=True, norm_first=True
            )
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(dim)

    @classmethod
    def start(
        cls, dim: int, heads: int, layers: int, inner: int, dropout: float, bert: str
    ) -> "SharedTransformer":
        """Random weights or, where a file is named, those of a BERT checkpoint."""
        made = cls(dim, heads, layers, inner, dropout)
        if bert:
            made.copy_bert(expanded(bert))
        return made

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item place dim"]:
        """Contextual vectors of the places that exist."""
        for layer in self.layers:
            places = layer(places, src_key_padding_mask=~mask)
        return self.norm(places).relu()

    def copy_bert(self, path: Path) -> None:
        """Start from the first layers of a BERT checkpoint (safetensors) of the same width."""
        if not path.is_file():
            raise RecipeError(f"there is no BERT checkpoint at {path}")
        found = {key.removeprefix("bert."): value for key, value in load_file(path).items()}
        for number, layer in enumerate(self.layers):
            assert isinstance(layer, nn.TransformerEncoderLayer)
            _copy_layer(layer, found, f"encoder.layer.{number}.")


def _copy_layer(layer: nn.TransformerEncoderLayer, weights: dict[str, Tensor], prefix: str) -> None:
    """Copy attention and FFN; norms stay new, since BERT normalises after a layer, not before."""
    attention = layer.self_attn
    projected = (attention.in_proj_weight, attention.in_proj_bias)
    parts = {
        "attention.self.query": (*projected, 0),
        "attention.self.key": (*projected, 1),
        "attention.self.value": (*projected, 2),
        "attention.output.dense": (attention.out_proj.weight, attention.out_proj.bias, 0),
        "intermediate.dense": (layer.linear1.weight, layer.linear1.bias, 0),
        "output.dense": (layer.linear2.weight, layer.linear2.bias, 0),
    }
    for name, (weight, bias, third) in parts.items():
        _copy(weights, f"{prefix}{name}.weight", weight, third)
        _copy(weights, f"{prefix}{name}.bias", bias, third)


def _copy(weights: dict[str, Tensor], key: str, ours: Tensor, part: int) -> None:
    """Copy a tensor into ours, or into a part of it as long as the tensor is."""
    found = weights.get(key)
    if found is None:
        raise RecipeError(f"the checkpoint has no '{key}': it is not BERT, or has fewer layers")
    rows = slice(part * len(found), (part + 1) * len(found))
    if ours[rows].shape != found.shape:
        wanted = tuple(ours[rows].shape)
        raise RecipeError(f"'{key}' is {tuple(found.shape)}, the model wants {wanted}")
    ours.data[rows] = found
