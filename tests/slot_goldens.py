"""Slot heads with the weights of a golden file, and the published errors they may have."""

import torch

from deixis.heads.sine_positions import text_positions
from deixis.heads.slots import Slots, SlotShape

NAMES = {
    "start.slots": "init_slots",
    "slot_norm": "ln_slot",
    "place_norm": "ln_input",
    "query.weight": "q_w",
    "key.weight": "k_w",
    "value.weight": "v_w",
    "out": "out",
    "feed.0": "ln_ff",
    "feed.1": "ff1",
    "feed.4": "ff2",
    "last_norm": "ln_last",
    "whole_norm": "ln_global",
}


class LeakySlots(Slots):
    """The published mask: each padded place gives 1/K to every slot."""

    def mask_attention(self, attention, mask):
        return attention.masked_fill(~mask[:, None, None, :], 1.0 / attention.shape[2])


def padded_line_codes(mask, width, boxes=None):
    """The published text codes: scaled by the longest text of the batch."""
    return text_positions(torch.ones_like(mask), width)


def tensors(arrays) -> dict[str, torch.Tensor]:
    return {key: torch.from_numpy(array) for key, array in arrays.items()}


def load_slots(head: Slots, golden: dict[str, torch.Tensor]) -> Slots:
    state = {}
    for ours, theirs in NAMES.items():
        if theirs in golden:
            state[ours] = golden[theirs]
        else:
            state[f"{ours}.weight"] = golden[f"{theirs}_w"]
            state[f"{ours}.bias"] = golden[f"{theirs}_b"]
    missing, unexpected = head.load_state_dict(state, strict=False)
    assert not unexpected
    assert all(key.startswith("whole.") for key in missing)
    return head.eval()


def shape_of(golden: dict[str, torch.Tensor], iterations: int) -> SlotShape:
    parts, dim = golden["init_slots"].shape
    return SlotShape(dim=dim, parts=parts, iterations=iterations)
