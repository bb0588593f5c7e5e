"""VSRN equals the published code, and padding changes nothing in it."""

import pytest
import torch
from torch import nn

from deixis.data.batches.pairs import PairBatches
from deixis.encoders.encoder import Encoder
from deixis.encoders.image.relation_graph import RelationBlock, RelationGraph, ScaledOverRegions
from deixis.encoders.text.gru import GRU
from deixis.heads.gru_memory import GRUMemory
from deixis.heads.pooling import LastPool
from deixis.losses.captioning import Captioning
from deixis.methods.vsrn import VSRN
from deixis.types import Batch, Embedding, Outputs, Regions, Sizes, Tokens
from made import made_dataset

BLOCK = {"theta": "asks", "phi": "answers", "g": "brings", "W.0": "back", "W": "back"}


def weights(arrays, prefix):
    return {
        key.removeprefix(prefix).replace("__", "."): torch.from_numpy(value)
        for key, value in arrays.items()
        if key.startswith(prefix)
    }


def block_state(found):
    """The published names of a block as ours; a 1×1 convolution is a linear map."""
    state = {}
    for key, value in found.items():
        module, name = key.rsplit(".", 1)
        ours = "norm" if module == "W.1" else BLOCK[module]
        state[f"{ours}.{name}"] = value[..., 0] if value.ndim == 3 else value
    return state


@pytest.mark.parametrize("name", ["rs_gcn_square", "rs_gcn_narrow"])
@pytest.mark.parametrize("mode", ["eval", "train"])
def test_relations_equal_the_published_block_and_its_gradient(golden, name, mode):
    arrays = golden(f"aoq/{name}")
    width = arrays["w__g__weight"].shape[0]
    block = RelationBlock(12, width).double().train(mode == "train")
    block.load_state_dict(block_state(weights(arrays, "w__")))
    v = torch.from_numpy(arrays["v"]).transpose(1, 2).contiguous().requires_grad_()
    out = block(v, torch.ones(3, 7, dtype=torch.bool)).transpose(1, 2)
    torch.testing.assert_close(out, torch.from_numpy(arrays[f"out_{mode}"]))
    (out * torch.from_numpy(arrays["proj"])).sum().backward()
    gradient = torch.from_numpy(arrays[f"grad_v_{mode}"]).transpose(1, 2)
    torch.testing.assert_close(v.grad, gradient)
    if mode == "train":
        for key in ("mean", "var"):
            found = getattr(block.norm, f"running_{key}")
            torch.testing.assert_close(found, torch.from_numpy(arrays[f"new_running_{key}"]))


def test_relations_without_norm_equal_the_published_block(golden):
    arrays = golden("aoq/rs_gcn_nobn")
    block = RelationBlock(12, 12).double()
    block.norm = torch.nn.Identity()
    block.load_state_dict(block_state(weights(arrays, "w__")))
    v = torch.from_numpy(arrays["v"]).transpose(1, 2)
    out = block(v, torch.ones(2, 5, dtype=torch.bool)).transpose(1, 2)
    torch.testing.assert_close(out, torch.from_numpy(arrays["out"]))


def image_tower(arrays, graph_class, dataset):
    graph = graph_class(10, 8, blocks=4, scale_first=dataset == "coco")
    tower = Encoder(graph, GRUMemory(8, batch_norm=dataset == "f30k")).double()
    state = {}
    for number in range(4):
        for key, value in block_state(weights(arrays, f"w__Rs_GCN_{number + 1}__")).items():
            state[f"body.blocks.{number}.{key}"] = value
    renamed = {"fc": "body.project.linear", "img_rnn": "head.gru", "bn": "head.norm"}
    for published, ours in renamed.items():
        for key, value in weights(arrays, f"w__{published}__").items():
            state[f"{ours}.{key}"] = value
    tower.load_state_dict(state)
    return tower


