"""GPO: the generalised pooling operator of VSE∞, which learns how to weigh sorted values."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from deixis.heads.pooling import SingleVector

POSITION_DIM = 32
TEMPERATURE = 0.1


class GPO(SingleVector):
    """Sort each dimension over the places, then take a learned weighted sum.

    *Formula*: ``out_d = Σ_p θ_p · (p-th largest value of dimension d)``, where θ is a softmax over
    positions of a small two-way GRU's scores of sine codes; θ depends on the number of places only.
    *Relations*: θ = (1, 0, …) is ``MaxPool``; θ uniform is ``MeanPool``.
    *Paper*: VSE∞ (Chen et al., 2021), section 3.3. Padding is left out by length here; the
    published code pushes it down by −10,000, which gives the same result.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(POSITION_DIM, POSITION_DIM, batch_first=True, bidirectional=True)
        self.score = nn.Linear(POSITION_DIM, 1, bias=False)

    def pool(
        self, places: Float[Tensor, "item place dim"], mask: Bool[Tensor, "item place"]
    ) -> Float[Tensor, "item dim"]:
        """Weigh the sorted values of every dimension."""
        lengths = mask.sum(dim=1).clamp(min=1)
        hidden = places.masked_fill(~mask.unsqueeze(2), float("-inf"))
        ordered = hidden.sort(dim=1, descending=True).values
        # A weight of zero times minus infinity is NaN, so padding becomes zero again first.
        beyond = torch.arange(places.shape[1], device=places.device) >= lengths.unsqueeze(1)
        ordered = ordered.masked_fill(beyond.unsqueeze(2), 0.0)
        return (ordered * self.weights(lengths, places.shape[1]).unsqueeze(2)).sum(dim=1)

    def weights(self, lengths: Int[Tensor, " item"], places: int) -> Float[Tensor, "item place"]:
        """How much each place in the order counts; computed once for each length in the batch."""
        kinds, which = lengths.unique(return_inverse=True)
        if torch.onnx.is_in_onnx_export():  # which cannot follow unique lengths into a GRU
            kinds, which = lengths, torch.arange(lengths.shape[0])
        codes = position_code(places, lengths.device).expand(kinds.shape[0], -1, -1)
        packed = pack_padded_sequence(codes, kinds.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=places)
        forward, backward = states.chunk(2, dim=2)
        scores = self.score((forward + backward) / 2).squeeze(2) / TEMPERATURE
        beyond = torch.arange(places, device=lengths.device) >= kinds.unsqueeze(1)
        return scores.masked_fill(beyond, float("-inf")).softmax(dim=1)[which]


def position_code(places: int, device: torch.device) -> Float[Tensor, "place code"]:
    """Sine and cosine of each position, interleaved, at sixteen wavelengths up to 10,000."""
    even = torch.arange(0, POSITION_DIM, 2, device=device, dtype=torch.float32)
    position = torch.arange(places, device=device, dtype=torch.float32)
    angle = position.unsqueeze(1) * 10000.0 ** (-even / POSITION_DIM)
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)
