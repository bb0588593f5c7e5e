from dataclasses import replace

import pytest
import torch

from deixis.errors import RecipeError
from deixis.methods.model import Model
from deixis.methods.text_trace import TextTrace
from deixis.types import Regions, Sizes, Tokens, Trace

SIZES = Sizes(region=6, vocabulary=20)
SMALL = TextTrace(dim=16, word_dim=8, heads=2, query_depth=2, image_depth=2, normalise=True)
FUSIONS = ["concat", "word"]


def small(**options: object) -> Model:
    torch.manual_seed(0)
    model = replace(SMALL, **options).model(SIZES)  # type: ignore[arg-type]
    return model.eval()


def regions() -> Regions:
    torch.manual_seed(1)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    return Regions(torch.randn(2, 4, 6), mask, torch.rand(2, 4, 5))


def trace(texts: int = 2) -> Trace:
    torch.manual_seed(2)
    word = torch.tensor([[-1, -1, -1, 0, 1]]).expand(texts, -1)
    times = torch.rand(texts, 5, 2)
    return Trace(torch.rand(texts, 5, 5), torch.ones(texts, 5, dtype=torch.bool), times, word)


def tokens(with_trace: bool = True) -> Tokens:
    torch.manual_seed(3)
    ids = torch.randint(5, 20, (2, 3))
    mask = torch.tensor([[True, True, True], [True, True, False]])
    return Tokens(ids, mask, times=torch.rand(2, 3, 2), trace=trace() if with_trace else None)


def padded(batch: Tokens) -> Tokens:
    """The same texts with more padding everywhere, filled with rubbish."""
    assert batch.times is not None
    assert batch.trace is not None
    no, many = torch.zeros(2, 2, dtype=torch.bool), torch.full((2, 2), 7)
    longer = Trace(
        torch.cat([batch.trace.boxes, torch.full((2, 2, 5), 9.0)], 1),
        torch.cat([batch.trace.mask, no], 1),
        torch.cat([batch.trace.times, torch.full((2, 2, 2), 9.0)], 1),
        torch.cat([batch.trace.word, torch.tensor([[-1, 1], [-1, 1]])], 1),
    )
    return Tokens(
        torch.cat([batch.ids, many], 1),
        torch.cat([batch.mask, no], 1),
        times=torch.cat([batch.times, torch.full((2, 2, 2), 9.0)], 1),
        trace=longer,
    )


@pytest.mark.parametrize("geometry", ["linear", "fourier"])
@pytest.mark.parametrize("depth", [0, 2])
def test_the_order_of_regions_never_matters(geometry, depth):
    model, images = small(geometry=geometry, image_depth=depth), regions()
    assert images.boxes is not None
    order = torch.tensor([2, 0, 3, 1])
    turned = Regions(images.values[:, order], images.mask[:, order], images.boxes[:, order])
    assert torch.allclose(model.image(images).vectors, model.image(turned).vectors, atol=1e-6)


def test_padding_of_regions_never_matters():
    model, images = small(), regions()
    assert images.boxes is not None
    shorter = Regions(images.values[1:, :2], images.mask[1:, :2], images.boxes[1:, :2])
    whole = model.image(images).vectors[1:]
    assert torch.allclose(whole, model.image(shorter).vectors, atol=1e-6)


@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("position", ["index", "time"])
def test_padding_of_queries_never_matters(fusion, position):
    model, batch = small(fusion=fusion, position=position), tokens()
    before, after = model.text(batch).vectors, model.text(padded(batch)).vectors
    assert torch.allclose(before, after, atol=1e-6)


@pytest.mark.parametrize("fusion", FUSIONS)
def test_no_trace_and_an_empty_trace_are_the_same(fusion):
    model, batch = small(fusion=fusion), tokens()
    empty = replace(batch, trace=replace(trace(), mask=torch.zeros(2, 5, dtype=torch.bool)))
    without = model.text(replace(batch, trace=None)).vectors
    assert torch.allclose(model.text(empty).vectors, without, atol=1e-6)
    assert not torch.allclose(model.text(batch).vectors, without, atol=1e-3)


@pytest.mark.parametrize(("fusion", "used"), [("concat", slice(0, 3)), ("word", slice(3, 5))])
def test_each_fusion_reads_its_own_cut_of_the_trace(fusion, used):
    model, batch = small(fusion=fusion), tokens()
    assert batch.trace is not None
    batch.trace.boxes.requires_grad_()
    model.text(batch).vectors[..., 0].sum().backward()
    grad = batch.trace.boxes.grad
    assert grad is not None
    touched = grad.abs().sum(dim=(0, 2)) > 0
    expected = torch.zeros(5, dtype=torch.bool)
    expected[used] = True
    assert torch.equal(touched, expected)


def test_text_alone_ignores_the_trace():
    model, batch = small(fusion="none"), tokens()
    assert torch.equal(model.text(batch).vectors, model.text(replace(batch, trace=None)).vectors)


