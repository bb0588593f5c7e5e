"""The transformer's layer computes what torch's does, and exports where torch's cannot."""

import warnings

import numpy as np
import pytest
import torch
from onnxruntime import InferenceSession
from onnxruntime.capi.onnxruntime_pybind11_state import Fail
from torch import nn

from deixis.encoders.transformer import SelfAttentionLayer

NAMES = {  # ours, and torch's for the same weights
    "inward": "self_attn.in_proj_",
    "outward": "self_attn.out_proj.",
    "norm_attend": "norm1.",
    "norm_feed": "norm2.",
    "feed.0": "linear1.",
    "feed.3": "linear2.",
}


class TorchLayer(nn.Module):
    """Torch's own layer, which takes a mask of what is padding."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 32, 0.0, batch_first=True, norm_first=True)

    def forward(self, places, mask):
        return self.layer(places, src_key_padding_mask=~mask)


def example(places):
    mask = torch.ones(2, places, dtype=torch.bool)
    mask[1, -1] = False
    return torch.randn(2, places, 8, generator=torch.manual_seed(places)), mask


def session(layer, path):
    fused = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    axes = {0: "item", 1: "place"}
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                layer,
                example(5),
                str(path),
                dynamo=False,
                opset_version=17,
                input_names=["places", "mask"],
                dynamic_axes={"places": axes, "mask": axes},
            )
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)
    return InferenceSession(path)


def answer(graph, places, mask):
    return graph.run(None, {"places": places.numpy(), "mask": mask.numpy()})[0]


def test_the_layer_equals_torchs_own():
    ours, theirs = SelfAttentionLayer(8, 2, 0.0).eval(), TorchLayer().eval()
    state = {
        f"{NAMES[name.rpartition('.')[0]]}{name.rpartition('.')[2]}": value
        for name, value in ours.state_dict().items()
    }
    theirs.layer.load_state_dict(state)
    places, mask = example(5)
    assert torch.allclose(ours(places, mask)[mask], theirs(places, mask)[mask], atol=1e-6)


def test_a_graph_of_ours_takes_other_lengths(tmp_path):
    layer = SelfAttentionLayer(8, 2, 0.0).eval()
    graph = session(layer, tmp_path / "ours.onnx")
    for places in (5, 3, 7):
        wanted = layer(*example(places)).detach().numpy()
        assert np.allclose(answer(graph, *example(places)), wanted, atol=1e-5)


def test_a_graph_of_torchs_layer_takes_one_length_only(tmp_path):
    """The reason for a layer of our own: when this fails, torch's can take its place."""
    graph = session(TorchLayer().eval(), tmp_path / "torch.onnx")
    assert answer(graph, *example(5)).shape == (2, 5, 8)
    with pytest.raises(Fail):
        answer(graph, *example(7))
