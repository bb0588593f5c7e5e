"""CAMP of the paper and its ablations equal the formulas, however pairs are batched."""

import pytest
import torch
from plain_formulas import ragged, table

from deixis.heads.attention_pool import AttentionPool
from deixis.similarity.camp_fusion import GatedFusion
from deixis.similarity.camp_messages import MessageCosine
from deixis.similarity.similarity import Cosine, Pairs
from deixis.types import Embedding


def sets(arrays, dtype=torch.float64) -> tuple[Embedding, Embedding]:
    regions, words = (torch.from_numpy(arrays[name]).to(dtype) for name in ("regions", "words"))
    counts = torch.from_numpy(arrays["caption_lengths"]).unsqueeze(1)
    everywhere = torch.ones(regions.shape[:2], dtype=torch.bool)
    return Embedding(regions, everywhere), Embedding(words, torch.arange(words.shape[1]) < counts)


def load(module: torch.nn.Module, weights: dict) -> None:
    """Set every parameter; one-vector weights become rows."""
    state = {key: torch.from_numpy(value) for key, value in weights.items()}
    shapes = {key: value.shape for key, value in module.state_dict().items()}
    module.load_state_dict({key: value.view(shapes[key]) for key, value in state.items()})


def keys_and_pools(arrays) -> dict:
    return {
        "image_key.weight": arrays["weight_att_img_W"],
        "text_key.weight": arrays["weight_att_txt_W"],
        "pool_images.question.weight": arrays["weight_pool_img_w"],
        "pool_texts.question.weight": arrays["weight_pool_txt_w"],
    }


def fusion_of(arrays, fusion: str, *, attend: bool, squash: bool = True) -> GatedFusion:
    similarity = GatedFusion(12, fusion, attend=attend, squash=squash).double()
    weights = keys_and_pools(arrays) | {
        "fuse_images.layer.weight": arrays[f"weight_fuse_img_W_{fusion}"],
        "fuse_images.layer.bias": arrays["weight_fuse_img_b"],
        "fuse_texts.layer.weight": arrays[f"weight_fuse_txt_W_{fusion}"],
        "fuse_texts.layer.bias": arrays["weight_fuse_txt_b"],
        "match.0.weight": arrays["weight_out_hidden_W"],
        "match.0.bias": arrays["weight_out_hidden_b"],
        "match.2.weight": arrays["weight_out_score_W"],
        "match.2.bias": arrays["weight_out_score_b"],
    }
    known = similarity.state_dict()
    load(similarity, {key: value for key, value in weights.items() if key in known})
    return similarity


@pytest.mark.parametrize(("dtype", "within"), [(torch.float64, 1e-9), (torch.float32, 1e-5)])
@pytest.mark.parametrize("fusion", ["sum", "concat"])
def test_the_whole_model_equals_the_formula(golden, fusion, dtype, within):
    arrays = golden("camp/camp_paper_formula_derived")
    similarity = fusion_of(arrays, fusion, attend=True).to(dtype)
    expected = torch.from_numpy(arrays[f"score_full_{fusion}_vector"]).to(dtype)
    torch.testing.assert_close(similarity(*sets(arrays, dtype)), expected, atol=within, rtol=0)


def test_the_score_of_the_matching_loss_is_the_logit_of_the_probability(golden):
    arrays = golden("camp/camp_paper_formula_derived")
    logits = fusion_of(arrays, "sum", attend=True, squash=False)(*sets(arrays))
    expected = torch.from_numpy(arrays["score_full_sum_vector"])
    torch.testing.assert_close(logits.sigmoid(), expected, atol=1e-9, rtol=0)


def test_without_cross_attention_equals_the_formula(golden):
    arrays = golden("camp/camp_paper_formula_derived")
    scores = fusion_of(arrays, "concat", attend=False)(*sets(arrays))
    expected = torch.from_numpy(arrays["score_no_cross_attn_concat_vector"])
    torch.testing.assert_close(scores, expected, atol=1e-9, rtol=0)


def test_without_fusion_equals_the_formula(golden):
    arrays = golden("camp/camp_paper_formula_derived")
    similarity = MessageCosine(12).double()
    load(similarity, keys_and_pools(arrays))
    expected = torch.from_numpy(arrays["score_no_fusion"])
    torch.testing.assert_close(similarity(*sets(arrays)), expected, atol=1e-9, rtol=0)


def test_base_equals_the_formula(golden):
    arrays = golden("camp/camp_paper_formula_derived")
    pooled = []
    for name, items in zip(("img", "txt"), sets(arrays), strict=True):
        head = AttentionPool(12).double()
        load(head, {"question.weight": arrays[f"weight_pool_{name}_w"]})
        pooled.append(head(items.vectors, items.mask))
    expected = torch.from_numpy(arrays["score_base"])
    torch.testing.assert_close(Cosine()(*pooled), expected, atol=1e-9, rtol=0)


