"""Label-wise methods equal the published code where it is right."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch.nn.functional import cross_entropy

from deixis.encoders.gru import GRU
from deixis.encoders.project import Project
from deixis.encoders.shared import Transformer
from deixis.errors import RecipeError
from deixis.heads.labels import PlaceLabels
from deixis.losses.labels import LabelAgreement, true_labels
from deixis.losses.masked import Masked
from deixis.methods.dscmr import DSCMR
from deixis.methods.label_baselines import Consistency, Independent
from deixis.methods.matcher import Matcher, RunConfig, load
from deixis.methods.model import Model, Sizes
from deixis.methods.semantic_sharing import SemanticSharing
from deixis.types import Batch, Embedding, Hidden, Outputs, Regions, Tokens

SMALL = {"dim": 16, "word_dim": 8, "heads": 2, "layers": 2, "inner": 24, "dropout": 0.0}
SIZES = Sizes(region=6, vocabulary=20, labels=5)


class PublishedNorm(torch.nn.Module):
    """The published code's layer norm: unbiased deviation, epsilon added to it."""

    def __init__(self, weight, bias):
        super().__init__()
        self.weight, self.bias = weight, bias

    def forward(self, x):
        spread = x.std(dim=-1, keepdim=True) + 1e-6
        return self.weight * (x - x.mean(dim=-1, keepdim=True)) / spread + self.bias


def weights(arrays, prefix):
    return {
        key.removeprefix(prefix).replace("__", "."): torch.from_numpy(value)
        for key, value in arrays.items()
        if key.startswith(prefix)
    }


def published_transformer(arrays):
    found = weights(arrays, "t__encoder__")
    ours = Transformer(8, 2, 2, 12, 0.0).double().eval()
    for number, block in enumerate(ours.blocks):
        here = f"layers.{number}."
        linears = [f"{here}self_attn.linears.{n}." for n in range(4)]
        attention = block.attention
        attention.in_proj_weight.data = torch.cat([found[f"{x}weight"] for x in linears[:3]])
        attention.in_proj_bias.data = torch.cat([found[f"{x}bias"] for x in linears[:3]])
        attention.out_proj.weight.data = found[f"{linears[3]}weight"]
        attention.out_proj.bias.data = found[f"{linears[3]}bias"]
        for name, layer in (("w_1", block.inner), ("w_2", block.outer)):
            layer.weight.data = found[f"{here}feed_forward.{name}.weight"]
            layer.bias.data = found[f"{here}feed_forward.{name}.bias"]
        norms = [f"{here}sublayer.{n}.norm." for n in (0, 1)]
        block.before_attention, block.before_inner = (
            PublishedNorm(found[f"{x}a_2"], found[f"{x}b_2"]) for x in norms
        )
    ours.norm = PublishedNorm(found["norm.a_2"], found["norm.b_2"])
    return ours


def everything(count, places):
    return torch.ones(count, places, dtype=torch.bool)


@pytest.fixture
def told(golden):
    """Our transformer, head and loss with the published weights and norm."""
    arrays = golden("aoq/labelwise_net")
    transformer = published_transformer(arrays)
    classifier = torch.nn.Linear(8, 3).double()
    classifier.load_state_dict(weights(arrays, "b__fc_predict__"))
    head, sides = PlaceLabels(classifier), []
    for name in ("x_img", "x_txt"):
        places = transformer(torch.from_numpy(arrays[name]), everything(3, 5))
        sides.append(head(places, everything(3, 5)))
    labels = torch.from_numpy(arrays["labels"])
    regions = Regions(torch.zeros(3, 5, 1), everything(3, 5))
    tokens = Tokens(torch.zeros(3, 5, dtype=torch.long), everything(3, 5))
    batch = Batch(regions, tokens, torch.eye(3) > 0, labels)
    return arrays, Outputs(*sides, torch.zeros(3, 3), batch)


def test_the_transformer_equals_the_published_one(told):
    arrays, out = told
    for side, name in ((out.images, "enc_img"), (out.texts, "enc_txt")):
        torch.testing.assert_close(side.local, torch.from_numpy(arrays[name]))


def test_labels_told_place_by_place_equal_the_published_ones(told):
    arrays, out = told
    for side, name in ((out.images, "pred_img"), (out.texts, "pred_txt")):
        pooled = torch.from_numpy(arrays[name]).mean(dim=1)
        torch.testing.assert_close(side.vectors[:, 0], pooled, atol=1e-5, rtol=0)


def test_the_agreement_loss_equals_the_published_label_loss(told):
    arrays, out = told
    assert LabelAgreement()(out, 0).item() == pytest.approx(arrays["loss_1"].item(), abs=1e-5)


