"""Where a GRU ends."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def ends(
    gru: nn.GRU, places: Float[Tensor, "item place size"], lengths: Int[Tensor, " item"]
) -> list[Float[Tensor, "item dim"]]:
    """The last state of each direction: forward at the last place, backward at the first.

    They are picked from the states of all places, where they stand too: a graph that takes the
    GRU's own last states and nothing else cannot be written as ONNX.
    """
    packed = pack_padded_sequence(places, lengths.cpu(), batch_first=True, enforce_sorted=False)
    states, _ = pad_packed_sequence(gru(packed)[0], batch_first=True)
    items = torch.arange(states.shape[0], device=states.device)
    last = states[items, lengths.to(states.device) - 1]
    if not gru.bidirectional:
        return [last]
    return [last[:, : gru.hidden_size], states[:, 0, gru.hidden_size :]]
