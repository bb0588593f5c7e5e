"""Label-wise methods mask, share, hide and start as they say."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch.nn.functional import cross_entropy

from deixis.errors import RecipeError
from deixis.losses.label_losses import LabelCrossEntropy
from deixis.losses.masked_prediction import MaskedPrediction
from deixis.methods.dscmr import DSCMR
from deixis.methods.label_baselines import Consistency, Independent
from deixis.methods.model import Model
from deixis.methods.semantic_sharing import SemanticSharing
from deixis.runs.matcher import Matcher, load
from deixis.runs.run_config import RunConfig
from deixis.types import Batch, MaskedInputs, Regions, Sizes, Tokens
from made import made_dataset

SMALL = {"dim": 16, "word_dim": 8, "heads": 2, "layers": 2, "inner": 24, "dropout": 0.0}
SIZES = Sizes(region=6, vocabulary=20, labels=5)


def batch_of(images=4, texts=6, regions=5, words=7, seed=0):
    random = torch.Generator().manual_seed(seed)
    region_mask = torch.arange(regions) < torch.randint(
        2, regions + 1, (images, 1), generator=random
    )
    word_mask = torch.arange(words) < torch.randint(3, words + 1, (texts, 1), generator=random)
    owners = torch.arange(texts) % images
    labels = (torch.rand(images, 5, generator=random) < 0.4).float()
    return Batch(
        Regions(torch.randn(images, regions, 6, generator=random), region_mask),
        Tokens(torch.randint(5, 20, (texts, words), generator=random), word_mask),
        owners == torch.arange(images).unsqueeze(1),
        labels,
        labels[owners],
    )


METHODS = {
    "sharing": SemanticSharing(**SMALL, consistency=0.1),
    "sharing, place by place": SemanticSharing(**SMALL, labels_from="places"),
    "independent": Independent(**SMALL),
    "consistency": Consistency(**SMALL),
    "dscmr": DSCMR(dim=16, hidden=12, word_dim=8),
}


@pytest.mark.parametrize("name", METHODS)
def test_padding_changes_neither_terms_nor_gradients(name):
    seen = []
    for extra in (0, 3):
        torch.manual_seed(0)
        model, objective = METHODS[name].model(SIZES), METHODS[name].objective(SIZES)
        terms = objective(model(padded(batch_of(), extra)), 0)
        sum(terms.values()).backward()
        grads = [torch.zeros(1) if p.grad is None else p.grad for p in model.parameters()]
        seen.append((terms, grads))
    assert any(gradient.abs().sum() > 0 for gradient in seen[0][1])
    for key, term in seen[0][0].items():
        torch.testing.assert_close(seen[1][0][key], term)
    for one, other in zip(seen[0][1], seen[1][1], strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-4)


def padded(batch, extra):
    def wider(tensor, filler):
        wide = tensor.new_full((tensor.shape[0], extra, *tensor.shape[2:]), filler)
        return torch.cat([tensor, wide], dim=1)

    images = Regions(wider(batch.images.values, 7.0), wider(batch.images.mask, False))
    texts = Tokens(wider(batch.texts.ids, 3), wider(batch.texts.mask, False))
    return replace(batch, images=images, texts=texts)


def test_sharing_has_one_transformer_and_one_classifier_independent_two():
    shared, apart = SemanticSharing(**SMALL).model(SIZES), Independent(**SMALL).model(SIZES)
    assert shared.image.body.transformer is shared.text.body.transformer
    assert shared.image.head is shared.text.head
    own = {id(p) for p in apart.image.parameters()} & {id(p) for p in apart.text.parameters()}
    assert not own


def test_the_entropy_of_an_item_is_that_of_all_its_labels():
    """Were it a mean over labels, other terms would outweigh it the more labels there are."""
    model, batch = Independent(**SMALL).model(SIZES), batch_of()
    out = model(batch)
    predicted = torch.cat([out.images.labels, out.texts.labels]).sigmoid()
    true = torch.cat([batch.labels, batch.labels[torch.arange(6) % 4]])
    likelihood = torch.where(true > 0, predicted, 1 - predicted).prod(dim=1)
    assert LabelCrossEntropy()(out, 0).item() == pytest.approx(
        -likelihood.log().mean().item(), abs=1e-5
    )


def test_a_text_has_the_labels_of_its_own_image_though_it_fits_another():
    made = made_dataset(images=3, texts_per_image=1)
    pairs = np.array([[0, 0], [1, 1], [2, 2], [1, 0]])
    corpus = replace(made.corpus, labels=np.eye(3, dtype=bool), pairs=pairs)
    batch = replace(made, corpus=corpus).batch(np.array([0, 1, 2]), np.array([0, 2]))
    assert batch.text_labels.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert batch.positives.tolist() == [[True, False], [True, False], [False, True]]


def masked_outputs(model: Model, share: float):
    batch = batch_of()
    random = torch.Generator().manual_seed(1)
    regions = batch.images.mask & (torch.rand(4, 5, generator=random) < share)
    words = batch.texts.mask & (torch.rand(6, 7, generator=random) < share)
    hidden = MaskedInputs(regions, batch.images.values, words, batch.texts.ids)
    images = Regions(batch.images.values.masked_fill(regions.unsqueeze(2), 0), batch.images.mask)
    texts = Tokens(batch.texts.ids.masked_fill(words, 4), batch.texts.mask)
    return model(replace(batch, images=images, texts=texts, masked=hidden)), words


def test_a_masked_word_is_predicted_by_the_entropy_of_logits():
    torch.manual_seed(0)
    model, loss = SemanticSharing(**SMALL).model(SIZES), MaskedPrediction(16, 6, 20)
    out, words = masked_outputs(model, 0.4)
    torch.nn.init.zeros_(loss.region.weight)
    torch.nn.init.zeros_(loss.region.bias)
    hidden = int(out.batch.masked.regions.sum())
    logits = loss.word(out.texts.places[words])
    wanted = cross_entropy(logits, out.batch.masked.ids[words]) + np.log(hidden)
    assert loss(out, 0).item() == pytest.approx(wanted.item(), abs=1e-5)


def test_a_batch_that_hides_nothing_costs_nothing_and_one_without_is_refused():
    model, loss = SemanticSharing(**SMALL).model(SIZES), MaskedPrediction(16, 6, 20)
    assert loss(masked_outputs(model, 0.0)[0], 0).item() == 0.0
    with pytest.raises(RecipeError, match="train.mask"):
        loss(model(batch_of()), 0)


def test_a_corpus_without_labels_is_refused():
    with pytest.raises(RecipeError, match="labels"):
        SemanticSharing(**SMALL).model(Sizes(region=6, vocabulary=20))


def bert(path, layers=2, width=16, inner=24):
    state = {}
    for n in range(layers):
        here = f"bert.encoder.layer.{n}."
        for name in ("attention.self.query", "attention.self.key", "attention.self.value"):
            state[f"{here}{name}.weight"] = torch.randn(width, width)
            state[f"{here}{name}.bias"] = torch.randn(width)
        state[f"{here}attention.output.dense.weight"] = torch.randn(width, width)
        state[f"{here}attention.output.dense.bias"] = torch.randn(width)
        state[f"{here}intermediate.dense.weight"] = torch.randn(inner, width)
        state[f"{here}intermediate.dense.bias"] = torch.randn(inner)
        state[f"{here}output.dense.weight"] = torch.randn(width, inner)
        state[f"{here}output.dense.bias"] = torch.randn(width)
    save_file(state, path)
    return state


@pytest.mark.parametrize("kind", [SemanticSharing, Independent])
def test_transformers_start_from_the_first_layers_of_bert(kind, tmp_path):
    state = bert(tmp_path / "bert.safetensors", layers=3)
    model = kind(**SMALL, bert=str(tmp_path / "bert.safetensors")).model(SIZES)
    key = "bert.encoder.layer.1.attention.self.key.weight"
    for side in (model.image, model.text):
        layer = side.body.transformer.layers[1]
        assert torch.equal(layer.self_attn.in_proj_weight[16:32], state[key])
        assert torch.equal(layer.linear2.weight, state["bert.encoder.layer.1.output.dense.weight"])


@pytest.mark.parametrize(
    ("changed", "message"), [({"layers": 1}, "fewer layers"), ({"width": 8}, "the model wants")]
)
def test_a_checkpoint_that_does_not_fit_is_refused(changed, message, tmp_path):
    bert(tmp_path / "bert.safetensors", **changed)
    with pytest.raises(RecipeError, match=message):
        SemanticSharing(**SMALL, bert=str(tmp_path / "bert.safetensors")).model(SIZES)


def test_a_model_with_a_shared_part_is_saved_and_loaded(tmp_path):
    options = {"name": "semantic_sharing", **SMALL}
    model = SemanticSharing(**SMALL).model(SIZES)
    Matcher(model, RunConfig(options, SIZES, "lite0", "minilm"), None).save(tmp_path)
    again = load(tmp_path).model
    assert again.image.body.transformer is again.text.body.transformer
    for key, value in model.state_dict().items():
        assert torch.equal(again.state_dict()[key], value), key
