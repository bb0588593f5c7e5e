"""One transformer that reads images and texts alike."""

from pathlib import Path

from jaxtyping import Bool, Float
from safetensors.torch import load_file
from torch import Tensor, nn

from deixis.encoders.encoder import Body
from deixis.errors import RecipeError
from deixis.types import Regions, Tokens

LONGEST = 150  # places read of an image or text; the paper's limit


class Shared(nn.Module):
    """A modality's own beginning, then a transformer that may be another modality's too."""

    def __init__(self, front: Body, transformer: "Transformer") -> None:
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


class Transformer(nn.Module):
    """Blocks that normalise before they attend, one norm behind them, then only what is positive.

    Places carry no position: regions have none, and words were read by a GRU in their order.
    *Paper*: semantic sharing 2021, six blocks of eight heads. Padding neither attends nor is
    attended to; in the published code it does both.
    """

    def __init__(self, dim: int, heads: int, layers: int, inner: int, dropout: float) -> None:
        super().__init__()
        if dim % heads:
            raise RecipeError(f"dim is {dim}, which {heads} heads cannot share evenly")
        self.blocks = nn.ModuleList(Block(dim, heads, inner, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)

    @classmethod
    def start(
        cls, dim: int, heads: int, layers: int, inner: int, dropout: float, bert: str
    ) -> "Transformer":
        """A transformer from chance or, where one is named, from a BERT checkpoint."""
        made = cls(dim, heads, layers, inner, dropout)
        if bert:
            made.take_bert(Path(bert).expanduser())
        return made

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item place dim"]:
        """Contextual vectors of the places that exist."""
        for block in self.blocks:
            places = block(places, mask)
        return self.norm(places).relu()

    def take_bert(self, path: Path) -> None:
        """Start from the first blocks of a BERT checkpoint (safetensors) of the same width."""
        if not path.is_file():
            raise RecipeError(f"there is no BERT checkpoint at {path}")
        found = {key.removeprefix("bert."): value for key, value in load_file(path).items()}
        for number, block in enumerate(self.blocks):
            assert isinstance(block, Block)
            block.take_bert(found, f"encoder.layer.{number}.")


class Block(nn.Module):
    """Self-attention and a perceptron, each added to what it read."""

    def __init__(self, dim: int, heads: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.before_attention = nn.LayerNorm(dim)
        self.attention = nn.MultiheadAttention(dim, heads, dropout=dropout, batch_first=True)
        self.before_inner = nn.LayerNorm(dim)
        self.inner = nn.Linear(dim, inner)
        self.outer = nn.Linear(inner, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item place dim"]:
        """Attend, then think."""
        x = self.before_attention(places)
        attended, _ = self.attention(x, x, x, key_padding_mask=~mask, need_weights=False)
        places = places + self.dropout(attended)
        x = self.dropout(self.inner(self.before_inner(places)).relu())
        return places + self.dropout(self.outer(x))

    def take_bert(self, weights: dict[str, Tensor], prefix: str) -> None:
        """Copy attention and perceptron; norms stay new, since BERT's stand behind, not before."""
        names = {
            "self.query": (self.attention.in_proj_weight, self.attention.in_proj_bias, 0),
            "self.key": (self.attention.in_proj_weight, self.attention.in_proj_bias, 1),
            "self.value": (self.attention.in_proj_weight, self.attention.in_proj_bias, 2),
            "output.dense": (self.attention.out_proj.weight, self.attention.out_proj.bias, 0),
        }
        parts = {f"attention.{name}": place for name, place in names.items()}
        parts["intermediate.dense"] = (self.inner.weight, self.inner.bias, 0)
        parts["output.dense"] = (self.outer.weight, self.outer.bias, 0)
        for name, (weight, bias, third) in parts.items():
            for ours, kind in ((weight, "weight"), (bias, "bias")):
                _copy(weights, f"{prefix}{name}.{kind}", ours, third)


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
