"""The quintuplet loss equals the published one, on vectors and on BFAN's attention."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deixis.encoders.encoder import Encoder
from deixis.errors import RecipeError
from deixis.losses.miners import hardest
from deixis.losses.quintuplet import AdaptiveWeight, Quintuplet
from deixis.losses.triplet import Triplet
from deixis.methods.bfan import BFAN
from deixis.methods.model import Model
from deixis.similarity.bfan_focal import FocalAttention
from deixis.similarity.similarity import Cosine
from deixis.types import Batch, Embedding, Offline, Regions, Tokens

VARIANTS = {
    "adap": AdaptiveWeight(0.3, 1.5),
    "adap_a05": AdaptiveWeight(0.5, 1.5),
    "adap_b1": AdaptiveWeight(0.3, 1.0),
    "offquin": None,
}
HINGES = ("on_i2t", "on_t2i", "off_i2t", "off_t2i", "quin_a", "quin_b")


def meeting(similarity, images: Embedding, texts: Embedding, match=()):
    """The published layout: pairs first, then their negatives, then the negatives' partners."""
    n = len(images) // 3
    rows = torch.arange(n)
    positives = torch.zeros(3 * n, 3 * n, dtype=torch.bool)
    positives[rows, rows] = True
    for image, text in match:
        positives[image, text] = True
    offline = Offline(n, n, *(torch.stack([rows + s, rows + s], 1) for s in (0, n, 2 * n)))
    batch = Batch(
        Regions(torch.zeros(3 * n, 1, 1), torch.ones(3 * n, 1, dtype=torch.bool)),
        Tokens(torch.zeros(3 * n, 1, dtype=torch.long), torch.ones(3 * n, 1, dtype=torch.bool)),
        positives,
        offline=offline,
    )
    idle = Encoder(lambda batch: None, lambda places, mask: None)
    return Model(idle, idle, similarity).meet(images, texts, batch)


def vectors(arrays):
    names = ("im", "im_off", "im_off2"), ("s", "s_off", "s_off2")
    leaves = {n: torch.from_numpy(arrays[n]).requires_grad_() for side in names for n in side}
    alone = torch.ones(18, 1, dtype=torch.bool)
    sides = [Embedding(torch.cat([leaves[n] for n in side]).unsqueeze(1), alone) for side in names]
    return leaves, sides


@pytest.mark.parametrize("variant", VARIANTS)
def test_equals_the_published_loss_its_hinges_and_gradients(golden, variant):
    arrays = golden("aoq/aoq_loss_typical")
    leaves, sides = vectors(arrays)
    out = meeting(Cosine(), *sides)
    loss = Quintuplet(0.2, 0.0, weigh=VARIANTS[variant])
    for found, name in zip(loss.hinges(out), HINGES, strict=True):
        torch.testing.assert_close(found, torch.from_numpy(arrays[f"{variant}__{name}"]))
    total = loss(out, 0)
    assert total.item() == pytest.approx(float(arrays[f"{variant}__loss"]), abs=1e-9)
    total.backward()
    for name, leaf in leaves.items():
        torch.testing.assert_close(leaf.grad, torch.from_numpy(arrays[f"{variant}__g_{name}"]))


def test_without_quintuplets_it_is_the_published_offtri(golden):
    arrays = golden("aoq/aoq_loss_typical")
    found = Quintuplet(0.2, 0.0, quintuplets=False)(meeting(Cosine(), *vectors(arrays)[1]), 0)
    assert found.item() == pytest.approx(float(arrays["offtri__loss_composed"]), abs=1e-9)


