"""CAMP as its authors released it: self-attention among messages, one gate per part.

Every message is a weighted sum of the other side's parts, so the weights are all a pair needs:
attention within the messages, their norms, gates and the fusion layer are folded into what is
computed once per item. Only the pooling still costs ``dim²`` per pair.
"""

import math
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from deixis.similarity.camp_messages import camp_linear
from deixis.similarity.part_level import Alignment, PartLevel
from deixis.similarity.similarity import affinity, broadcast_sides
from deixis.types import Embedding


@dataclass(frozen=True)
class MessageParts:
    """The parts of items of equal length, and all that their messages are made of."""

    vectors: Float[Tensor, "item part dim"]
    queries: Float[Tensor, "item part dim"]
    keys: Float[Tensor, "item part dim"]
    within: Float[Tensor, "item part part"]  # what messages made of these parts look for


class MessageWeights(nn.Module):
    """The projections of one side: queries, keys, and how messages made of its parts mix."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.query = camp_linear(dim, dim, bias=False)
        self.key = camp_linear(dim, dim, bias=False)
        self.message_query = camp_linear(dim, dim, bias=False)
        self.message_key = camp_linear(dim, dim, bias=False)

    def forward(self, parts: Float[Tensor, "item part dim"]) -> MessageParts:
        """Prepare the parts of some items."""
        scale = math.sqrt(parts.shape[2])
        within = self.message_query(parts) @ self.message_key(parts).transpose(1, 2) / scale
        return MessageParts(parts, self.query(parts) / scale, self.key(parts), within)


def message_weights(
    logits: Float[Tensor, "*pair query context"], within: Float[Tensor, "*#pair context context"]
) -> Float[Tensor, "*pair query context"]:
    """The contexts each query's message is made of, after messages attended to one another."""
    first = logits.softmax(dim=-1)
    return (first @ within @ first.transpose(-1, -2)).softmax(dim=-1) @ first


def released_normalise(vectors: Float[Tensor, "*pair dim"]) -> Float[Tensor, "*pair dim"]:
    """Normalise by the released code's own divisor, whose constant shows in the ninth digit."""
    return vectors / (vectors.square().sum(dim=-1, keepdim=True).clamp(min=1e-24).sqrt() + 1e-8)


class MessagePassing(nn.Module):
    """All that passes messages, under the same names in both stages of the model."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.image = MessageWeights(dim)
        self.text = MessageWeights(dim)

    def exchange(
        self, images: MessageParts, texts: MessageParts, *, grid: bool
    ) -> tuple[Float[Tensor, "*pair region word"], Float[Tensor, "*pair word region"]]:
        """The words each region's message is made of, and the regions each word's is."""
        image_within, text_within = broadcast_sides(images.within, texts.within, grid=grid)
        asked_by_regions = affinity(images.queries, texts.keys, grid=grid)
        asked_by_words = affinity(images.keys, texts.queries, grid=grid).transpose(-1, -2)
        return message_weights(asked_by_regions, text_within), message_weights(
            asked_by_words, image_within
        )


class ReleasedMessages(PartLevel[MessageParts]):
    """The model the released CAMP is first trained as: the cosine of the mean messages.

    *Paper*: the published code averages texts over their padding too; ours over their words.
    """

    images_per_block = 8
    texts_per_block = 32

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.messages = MessagePassing(dim)

    def prepare_images(self, images: Embedding) -> MessageParts:
        """Compute the queries and keys of the regions."""
        return self.messages.image(images.vectors)

    def prepare_texts(self, texts: Embedding) -> MessageParts:
        """Compute the queries and keys of the words."""
        return self.messages.text(texts.vectors)

    def meet(
        self, images: MessageParts, texts: MessageParts, *, grid: bool
    ) -> Float[Tensor, "*pair"]:
        """Average the messages of either side and compare."""
        v, w = broadcast_sides(images.vectors, texts.vectors, grid=grid)
        to_words, to_regions = self.messages.exchange(images, texts, grid=grid)
        heard = to_words.mean(dim=-2, keepdim=True) @ w, to_regions.mean(dim=-2, keepdim=True) @ v
        return (released_normalise(heard[0]) * released_normalise(heard[1])).sum(dim=-1)[..., 0]

    def alignment(self, images: MessageParts, texts: MessageParts) -> Alignment:
        """Show the final weights of the messages."""
        to_words, to_regions = self.messages.exchange(images, texts, grid=False)
        return Alignment(to_words[0], to_regions[0])
