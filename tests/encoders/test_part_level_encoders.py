"""The towers of SCAN and BFAN equal the published ones."""

import torch

from deixis.encoders.encoder import Encoder
from deixis.encoders.projection import Projection
from deixis.encoders.text.gru import GRU
from deixis.heads.all_parts import AllParts, UnitParts
from deixis.types import Regions, Tokens


def load(module: torch.nn.Module, arrays: dict) -> None:
    """Set parameters by name from arrays."""
    module.load_state_dict({key: torch.from_numpy(value) for key, value in arrays.items()})


def gru_of(arrays: dict) -> GRU:
    body = GRU(30, 10, 12, both_ways=True).double()
    names = {"weight_ih_l0": "Wx", "weight_hh_l0": "Wh", "bias_ih_l0": "bx", "bias_hh_l0": "bh"}
    weights = {f"gru.{ours}": arrays[f"fwd_{theirs}"] for ours, theirs in names.items()}
    weights |= {f"gru.{ours}_reverse": arrays[f"bwd_{theirs}"] for ours, theirs in names.items()}
    load(body, weights | {"embed.weight": arrays["embedding"]})
    return body


def test_regions_equal_the_published_ones(golden):
    arrays = golden("camp/scan_encoders")
    body = Projection(20, 12).double()
    load(body.linear, {"weight": arrays["image_fc_weight"], "bias": arrays["image_fc_bias"]})
    features = torch.from_numpy(arrays["region_features"]).double()
    regions = Regions(features, torch.ones(4, 5, dtype=torch.bool))
    for head, name in ((UnitParts(), ""), (AllParts(), "_unnormalised")):
        expected = torch.from_numpy(arrays[f"image_embedding{name}"])
        found = Encoder(body, head)(regions).vectors
        torch.testing.assert_close(found, expected, atol=1e-7, rtol=0)


def test_words_equal_the_published_ones(golden):
    arrays = golden("camp/scan_encoders")
    mask = torch.arange(7) < torch.from_numpy(arrays["caption_lengths"])[:, None]
    tokens = Tokens(torch.from_numpy(arrays["word_ids"]), mask)
    for head, name in ((UnitParts(), ""), (AllParts(), "_unnormalised")):
        found = Encoder(gru_of(arrays), head)(tokens)
        expected = torch.from_numpy(arrays[f"word_embedding{name}"])
        torch.testing.assert_close(found.vectors[mask], expected[mask], atol=1e-7, rtol=0)


def test_words_of_unsorted_lengths_equal_the_published_ones(golden):
    arrays = golden("aoq/bfan_text")
    body = GRU(15, 5, 8, both_ways=True).double()
    load(
        body,
        {
            k.replace("w__rnn__", "gru.").replace("w__embed__", "embed."): v
            for k, v in arrays.items()
            if k.startswith("w__")
        },
    )
    mask = torch.arange(7) < torch.from_numpy(arrays["lengths"])[:, None]
    found = Encoder(body, UnitParts())(Tokens(torch.from_numpy(arrays["ids"]), mask))
    expected = torch.from_numpy(arrays["out"])
    torch.testing.assert_close(found.vectors[mask], expected[mask], atol=1e-7, rtol=0)


def test_word_vectors_start_as_wide_as_asked():
    for spread in (0.1, 1.7):
        widest = GRU(50, 40, 4, both_ways=True, spread=spread).embed.weight.abs().max().item()
        assert 0.9 * spread < widest <= spread