@pytest.mark.parametrize("focus", ["equal", "prob"])
def test_equals_the_published_loss_on_focal_attention(golden, focus):
    arrays = golden(f"aoq/bfan_{focus}")
    im, cap = (torch.from_numpy(arrays[n]).requires_grad_() for n in ("im", "cap"))
    images = torch.cat([im, *(torch.from_numpy(arrays[f"im_{o}"]) for o in ("off", "off2"))])
    words = torch.cat([cap, *(torch.from_numpy(arrays[f"cap_{o}"]) for o in ("off", "off2"))])
    lengths = np.concatenate([arrays[f"cap{o}_len"] for o in ("", "_off", "_off2")])
    mask = torch.arange(words.shape[1]) < torch.from_numpy(lengths).unsqueeze(1)
    regions = torch.ones(images.shape[:2], dtype=torch.bool)
    similarity = FocalAttention(focus, BFAN().temperature)
    out = meeting(similarity, Embedding(images, regions), Embedding(words, mask))
    loss = Quintuplet(0.2, 0.0, weigh=AdaptiveWeight())
    for found, name in zip(loss.hinges(out), HINGES, strict=True):
        published = torch.from_numpy(arrays[f"t_{name}"])
        torch.testing.assert_close(found, published, atol=1e-5, rtol=0)
    total = loss(out, 0)
    assert total.item() == pytest.approx(float(arrays["loss"]), abs=1e-5)
    total.backward()
    torch.testing.assert_close(im.grad, torch.from_numpy(arrays["g_im"]), atol=1e-5, rtol=0)
    torch.testing.assert_close(cap.grad, torch.from_numpy(arrays["g_cap"]), atol=1e-5, rtol=0)


def test_a_true_match_among_mined_items_is_never_pushed_down():
    torch.manual_seed(0)
    alone = torch.ones(6, 1, dtype=torch.bool)
    images, texts = (Embedding(torch.randn(6, 1, 4), alone) for _ in range(2))
    hinges = Quintuplet(0.2, 5.0).hinges
    free = hinges(meeting(Cosine(), images, texts))
    masked = hinges(meeting(Cosine(), images, texts, match=[(2, 2), (5, 5)]))
    assert masked[4][0] == 0
    assert free[4][0] > 0
    assert masked[5][1] == 0
    assert free[5][1] > 0
    assert torch.equal(masked[4][1], free[4][1])
    assert torch.equal(masked[5][0], free[5][0])


def test_the_weight_may_be_negative_and_carries_gradient_as_printed():
    offline = torch.tensor([0.9, 0.2], requires_grad=True)
    online = torch.tensor([0.2, 0.2])
    assert AdaptiveWeight()(offline, online).tolist() == pytest.approx([1.5 - 0.7 / 0.3, 1.5])
    assert AdaptiveWeight()(offline, online).requires_grad


def test_offquin_is_the_limit_of_the_adaptive_weight(golden):
    out = meeting(Cosine(), *vectors(golden("aoq/aoq_loss_typical"))[1])
    limit = Quintuplet(margin=1.0, weigh=AdaptiveWeight(alpha=1e12, beta=1.0))(out, 0)
    torch.testing.assert_close(limit, Quintuplet(margin=1.0)(out, 0))


@pytest.mark.parametrize("variant", ["adap", "adap_a05", "adap_b1"])
def test_weights_equal_the_published_ones(golden, variant):
    arrays = {k: torch.from_numpy(v) for k, v in golden("aoq/aoq_loss_typical").items()}
    for way in ("i2t", "t2i"):
        scores = (arrays[f"{variant}__hn_{side}_{way}"] for side in ("off", "on"))
        torch.testing.assert_close(VARIANTS[variant](*scores), arrays[f"{variant}__w_{way}"])


def test_the_published_weight_carries_gradient_into_both_negatives(golden):
    """Where the online hinge h is active, raising the offline score lowers the loss by h / α."""
    out = meeting(Cosine(), *vectors(golden("aoq/aoq_loss_typical"))[1])
    loss = Quintuplet(margin=1.0, offline_margin=-9.0, weigh=AdaptiveWeight())
    hinge = Quintuplet(margin=1.0).hinges(out)[0].sum()
    (slope,) = torch.autograd.grad(loss(out, 0), out.offline.hard_text)
    assert hinge > 0
    torch.testing.assert_close(slope.sum(), -hinge / 0.3)


def test_online_hinges_alone_are_the_triplet(golden):
    out = meeting(Cosine(), *vectors(golden("aoq/aoq_loss_typical"))[1])
    online = sum(hinge.sum() for hinge in Quintuplet(margin=1.0).hinges(out)[:2])
    assert online > 0
    torch.testing.assert_close(online, Triplet(1.0, hardest)(out, 0))


def test_a_batch_without_mined_negatives_is_refused(golden):
    out = replace(meeting(Cosine(), *vectors(golden("aoq/aoq_loss_typical"))[1]), offline=None)
    with pytest.raises(RecipeError, match="offline negatives"):
        Quintuplet()(out, 0)