def test_the_published_masked_loss_is_entropy_of_sigmoids_where_ours_is_of_logits(told):
    """Its arrays record the error; the same states and weights give ours another, true entropy."""
    arrays, out = told
    published, ours = 0.0, 0.0
    for side, name, layer in ((out.images, "img", "fc_MOC"), (out.texts, "txt", "fc_MLM")):
        linear = torch.nn.Linear(8, len(arrays[f"b__{layer}__bias"])).double()
        linear.load_state_dict(weights(arrays, f"b__{layer}__"))
        item, place = torch.from_numpy(arrays[f"mask_{name}_pos"]).T
        logits = linear(side.local[item, place])
        torch.testing.assert_close(
            logits.sigmoid(), torch.from_numpy(arrays[f"mask_{name}_logits"]), atol=1e-5, rtol=0
        )
        classes = torch.from_numpy(arrays[f"mask_{name}_cls"])
        published += cross_entropy(logits.sigmoid(), classes).item()
        ours += cross_entropy(logits, classes).item()
    total = arrays["loss_1"].item() + float(arrays["beta_mask"]) * published
    assert total == pytest.approx(arrays["loss_12"].item(), abs=1e-5)
    assert abs(ours - published) > 0.01


def test_the_fronts_equal_the_published_ones(golden):
    arrays = golden("aoq/labelwise_front")
    project = Project(10, 8).double()
    project.linear.load_state_dict(weights(arrays, "i__fc__"))
    box = torch.nn.Linear(5, 8).double()
    box.load_state_dict(weights(arrays, "i__box_fc__"))
    images = Regions(torch.from_numpy(arrays["img"]), everything(3, 5))
    found = (project(images)[0] + 1e-4 * box(torch.from_numpy(arrays["box"]))) / 2
    torch.testing.assert_close(found, torch.from_numpy(arrays["img_out"]), atol=1e-5, rtol=0)
    gru = GRU(15, 5, 8, both_ways=True).double()
    state = weights(arrays, "t__")
    row = state.pop("position_row0")
    gru.load_state_dict({key.replace("rnn", "gru"): value for key, value in state.items()})
    mask = torch.arange(7) < torch.from_numpy(arrays["lengths"]).unsqueeze(1)
    words, _ = gru(Tokens(torch.from_numpy(arrays["ids"]), mask))
    published = torch.from_numpy(arrays["txt_out"])
    torch.testing.assert_close((words + 1e-5 * row) / 2, published, atol=1e-5, rtol=0)


@pytest.fixture
def dscmr(golden):
    arrays = golden("aoq/dscmr_single")
    method = DSCMR(dim=4, hidden=6, alike="count")
    model = method.model(Sizes(region=7, token=5, labels=3)).double()
    names = {
        "img_net.denseL1": model.image.body.linear,
        "text_net.denseL1": model.text.body.linear,
        "linearLayer": model.image.head.layer,
        "linearLayer2": model.image.head.classifier,
    }
    found = weights(arrays, "w__")
    for name, layer in names.items():
        layer.load_state_dict({k: found[f"{name}.{k}"] for k in ("weight", "bias")})
    one = everything(9, 1)
    ids = torch.zeros(9, 1, dtype=torch.long)
    batch = Batch(
        Regions(torch.from_numpy(arrays["img"]).unsqueeze(1), one),
        Tokens(ids, one, torch.from_numpy(arrays["txt"]).unsqueeze(1)),
        torch.eye(9) > 0,
        torch.from_numpy(arrays["labels"]),
    )
    return arrays, model, method.objective(Sizes(labels=3)), batch


def test_dscmr_equals_the_published_code(dscmr):
    arrays, model, objective, batch = dscmr
    out = model(batch)
    for side, v, p in ((out.images, "v1", "p1"), (out.texts, "v2", "p2")):
        torch.testing.assert_close(side.residual[:, 0], torch.from_numpy(arrays[v]))
        torch.testing.assert_close(side.labels + 0.5, torch.from_numpy(arrays[p]))
    terms = objective(out, 0)
    assert terms["labels"].item() == pytest.approx(float(arrays["J1"]), abs=1e-9)
    assert terms["pairs"].item() == pytest.approx(1e-3 * float(arrays["J2"]), abs=1e-9)
    assert terms["distance"].item() == pytest.approx(0.1 * float(arrays["J3"]), abs=1e-9)
    total = sum(terms.values())
    assert total.item() == pytest.approx(float(arrays["loss"]), abs=1e-9)
    total.backward()
    head = model.image.head
    torch.testing.assert_close(head.layer.weight.grad, torch.from_numpy(arrays["g_linear"]))
    torch.testing.assert_close(head.classifier.weight.grad, torch.from_numpy(arrays["g_cls"]))


