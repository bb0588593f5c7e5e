"""DivE's towers equal the published ones, and stay themselves in any batch."""

from dataclasses import replace

import pytest
import torch

from deixis.encoders.encoder import Encoder
from deixis.encoders.refined_projection import RefinedProjection
from deixis.encoders.text.word_embedding import WordEmbedding
from deixis.features.store.boxes import grid_boxes
from deixis.heads.item_summary import BiGRUSummary
from deixis.heads.pooling import MaxPool
from deixis.heads.sine_positions import text_positions
from deixis.heads.slots import Slots
from deixis.methods.dive import DivE
from deixis.methods.pvse import PVSE
from deixis.types import Batch, Regions, Sizes, Tokens
from slot_goldens import LeakySlots, load_slots, padded_line_codes, shape_of, tensors

SIZES = Sizes(region=6, vocabulary=20)
SMALL = DivE(dim=8, word_dim=6, parts=3, iterations=2, head_dim=4)


def close(ours, theirs) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


def mask_of(lengths: torch.Tensor, places: int) -> torch.Tensor:
    return torch.arange(places) < lengths.unsqueeze(1)


class PaddedStatistics(RefinedProjection):
    """The published image body: padding counts in the statistics, and it runs twice per step."""

    def forward(self, batch):
        for _ in range(2):
            places = self.linear(batch.values)
            inner = self.branch[1](self.branch[0](places).flatten(0, 1)).unflatten(
                0, places.shape[:2]
            )
            out = places + self.branch[3](inner.relu())
        return out, batch.mask


def image_tower(body_kind, slots_kind, arrays):
    body = body_kind(2048, 16, 0.0)
    names = {"linear": "fc", "branch.0": "mlp1", "branch.1": "bn", "branch.3": "mlp2"}
    state = {
        f"{ours}.{long}": arrays[f"{theirs}_{short}"]
        for ours, theirs in names.items()
        for long, short in (("weight", "w"), ("bias", "b"))
    }
    state["branch.1.running_mean"] = arrays["bn_running_mean"].clone()
    state["branch.1.running_var"] = arrays["bn_running_var"].clone()
    state["branch.1.num_batches_tracked"] = torch.tensor(0)
    body.load_state_dict(state)
    shape = replace(shape_of(arrays, 4), dropout=0.0)
    head = load_slots(slots_kind(16, shape, MaxPool().pool), arrays)
    return Encoder(body, head)


@pytest.fixture
def images(golden):
    arrays = tensors(golden("dive/dive_image_encoder"))
    mask = mask_of(arrays["lengths"], 5)
    return arrays, Regions(arrays["regions"].float(), mask)


def test_the_image_tower_equals_the_published_one(images):
    arrays, regions = images
    full = regions.mask.all(dim=1)
    for kind, rows in ((LeakySlots, torch.ones_like(full)), (Slots, full)):
        tower = image_tower(
            RefinedProjection if kind is Slots else PaddedStatistics, kind, arrays
        ).eval()
        with torch.no_grad():
            places, mask = tower.body(regions)
            embedding = tower(regions)
            close(MaxPool().pool(places, mask), arrays["global_eval"])
        close(places[mask], arrays["local_eval"][mask])
        close(embedding.residual[rows], arrays["element_slots_eval"][rows])
        close(embedding.vectors[rows], arrays["set_eval"][rows])


def test_training_statistics_leave_padding_out_unlike_the_published_code(images):
    arrays, regions = images
    theirs = image_tower(PaddedStatistics, LeakySlots, arrays).train()
    close(theirs(regions).vectors, arrays["set_train_nodropout"])
    close(theirs.body.branch[1].running_mean, arrays["bn_running_mean_after"])
    close(theirs.body.branch[1].running_var, arrays["bn_running_var_after"])
    ours = image_tower(RefinedProjection, Slots, arrays).train()
    assert (ours(regions).vectors - arrays["set_train_nodropout"]).abs().max() > 1e-3
    gap = ours.body.branch[1].running_mean - arrays["bn_running_mean_after"]
    assert gap.abs().max() > 1e-4


def text_tower(slots_kind, codes, arrays):
    body = WordEmbedding(20, 12, 0.0)
    body.load_state_dict({"embed.weight": arrays["embed"]})
    whole = BiGRUSummary(12, 16, 0.0)
    whole.load_state_dict(
        {
            f"gru.{kind}_{part}_l0{suffix}": arrays[f"gru_{way}_{kind[0]}_{part}"]
            for way, suffix in (("fwd", ""), ("bwd", "_reverse"))
            for kind in ("weight", "bias")
            for part in ("ih", "hh")
        }
    )
    head = load_slots(slots_kind(12, shape_of(arrays, 4), whole, codes), arrays)
    return Encoder(body, head).eval()


