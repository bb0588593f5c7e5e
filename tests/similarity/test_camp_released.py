"""CAMP as released equals the released code, though nothing is computed the way it does."""

import pytest
import torch
from plain_formulas import ragged, table

from deixis.similarity.camp_released import ReleasedMessages, released_normalise
from deixis.similarity.camp_released_fusion import MultiHeadPool, ReleasedFusion
from deixis.types import Embedding


def sets(arrays, dtype=torch.float64) -> tuple[Embedding, Embedding]:
    regions, words = (torch.from_numpy(arrays[name]).to(dtype) for name in ("regions", "words"))
    everywhere = torch.ones(regions.shape[:2], dtype=torch.bool)
    return Embedding(regions, everywhere), Embedding(words, torch.from_numpy(arrays["word_mask"]))


def message_weights(arrays) -> dict:
    found = {}
    for side, short in (("image", "img"), ("text", "txt")):
        found[f"messages.{side}.query.weight"] = arrays[f"weight_{short}_query_W"]
        found[f"messages.{side}.key.weight"] = arrays[f"weight_{short}_key_W"]
        found[f"messages.{side}.message_query.weight"] = arrays[f"weight_msg_{short}_query_W"]
        found[f"messages.{side}.message_key.weight"] = arrays[f"weight_msg_{short}_key_W"]
    return found


def pool_weights(arrays, short: str, prefix: str = "") -> dict:
    return {
        f"{prefix}ask.0.weight": arrays[f"weight_pool_{short}_hidden_W"],
        f"{prefix}ask.0.bias": arrays[f"weight_pool_{short}_hidden_b"],
        f"{prefix}ask.2.weight": arrays[f"weight_pool_{short}_score_W"],
        f"{prefix}ask.2.bias": arrays[f"weight_pool_{short}_score_b"],
    }


def load(module: torch.nn.Module, weights: dict) -> None:
    module.load_state_dict({key: torch.from_numpy(value) for key, value in weights.items()})


def fusion_of(arrays) -> ReleasedFusion:
    similarity = ReleasedFusion(16).double()
    weights = message_weights(arrays) | {
        "fuse_images.weight": arrays["weight_fuse_img_W"],
        "fuse_texts.weight": arrays["weight_fuse_txt_W"],
        "match.0.weight": arrays["weight_out_hidden_W"],
        "match.0.bias": arrays["weight_out_hidden_b"],
        "match.2.weight": arrays["weight_out_score_W"],
        "match.2.bias": arrays["weight_out_score_b"],
    }
    weights |= pool_weights(arrays, "img", "pool_images.")
    load(similarity, weights | pool_weights(arrays, "txt", "pool_texts."))
    return similarity


@pytest.mark.parametrize(("dtype", "within"), [(torch.float64, 1e-9), (torch.float32, 1e-5)])
def test_the_whole_model_equals_the_released_one(golden, dtype, within):
    arrays = golden("camp/camp_repo_gated_fusion_new")
    logits = fusion_of(arrays).to(dtype)(*sets(arrays, dtype))
    expected = torch.from_numpy(arrays["score"]).to(dtype)
    torch.testing.assert_close(logits.sigmoid(), expected, atol=within, rtol=0)


def test_the_first_stage_equals_the_released_one_where_that_reads_no_padding(golden):
    arrays = golden("camp/camp_repo_cross_attention_new")
    similarity = ReleasedMessages(16).double()
    load(similarity, message_weights(arrays))
    scores = similarity(*sets(arrays))
    published = torch.from_numpy(arrays["score"])
    whole = torch.from_numpy(arrays["word_mask"]).all(dim=1)
    torch.testing.assert_close(scores[:, whole], published[:, whole], atol=1e-9, rtol=0)
    assert ((scores - published)[:, ~whole].abs() > 1e-5).any()