def batch_of(images=4, texts=6, regions=5, words=7, seed=0):
    random = torch.Generator().manual_seed(seed)
    region_mask = torch.arange(regions) < torch.randint(
        2, regions + 1, (images, 1), generator=random
    )
    word_mask = torch.arange(words) < torch.randint(3, words + 1, (texts, 1), generator=random)
    positives = torch.arange(texts) % images == torch.arange(images).unsqueeze(1)
    return Batch(
        Regions(torch.randn(images, regions, 6, generator=random), region_mask),
        Tokens(torch.randint(5, 20, (texts, words), generator=random), word_mask),
        positives,
        (torch.rand(images, 5, generator=random) < 0.4).float(),
    )


METHODS = {
    "sharing": SemanticSharing(**SMALL, consistency=0.1),
    "sharing, place by place": SemanticSharing(**SMALL, told="places"),
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
    return Batch(images, texts, batch.positives, batch.labels)


def test_sharing_has_one_transformer_and_one_classifier_independent_two():
    shared, apart = SemanticSharing(**SMALL).model(SIZES), Independent(**SMALL).model(SIZES)
    assert shared.image.body.transformer is shared.text.body.transformer
    assert shared.image.head is shared.text.head
    own = {id(p) for p in apart.image.parameters()} & {id(p) for p in apart.text.parameters()}
    assert not own


def test_a_text_has_the_labels_of_its_images():
    labels = torch.tensor([[1.0, 0, 0], [0, 1, 0]])
    batch = batch_of(images=2, texts=3)
    positives = torch.tensor([[True, False, True], [False, True, True]])
    batch = Batch(batch.images, batch.texts, positives, labels)
    alone = everything(2, 1)
    blank = Embedding(torch.zeros(2, 1, 3), alone)
    out = Outputs(
        blank, Embedding(torch.zeros(3, 1, 3), everything(3, 1)), torch.zeros(2, 3), batch
    )
    assert true_labels(out)[2:].tolist() == [[1, 0, 0], [0, 1, 0], [1, 1, 0]]


def masked_outputs(model: Model, share: float):
    batch = batch_of()
    random = torch.Generator().manual_seed(1)
    regions = batch.images.mask & (torch.rand(4, 5, generator=random) < share)
    words = batch.texts.mask & (torch.rand(6, 7, generator=random) < share)
    hidden = Hidden(regions, batch.images.values, words, batch.texts.ids)
    images = Regions(batch.images.values.masked_fill(regions.unsqueeze(2), 0), batch.images.mask)
    texts = Tokens(batch.texts.ids.masked_fill(words, 4), batch.texts.mask)
    return model(Batch(images, texts, batch.positives, batch.labels, hidden=hidden)), words


def test_a_hidden_word_is_told_by_the_entropy_of_logits():
    torch.manual_seed(0)
    model, loss = SemanticSharing(**SMALL).model(SIZES), Masked(16, 6, 20)
    out, words = masked_outputs(model, 0.4)
    torch.nn.init.zeros_(loss.region.weight)
    torch.nn.init.zeros_(loss.region.bias)
    hidden = int(out.batch.hidden.regions.sum())
    logits = loss.word(out.texts.local[words])
    wanted = cross_entropy(logits, out.batch.hidden.ids[words]) + np.log(hidden)
    assert loss(out, 0).item() == pytest.approx(wanted.item(), abs=1e-5)


def test_a_batch_that_hides_nothing_costs_nothing_and_one_without_is_refused():
    model, loss = SemanticSharing(**SMALL).model(SIZES), Masked(16, 6, 20)
    assert loss(masked_outputs(model, 0.0)[0], 0).item() == 0.0
    with pytest.raises(RecipeError, match="hide"):
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


def test_the_transformer_starts_from_the_first_layers_of_bert(tmp_path):
    state = bert(tmp_path / "bert.safetensors", layers=3)
    method = SemanticSharing(**SMALL, bert=str(tmp_path / "bert.safetensors"))
    block = method.model(SIZES).image.body.transformer.blocks[1]
    key = "bert.encoder.layer.1.attention.self.key.weight"
    assert torch.equal(block.attention.in_proj_weight[16:32], state[key])
    assert torch.equal(block.outer.weight, state["bert.encoder.layer.1.output.dense.weight"])


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
    Matcher(model, RunConfig(options, SIZES, "lite0", "words"), None).save(tmp_path)
    again = load(tmp_path).model
    assert again.image.body.transformer is again.text.body.transformer
    for key, value in model.state_dict().items():
        assert torch.equal(again.state_dict()[key], value), key