def test_the_text_tower_equals_the_published_one_only_with_its_errors(golden):
    arrays = tensors(golden("dive/dive_text_encoder"))
    tokens = Tokens(arrays["token_ids"], mask_of(arrays["lengths"], 6))
    with torch.no_grad():
        theirs = text_tower(LeakySlots, padded_line_codes, arrays)(tokens)
        ours = text_tower(Slots, text_positions, arrays)(tokens)
    close(theirs.vectors, arrays["set_eval"])
    close(theirs.residual, arrays["element_slots_eval"])
    close(ours.vectors[0], arrays["set_eval"][0])  # the one text that fills the batch
    gap = (ours.vectors - arrays["set_eval"]).abs().amax(dim=(1, 2))
    assert (gap[1:] > 1e-2).all()


def batch(regions: int = 4, size: int = 6, token: int = 0) -> Batch:
    words = torch.arange(5) < torch.tensor([[5], [3], [2], [4]])
    values = torch.randn(4, 5, token) if token else None
    places = torch.ones(4, regions, dtype=torch.bool)
    return Batch(
        Regions(torch.randn(4, regions, size), places),
        Tokens(torch.randint(1, 20, (4, 5)), words, values),
        torch.eye(4, dtype=torch.bool),
    )


@pytest.mark.parametrize(
    ("method", "sizes", "made"),
    [
        (SMALL, SIZES, batch()),
        (replace(SMALL, image="grid"), SIZES, batch()),
        (SMALL, replace(SIZES, token=7), batch(token=7)),
        (PVSE(dim=8, word_dim=6), SIZES, batch()),
    ],
    ids=["regions and words", "grid and words", "regions and states", "pvse"],
)
def test_a_text_is_embedded_the_same_alone_as_in_a_batch(method, sizes, made):
    tower = method.model(sizes).eval().text
    together = tower(made.texts).vectors
    for row, length in enumerate(made.texts.mask.sum(dim=1).tolist()):
        alone = Tokens(
            made.texts.ids[row : row + 1, :length],
            made.texts.mask[row : row + 1, :length],
            None if made.texts.values is None else made.texts.values[row : row + 1, :length],
        )
        torch.testing.assert_close(tower(alone).vectors[0], together[row], atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"start": "sampled"},
        {"update": "gru"},
        {"whole": False},
        {"start": "sampled", "update": "gru", "whole": False},
        {"image": "grid"},
        {"similarity": "mil"},
        {"similarity": "mp"},
        {"similarity": "chamfer"},
        {"sharpness": 4.0, "parts": 1},
    ],
)
def test_every_variant_trains_all_its_weights(options):
    method = replace(SMALL, dropout=0.0, **options)
    model = method.model(SIZES)
    # One direction of the hinge suffices here; a margin above 2 keeps every hinge open.
    terms = replace(method, margin=3.0).objective(SIZES)(model(batch()), 0)
    sum(terms.values()).backward()
    unused = {name for name, p in model.named_parameters() if p.grad is None}
    assert unused == set()
    assert all(p.grad.isfinite().all() for p in model.parameters())


def test_pvse_trains_all_its_weights():
    method = PVSE(dim=8, word_dim=6, margin=3.0)
    model = method.model(SIZES)
    sum(method.objective(SIZES)(model(batch()), 0).values()).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_grids_of_other_shapes_in_a_batch_leave_a_picture_s_embedding_alone():
    torch.manual_seed(0)
    model = replace(SMALL, image="grid").model(SIZES).eval()
    wide, tall = (torch.from_numpy(grid_boxes(*shape)) for shape in ((2, 4), (3, 1)))
    boxes = torch.stack([wide, torch.cat([tall, torch.zeros(5, 5)])])
    mask = torch.arange(8) < torch.tensor([[8], [3]])
    values = torch.randn(2, 8, 6)
    with torch.no_grad():
        both = model.image(Regions(values, mask, boxes)).vectors
        alone = model.image(Regions(values[1:, :3], mask[1:, :3], boxes[1:, :3])).vectors
        turned = model.image(Regions(values[:1], mask[:1], boxes[:1, :, [2, 3, 0, 1, 4]])).vectors
    torch.testing.assert_close(both[1:], alone, atol=1e-5, rtol=0)
    assert (both[:1] - turned).abs().max() > 1e-3, "codes do not follow the shape of the grid"