def test_the_pooling_equals_the_released_one(golden):
    arrays = golden("camp/camp_repo_cross_attention")
    keys = [torch.from_numpy(arrays[f"weight_{short}_key_W"]) for short in ("img", "txt")]
    pools = [MultiHeadPool(16).double(), MultiHeadPool(16).double()]
    for pool, short in zip(pools, ("img", "txt"), strict=True):
        load(pool, pool_weights(arrays, short))

    def pair(v, w):
        logits = (v @ keys[0].T) @ (w @ keys[1].T).T / 4.0
        heard = logits.softmax(1) @ w, logits.T.softmax(1) @ v
        return released_normalise(pools[0](heard[0])) @ released_normalise(pools[1](heard[1]))

    expected = torch.from_numpy(arrays["score"])
    torch.testing.assert_close(table(*sets(arrays), pair), expected, atol=1e-9, rtol=0)


@pytest.mark.parametrize("kind", [ReleasedMessages, ReleasedFusion])
def test_grid_agrees_with_rows_and_no_block_size_changes_a_score(monkeypatch, kind):
    images, texts = ragged(6, 5, 8), ragged(6, 7, 8)
    similarity = kind(8).double()
    grid = similarity(images, texts)
    torch.testing.assert_close(grid.diagonal(), similarity.pairs(images, texts))
    monkeypatch.setattr(kind, "images_per_block", 2)
    monkeypatch.setattr(kind, "texts_per_block", 1)
    torch.testing.assert_close(grid, similarity(images, texts), atol=1e-12, rtol=0)


def plain(similarity: ReleasedFusion):
    """The released model for the parts of one image and one text, messages formed."""
    sides = similarity.messages.image, similarity.messages.text

    def message(own, other, asks, answers):
        attention = (asks.query(own) @ answers.key(other).T / own.shape[1] ** 0.5).softmax(1)
        sent = attention @ other
        among = answers.message_query(sent) @ answers.message_key(sent).T / own.shape[1] ** 0.5
        mixed = among.softmax(1) @ sent
        return mixed / (mixed.norm(dim=1, keepdim=True) + 1e-8)

    def pair(v, w):
        pooled = []
        for own, sent, fuse, pool in (
            (v, message(v, w, *sides), similarity.fuse_images, similarity.pool_images),
            (w, message(w, v, *sides[::-1]), similarity.fuse_texts, similarity.pool_texts),
        ):
            gate = (own * sent).sum(1, keepdim=True).sigmoid()
            vector = pool(torch.relu(fuse(gate * torch.cat([own, sent], 1))) + own)
            pooled.append(vector / (vector.norm() + 1e-8))
        return similarity.match(torch.cat(pooled))[0]

    return pair


def test_folding_changes_neither_scores_nor_gradients():
    images, texts = ragged(3, 5, 6), ragged(4, 4, 6)
    similarity = ReleasedFusion(6).double()
    found = []
    for score in (similarity, lambda a, b: table(a, b, plain(similarity))):
        v = images.vectors.clone().requires_grad_()
        w = texts.vectors.clone().requires_grad_()
        scores = score(Embedding(v, images.mask), Embedding(w, texts.mask))
        total = (scores * torch.linspace(-1, 1, scores.numel()).view(scores.shape)).sum()
        found.append((scores, *torch.autograd.grad(total, (v, w, *similarity.parameters()))))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=0)


def test_the_gates_equal_the_released_ones(golden):
    arrays = golden("camp/camp_repo_gated_fusion_new")
    images, texts = sets(arrays)
    similarity = fusion_of(arrays)
    for image in range(4):
        for text, count in enumerate(arrays["caption_lengths"]):
            found = similarity.align(
                images.rows(slice(image, image + 1)), texts.rows(slice(text, text + 1))
            )
            for shown, expected in (
                (found.region_gates, arrays["gate_regions"][image, text]),
                (found.word_gates, arrays["gate_words"][image, text][:count]),
            ):
                torch.testing.assert_close(shown, torch.from_numpy(expected), atol=1e-8, rtol=0)
