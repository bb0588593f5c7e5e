import numpy as np
import pytest
import torch
from torch import nn

from deixis.data.simulated.scenes.colour_decoys import ColourCase
from deixis.encoders.encoder import Encoder
from deixis.errors import EvaluationError
from deixis.evaluation.probes.dropped_attribute import dropped_attribute
from deixis.features.trace.narration import Narration, Point
from deixis.features.words.vocabulary import Vocabulary
from deixis.methods.model import Model
from deixis.similarity.similarity import Cosine
from deixis.types import Embedding, Regions, Tokens


class Stub(Encoder):
    def __init__(self) -> None:
        nn.Module.__init__(self)


class Pictures(Stub):
    def forward(self, batch: Regions) -> Embedding:
        return Embedding(batch.values[:, :1], batch.mask[:, :1])


class Words(Stub):
    """Likes the picture's vector, unless the trace is large; then it likes the decoy's."""

    def forward(self, batch: Tokens) -> Embedding:
        large = batch.trace.boxes[..., 4].amax(dim=1, keepdim=True) > 0.5
        likes = torch.where(large, torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 0.0]]))
        return Embedding(likes.unsqueeze(1), torch.ones(len(likes), 1, dtype=torch.bool))


def narration(side: float) -> Narration:
    return Narration("red boat", strokes=((Point(0.0, 0.0, 0.0), Point(side, side, 0.2)),))


def case(side: float) -> ColourCase:
    box = np.zeros((1, 5), dtype=np.float32)
    picture, decoy = np.array([[1.0, 0.0]], np.float32), np.array([[0.0, 1.0]], np.float32)
    return ColourCase(narration(0.1), narration(side), (picture, box), (decoy, box))


def test_what_a_large_stretch_loses_is_counted_of_what_was_kept():
    model = Model(Pictures(), Words(), Cosine())
    found = dropped_attribute(model, [case(0.9), case(0.2)], Vocabulary.count(["red boat"]))
    assert (found.asked, found.kept, found.kept_sprawling, found.dropped) == (2, 100, 50, 50)


def test_no_cases_are_refused():
    with pytest.raises(EvaluationError, match="no narration names a colour"):
        dropped_attribute(Model(Pictures(), Words(), Cosine()), [], Vocabulary.count(["a"]))
