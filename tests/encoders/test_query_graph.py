import numpy as np
import onnxruntime
import pytest
import torch

from deixis.encoders.query_graph import query_graph
from deixis.errors import RecipeError
from deixis.methods.model import Sizes
from deixis.methods.text_trace import TextTrace
from deixis.types import Tokens, Trace

SIZES = Sizes(region=6, vocabulary=20)


@pytest.mark.parametrize("normalise", [True, False])
def test_the_graph_gives_the_vector_of_the_tower(normalise):
    wanted, found = both_vectors(normalise=normalise)
    assert np.allclose(found, wanted, atol=1e-5)


def test_eight_bits_give_nearly_the_vector_of_the_tower():
    wanted, found = both_vectors(eight_bits=True)
    assert 0.99 < float(wanted @ found) < 1 - 1e-7


def both_vectors(eight_bits: bool = False, normalise: bool = False):
    torch.manual_seed(0)
    method = TextTrace(dim=64, word_dim=8, heads=2, query_depth=2, normalise=normalise)
    tower = method.model(SIZES).text.eval()
    ids, boxes = torch.randint(0, 20, (1, 7)), torch.rand(1, 4, 5)
    trace = Trace(
        boxes,
        torch.ones(1, 4, dtype=torch.bool),
        torch.zeros(1, 4, 2),
        torch.full((1, 4), -1),
    )
    with torch.no_grad():
        wanted = tower(Tokens(ids, torch.ones(1, 7, dtype=torch.bool), trace=trace)).vectors[:, 0]
    graph = query_graph(tower, eight_bits=eight_bits)
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    fed = {"ids": ids.numpy().astype(np.int32), "boxes": boxes.numpy()}
    return wanted[0].numpy(), session.run(["vector"], fed)[0][0]


@pytest.mark.parametrize("options", [{"fusion": "word"}, {"position": "time"}])
def test_another_tower_is_refused(options):
    tower = TextTrace(dim=16, word_dim=8, heads=2, query_depth=1, **options).model(SIZES).text
    with pytest.raises(RecipeError, match="only the published query tower"):
        query_graph(tower)
