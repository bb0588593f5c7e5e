"""The last states of a GRU."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def last_states(
    gru: nn.GRU, places: Float[Tensor, "item place size"], lengths: Int[Tensor, " item"]
) -> list[Float[Tensor, "item dim"]]:
    """The last state of each direction: forward at the last place, backward at the first.

    They are picked from the states of all places, where they stand too: a graph that takes the
    GRU's own last states and nothing else cannot be written as ONNX.
    """
    if not gru.bidirectional:
        # Padding comes after the end and changes nothing before it. Unpacked, a long sequence's
        # gradient costs a fraction: packed, each step's fills a matrix as large as all steps.
        return [state_at_end(gru(places)[0], lengths)]
    packed = pack_padded_sequence(places, lengths.cpu(), batch_first=True, enforce_sorted=False)
    states, _ = pad_packed_sequence(gru(packed)[0], batch_first=True)
    last = state_at_end(states, lengths)
    return [last[:, : gru.hidden_size], states[:, 0, gru.hidden_size :]]


def state_at_end(
    states: Float[Tensor, "item place dim"], lengths: Int[Tensor, " item"]
) -> Float[Tensor, "item dim"]:
    """The state at each item's last place."""
    items = torch.arange(states.shape[0], device=states.device)
    return states[items, lengths.to(states.device) - 1]