def plain(similarity: GatedFusion):
    """The paper's equations for the parts of one image and one text."""

    def pair(v, w):
        logits = (v @ similarity.image_key.weight.T) @ (w @ similarity.text_key.weight.T).T
        logits = logits / v.shape[1] ** 0.5
        pooled = 0
        for own, message, fuse, pool in (
            (v, logits.softmax(1) @ w, similarity.fuse_images, similarity.pool_images),
            (w, logits.T.softmax(1) @ v, similarity.fuse_texts, similarity.pool_texts),
        ):
            gated = torch.sigmoid(own * message) * (own + message)
            fused = torch.relu(gated @ fuse.layer.weight.T + fuse.layer.bias) + own
            asked = fused @ pool.question.weight[0] / v.shape[1] ** 0.5
            pooled = pooled + asked.softmax(0) @ fused
        return similarity.match(pooled)[0]

    return pair


def test_gradients_equal_those_of_the_plain_formula():
    images, texts = ragged(4, 5, 6), ragged(5, 4, 6)
    similarity = GatedFusion(6, "sum", attend=True, squash=False).double()
    found = []
    for score in (similarity, lambda a, b: table(a, b, plain(similarity))):
        v = images.vectors.clone().requires_grad_()
        w = texts.vectors.clone().requires_grad_()
        scores = score(Embedding(v, images.mask), Embedding(w, texts.mask))
        total = (scores * torch.linspace(-1, 1, scores.numel()).view(scores.shape)).sum()
        found.append((scores, *torch.autograd.grad(total, (v, w, *similarity.parameters()))))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=0)


@pytest.mark.parametrize(
    "similarity", [GatedFusion(6, "sum", attend=True, squash=False), MessageCosine(6)]
)
def test_pairs_a_loss_does_not_look_at_are_not_missed_on_the_way_back(similarity):
    similarity, images, texts = similarity.double(), ragged(4, 5, 6), ragged(5, 4, 6)
    looked_at = torch.zeros(4, 5).double()
    looked_at[[0, 1, 1, 3], [0, 1, 4, 2]] = torch.tensor([1.0, -2.0, 0.5, 3.0]).double()
    found = []
    for score in (similarity, lambda v, w: similarity.score(Pairs(v, w, grid=True))):
        v = images.vectors.clone().requires_grad_()
        w = texts.vectors.clone().requires_grad_()
        scores = score(Embedding(v, images.mask), Embedding(w, texts.mask))
        inputs = (v, w, *similarity.parameters())
        found.append((scores, *torch.autograd.grad((scores * looked_at).sum(), inputs)))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=0)


@pytest.mark.parametrize("attend", [True, False])
def test_grid_agrees_with_rows_and_no_block_size_changes_a_score(attend):
    images, texts = ragged(6, 5, 8), ragged(6, 7, 8)
    similarity = GatedFusion(8, "sum", attend=attend, squash=False).double()
    grid = similarity(images, texts)
    torch.testing.assert_close(grid.diagonal(), similarity.pairs(images, texts))
    similarity.images_per_block, similarity.texts_per_block = 1, 1
    torch.testing.assert_close(grid, similarity(images, texts), atol=1e-12, rtol=0)


def test_without_attention_the_order_of_neither_side_matters():
    images, texts = ragged(2, 5, 8), ragged(3, 4, 8)
    similarity = GatedFusion(8, "sum", attend=False, squash=False).double()
    turned = Embedding(texts.vectors.flip(1), texts.mask.flip(1))
    torch.testing.assert_close(similarity(images, texts), similarity(images, turned))


def test_what_a_pair_looks_at_equals_the_formula(golden):
    arrays = golden("camp/camp_paper_formula_derived")
    images, texts = sets(arrays)
    similarity = fusion_of(arrays, "concat", attend=True)
    for image in range(4):
        for text, count in enumerate(arrays["caption_lengths"]):
            found = similarity.align(
                images.rows(slice(image, image + 1)), texts.rows(slice(text, text + 1))
            )
            gates = arrays["gate_img_full_concat_vector"], arrays["gate_txt_full_concat_vector"]
            for shown, expected in (
                (found.to_words, arrays["att_img_to_words"][image, text][:, :count]),
                (found.to_regions, arrays["att_word_to_regions"][image, text][:count]),
                (found.region_gates, gates[0][image, text].mean(axis=1)),
                (found.word_gates, gates[1][image, text][:count].mean(axis=1)),
            ):
                torch.testing.assert_close(shown, torch.from_numpy(expected), atol=1e-9, rtol=0)


def test_a_few_pairs_of_a_large_gallery_prepare_no_other_items(monkeypatch):
    torch.manual_seed(0)
    camp = GatedFusion(8, "sum", attend=True, squash=False).eval()
    sides = [
        Embedding(torch.randn(30, 4, 8), torch.arange(4) < torch.randint(1, 5, (30, 1)))
        for _ in range(2)
    ]
    seen = {"prepare_images": 0, "prepare_texts": 0}
    for name in seen:
        prepare = getattr(camp, name)

        def counted(items, name=name, prepare=prepare):
            seen[name] += len(items)
            return prepare(items)

        monkeypatch.setattr(camp, name, counted)
    image, text = torch.tensor([7, 2, 7, 29]), torch.tensor([5, 5, 1, 5])
    with torch.no_grad():
        found = camp.score_pairs(*sides, image, text)
    assert seen == {"prepare_images": 3, "prepare_texts": 2}
    with torch.no_grad():
        torch.testing.assert_close(found, camp(*sides)[image, text], atol=1e-5, rtol=0)