@pytest.mark.parametrize("dataset", ["coco", "f30k"])
@pytest.mark.parametrize("mode", ["eval", "train"])
def test_the_image_tower_scaled_over_regions_equals_the_published_one(golden, dataset, mode):
    arrays = golden(f"aoq/vsrn_image_{dataset}")
    tower = image_tower(arrays, ScaledOverRegions, dataset).train(mode == "train")
    images = torch.from_numpy(arrays["images"])
    found = tower(Regions(images, torch.ones(4, 6, dtype=torch.bool)))
    torch.testing.assert_close(found.vectors[:, 0], torch.from_numpy(arrays[f"feat_{mode}"]))
    torch.testing.assert_close(found.places, torch.from_numpy(arrays[f"gcn_{mode}"]))


def test_ours_scales_each_region_over_its_features(golden):
    arrays = golden("aoq/vsrn_image_coco")
    tower = image_tower(arrays, RelationGraph, "coco").eval()
    found = tower(Regions(torch.from_numpy(arrays["images"]), torch.ones(4, 6, dtype=torch.bool)))
    lengths = found.places.norm(dim=2)
    torch.testing.assert_close(lengths, torch.ones_like(lengths))
    assert not torch.allclose(found.vectors[:, 0], torch.from_numpy(arrays["feat_eval"]), atol=1e-3)


def test_the_text_tower_equals_the_published_one(golden):
    arrays = golden("aoq/vsrn_text")
    tower = Encoder(GRU(15, 5, 8, both_ways=False), LastPool()).double()
    state = {f"body.{key.replace('rnn', 'gru')}": v for key, v in weights(arrays, "w__").items()}
    tower.load_state_dict(state)
    ids = torch.from_numpy(arrays["ids"])
    mask = torch.arange(7) < torch.from_numpy(arrays["lengths"]).unsqueeze(1)
    found = tower(Tokens(ids, mask)).vectors[:, 0]
    torch.testing.assert_close(found, torch.from_numpy(arrays["out"]))


def caption_loss(arrays):
    loss = Captioning(8, 15, width=6, word_dim=5).double().eval()
    names = {
        "encoder.vid2hid": "project",
        "encoder.rnn": "read",
        "decoder.embedding": "embed",
        "decoder.attention.linear1": "attention",
        "decoder.attention.linear2": "attention_score",
        "decoder.rnn": "decoder",
        "decoder.out": "logits",
    }
    state = {}
    for key, value in weights(arrays, "w__").items():
        module, name = key.rsplit(".", 1)
        ours = names[module]
        state[f"{ours}.{name.removesuffix('_l0') if ours == 'decoder' else name}"] = value
    loss.captioner.load_state_dict(state)
    return loss


def caption_outputs(arrays, longest):
    """The mask of the file counts one step of padding, as the published code does."""
    feats = torch.from_numpy(arrays["feats"])
    ids = torch.from_numpy(arrays["labels"][:, :longest])
    tokens = Tokens(ids, torch.from_numpy(arrays["masks"][:, :longest]) > 0)
    batch = Batch(Regions(feats, torch.ones(4, 6, dtype=torch.bool)), tokens, torch.eye(4) > 0)
    alone = torch.ones(4, 1, dtype=torch.bool)
    images = Embedding(feats[:, :1], alone, places=feats)
    return Outputs(images, Embedding(feats[:, :1], alone), torch.zeros(4, 4), batch)


def test_the_caption_loss_equals_the_published_one(golden):
    arrays = golden("aoq/vsrn_caption")
    loss, out = caption_loss(arrays), caption_outputs(arrays, longest=9)
    assert loss(out, 0).item() == pytest.approx(float(arrays["loss"]), abs=1e-9)
    logits = loss.captioner(
        out.images.places, out.batch.images.mask, torch.arange(4), out.batch.texts.ids[:, :-1]
    )
    torch.testing.assert_close(logits.log_softmax(2), torch.from_numpy(arrays["logprobs"]))