def test_queries_without_a_trace_take_their_own_tower_one_by_one():
    model, batch = small(fusion="word", untraced_tower=True), tokens()
    assert batch.trace is not None
    mask = batch.trace.mask.clone()
    mask[1] = False
    mixed = model.text(replace(batch, trace=replace(batch.trace, mask=mask))).vectors
    assert torch.allclose(mixed[0], model.text(batch).vectors[0], atol=1e-6)
    assert torch.allclose(mixed[1], model.text(replace(batch, trace=None)).vectors[1], atol=1e-6)


def test_queries_with_and_without_a_trace_ask_halves_of_their_own():
    model, batch = small(fusion="word", untraced_tower=True), tokens()
    traced, bare = (model.text(b).vectors for b in (batch, replace(batch, trace=None)))
    half = traced.shape[-1] // 2
    assert not traced[..., :half].any()
    assert not bare[..., half:].any()
    lengths = torch.cat([traced, bare, model.image(regions()).vectors]).norm(dim=-1)
    assert torch.allclose(lengths, torch.ones_like(lengths), atol=1e-5)


def test_both_towers_learn_from_a_batch_asked_both_ways():
    model, batch = small(fusion="word", untraced_tower=True), tokens()
    assert batch.trace is not None
    mask = batch.trace.mask.clone()
    mask[1:] = False
    model.text(replace(batch, trace=replace(batch.trace, mask=mask))).vectors.sum().backward()
    for tower in (model.text.body, model.text.bare):
        assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in tower.parameters())


def test_a_word_and_the_box_drawn_meanwhile_get_equal_time_codes():
    model = small(position="time")
    words, boxes = model.text.body.position, model.text.body.box_position
    times = torch.tensor([[[1.0, 2.0], [3.0, 3.5]]])
    assert torch.equal(words(times), boxes(times))


def test_heads_that_do_not_divide_the_width_are_refused_at_once():
    with pytest.raises(RecipeError, match="dim is 10, which 4 heads"):
        TextTrace(dim=10, heads=4)


def test_the_published_model_has_the_published_sizes():
    published = TextTrace().model(Sizes(region=2048, vocabulary=100))
    geometry = published.text.body.geometry
    assert geometry.feed[0].in_features == 2560
    assert (geometry.feed[0].out_features, geometry.feed[3].out_features) == (512, 512)
    layers = published.text.body.transformer.layers
    assert len(layers) == 6
    assert layers[0].feed[0].out_features == 4096
    assert published.text.head.network[0].out_features == 2048


CHOICES = [{"boxes": "vector"}, {"parts": 3}, {"boxes": "vector", "parts": 3}]


@pytest.mark.parametrize("options", CHOICES)
def test_readings_and_sets_ignore_padding_and_use_every_box(options):
    model = small(fusion="concat", **options)
    images, queries = model.image(regions()), model.text(tokens())
    parts = options.get("parts", 1)
    assert images.vectors.shape == queries.vectors.shape == (2, parts, 16)
    scores = model.similarity(images, queries)
    longer = model.similarity(images, model.text(padded(tokens())))
    torch.testing.assert_close(scores, longer, atol=1e-5, rtol=0)
    assert not torch.allclose(scores, model.similarity(images, model.text(tokens(False))))
    moved = replace(regions(), boxes=regions().boxes.flip(0))
    assert not torch.allclose(model.image(moved).vectors, images.vectors)


def test_both_readings_feed_2560_numbers_at_the_published_sizes():
    sizes = Sizes(region=2048, vocabulary=10)
    one_by_one = TextTrace(query_depth=0, image_depth=0).model(sizes)
    together = TextTrace(query_depth=0, image_depth=0, boxes="vector").model(sizes)
    assert one_by_one.image.body.geometry.feed[0].in_features == 2560
    assert one_by_one.text.body.geometry.feed[0].in_features == 2560
    assert together.image.body.feed[0].in_features == 2560


def test_boxes_read_whole_get_their_position_before_the_network_as_words_do():
    body = small(fusion="concat", boxes="vector").text.body
    windows = trace()
    weight, bias = body.geometry.linear.weight, body.geometry.linear.bias
    projected = (2 * windows.boxes - 1) @ weight.T + bias
    wanted = body.feed_boxes(projected + body.box_position(windows.times))
    torch.testing.assert_close(body.boxes(windows), wanted)


def test_sets_are_kept_apart_and_refuse_what_they_do_not_fit():
    terms = [term.name for term in replace(SMALL, parts=3).objective(SIZES).terms]
    assert terms == ["rank", "diversity"]
    with pytest.raises(RecipeError, match="needs parts = 1"):
        replace(SMALL, parts=3, untraced_tower=True)
    with pytest.raises(RecipeError, match='"concat" has both'):
        replace(SMALL, boxes="vector", fusion="word")
