"""Label-wise methods equal the published code where it is right."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from deixis.encoders.projection import Projection
from deixis.encoders.shared_transformer import SharedTransformer
from deixis.encoders.text.gru import GRU
from deixis.heads.label_scores import PlaceLabels
from deixis.losses.label_losses import LabelAgreement
from deixis.methods.dscmr import DSCMR
from deixis.types import Batch, Outputs, Regions, Sizes, Tokens


class PublishedNorm(torch.nn.Module):
    """The published code's layer norm: unbiased deviation, epsilon added to it."""

    def __init__(self, weight, bias):
        super().__init__()
        self.weight, self.bias, self.eps = weight, bias, 1e-6

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
    ours = SharedTransformer(8, 2, 2, 12, 0.0).double().eval()
    for number, layer in enumerate(ours.layers):
        here = f"layers.{number}."
        linears = [f"{here}self_attn.linears.{n}." for n in range(4)]
        attention = layer.self_attn
        attention.in_proj_weight.data = torch.cat([found[f"{x}weight"] for x in linears[:3]])
        attention.in_proj_bias.data = torch.cat([found[f"{x}bias"] for x in linears[:3]])
        attention.out_proj.weight.data = found[f"{linears[3]}weight"]
        attention.out_proj.bias.data = found[f"{linears[3]}bias"]
        for name, linear in (("w_1", layer.linear1), ("w_2", layer.linear2)):
            linear.weight.data = found[f"{here}feed_forward.{name}.weight"]
            linear.bias.data = found[f"{here}feed_forward.{name}.bias"]
        norms = [f"{here}sublayer.{n}.norm." for n in (0, 1)]
        layer.norm1, layer.norm2 = (
            PublishedNorm(found[f"{x}a_2"], found[f"{x}b_2"]) for x in norms
        )
    ours.norm = PublishedNorm(found["norm.a_2"], found["norm.b_2"])
    return ours


def everything(count, places):
    return torch.ones(count, places, dtype=torch.bool)


@pytest.fixture
def outputs(golden):
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
    batch = Batch(regions, tokens, torch.eye(3) > 0, labels, labels)
    return arrays, Outputs(*sides, torch.zeros(3, 3), batch)


def test_the_transformer_equals_the_published_one(outputs):
    arrays, out = outputs
    for side, name in ((out.images, "enc_img"), (out.texts, "enc_txt")):
        torch.testing.assert_close(side.places, torch.from_numpy(arrays[name]))


def test_labels_predicted_per_place_equal_the_published_ones(outputs):
    arrays, out = outputs
    for side, name in ((out.images, "pred_img"), (out.texts, "pred_txt")):
        pooled = torch.from_numpy(arrays[name]).mean(dim=1)
        torch.testing.assert_close(side.vectors[:, 0], pooled, atol=1e-5, rtol=0)


def test_the_agreement_loss_equals_the_published_label_loss(outputs):
    arrays, out = outputs
    assert LabelAgreement()(out, 0).item() == pytest.approx(arrays["loss_1"].item(), abs=1e-5)


def test_the_published_masked_loss_is_entropy_of_sigmoids_where_ours_is_of_logits(outputs):
    """Its arrays record the error; the same states and weights give ours another, true entropy."""
    arrays, out = outputs
    published, ours = 0.0, 0.0
    for side, name, layer in ((out.images, "img", "fc_MOC"), (out.texts, "txt", "fc_MLM")):
        linear = torch.nn.Linear(8, len(arrays[f"b__{layer}__bias"])).double()
        linear.load_state_dict(weights(arrays, f"b__{layer}__"))
        item, place = torch.from_numpy(arrays[f"mask_{name}_pos"]).T
        logits = linear(side.places[item, place])
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
    project = Projection(10, 8).double()
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
        *[torch.from_numpy(arrays["labels"])] * 2,
    )
    return arrays, model, method.objective(Sizes(labels=3)), batch


def test_dscmr_equals_the_published_code(dscmr):
    arrays, model, objective, batch = dscmr
    out = model(batch)
    for side, v, p in ((out.images, "v1", "p1"), (out.texts, "v2", "p2")):
        torch.testing.assert_close(side.representation, torch.from_numpy(arrays[v]))
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