def test_two_texts_of_an_image_are_each_said_by_it():
    torch.manual_seed(0)
    sizes = Sizes(region=8, vocabulary=30)
    method = VSRN(dim=8, word_dim=4, caption_dim=6)
    model, objective = method.model(sizes).eval(), method.objective(sizes).eval()
    dataset = made_dataset(images=3)
    both = dataset.batch(torch.tensor([0]).numpy(), torch.tensor([0, 1]).numpy())
    each = [dataset.batch(torch.tensor([0]).numpy(), torch.tensor([t]).numpy()) for t in (0, 1)]
    apart = [objective(model(batch), 0)["caption"].item() for batch in each]
    assert objective(model(both), 0)["caption"].item() == pytest.approx(sum(apart) / 2, rel=1e-5)


def test_padding_changes_neither_terms_nor_gradients():
    sizes, seen = Sizes(region=8, vocabulary=30), []
    batch = PairBatches(made_dataset(), 8, seed=0).at(0)
    for extra in (0, 3):
        torch.manual_seed(0)
        method = VSRN(dim=8, word_dim=4, caption_dim=6, batch_norm=True)
        model, objective = method.model(sizes), method.objective(sizes)
        for block in model.image.body.blocks:  # zero at the start, where nothing could be seen
            torch.nn.init.ones_(block.norm.weight)
        model.eval()
        objective.eval()
        terms = objective(model(padded(batch, extra)), 0)
        sum(terms.values()).backward()
        gradients = [p.grad for p in (*model.parameters(), *objective.parameters())]
        seen.append((terms, [g for g in gradients if g is not None]))
    for name, term in seen[0][0].items():
        torch.testing.assert_close(seen[1][0][name], term)
    for one, other in zip(seen[0][1], seen[1][1], strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def padded(batch, extra):
    def wider(tensor, filler):
        wide = tensor.new_full((tensor.shape[0], extra, *tensor.shape[2:]), filler)
        return torch.cat([tensor, wide], dim=1)

    images = Regions(wider(batch.images.values, 7.0), wider(batch.images.mask, False))
    texts = Tokens(wider(batch.texts.ids, 3), wider(batch.texts.mask, False))
    return Batch(images, texts, batch.positives)


def test_a_new_block_is_the_identity():
    v = torch.randn(2, 3, 4)
    assert torch.equal(RelationBlock(4, 4)(v, torch.ones(2, 3, dtype=torch.bool)), v)


def test_padding_changes_nothing_when_features_are_scaled_over_regions():
    method = VSRN(dim=8, word_dim=4, blocks=2, scale_over="regions")
    tower = method.model(Sizes(region=10, vocabulary=9)).image.double().eval()
    values = torch.randn(3, 5, 10, dtype=torch.float64)
    padded = torch.cat([values, torch.randn(3, 2, 10, dtype=torch.float64)], dim=1)
    mask = (torch.arange(7) < 5).expand(3, 7)
    found = tower(Regions(padded, mask)).vectors
    torch.testing.assert_close(found, tower(Regions(values, mask[:, :5])).vectors)


@pytest.mark.parametrize("width", [5, 3])
def test_maps_merged_for_a_large_batch_give_the_same_values_and_gradients(width, monkeypatch):
    torch.manual_seed(0)
    block = RelationBlock(5, width).double()
    nn.init.normal_(block.norm.weight)
    mask = torch.rand(6, 7) < 0.8
    mask[:, 0] = True
    found = []
    for merged in (False, True):
        monkeypatch.setattr(block, "merging_pays", lambda rows, merged=merged: merged)
        places = torch.randn(6, 7, 5, generator=torch.Generator().manual_seed(1)).double()
        out = block(places.requires_grad_(), mask)
        out.square().sum().backward()
        found.append([out, places.grad, *(p.grad.clone() for p in block.parameters())])
        block.zero_grad()
    torch.testing.assert_close(*found, atol=1e-10, rtol=1e-10)


def test_maps_are_merged_only_where_that_takes_fewer_products():
    published = RelationBlock(64, 64)
    assert published.merging_pays(65) and not published.merging_pays(64)
    assert not RelationBlock(64, 16).merging_pays(10_000), "a narrow middle is cheaper as it is"
