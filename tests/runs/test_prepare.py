"""What a recipe says of its data is what it gets."""

import json

import numpy as np
import pytest

from deixis.errors import DataError, RecipeError
from deixis.evaluation.probes.trace_controls import narrated
from deixis.features.words.vocabulary import Vocabulary
from deixis.methods.two_tower import TwoTower
from deixis.methods.vsepp import VSEPP
from deixis.runs.advance import silent
from deixis.runs.data_spec import DataSpec
from deixis.runs.find_corpus import find_corpus
from deixis.runs.prepare import prepare, prepare_split
from layouts.entities import write_flickr30k_entities
from layouts.karpathy import write_flickr30k
from layouts.scan_arrays import write_scan_arrays
from made import made_pictures


@pytest.fixture
def captioned(tmp_path):
    """A captioned corpus with a narrative beside it, as ``deixis data traces`` leaves it."""
    made_pictures(tmp_path / "images", 6)
    splits = ("train", "train", "val", "val", "test", "test")
    with (tmp_path / "captions.jsonl").open("w") as captions:
        for number, split in enumerate(splits):
            row = {"file": f"{number}.png", "split": split, "captions": ["a dog", "a cat"]}
            captions.write(json.dumps(row) + "\n")
    stroke = [{"x": 0.1 * i, "y": 0.5, "t": 0.1 * i} for i in range(10)]
    timed = [{"utterance": "a narrated dog", "start_time": 0.0, "end_time": 0.9}]
    with (tmp_path / "narratives_simulated.jsonl").open("w") as narratives:
        for number in range(6):
            record = {"image_id": f"images/{number}.png", "caption": "a narrated dog"}
            record |= {"timed_caption": timed, "traces": [stroke]}
            narratives.write(json.dumps(record) + "\n")
    return tmp_path


def test_captions_are_without_the_narratives_beside_them(captioned):
    corpus = find_corpus(DataSpec(corpus=str(captioned)), silent)
    assert set(corpus.texts) == {"a dog", "a cat"}
    narrated = find_corpus(DataSpec(corpus=str(captioned), texts="narrations"), silent)
    assert set(narrated.texts) == {"a narrated dog"}


def test_a_corpus_without_the_texts_asked_for_names_the_others(captioned):
    (captioned / "narratives_simulated.jsonl").unlink()
    with pytest.raises(RecipeError, match='no narrations among its 12 texts; use data.texts = "ca'):
        find_corpus(DataSpec(corpus=str(captioned), texts="narrations"), silent)


def test_pictures_without_any_text_say_where_texts_come_from(tmp_path):
    spec = DataSpec(corpus=str(made_pictures(tmp_path / "photos", 2)))
    with pytest.raises(RecipeError, match="has pictures and no text; put metadata.jsonl beside"):
        find_corpus(spec, silent)


def test_the_window_reaches_the_trace_controls(captioned):
    words = Vocabulary(("a", "dog", "narrated"))
    counts = []
    for window in (0.4, 0.1):
        spec = DataSpec(corpus=str(captioned), texts="narrations", window=window)
        tokens = prepare_tokens(spec, words)
        again = narrated(tokens, words)
        assert again.tokens.trace is not None and tokens.tokens.trace is not None
        np.testing.assert_array_equal(again.tokens.trace.boxes, tokens.tokens.trace.boxes)
        counts.append(len(again.tokens.trace.boxes))
    assert counts[0] < counts[1]


def prepare_tokens(spec, words):
    """The test split with tokens alone: its regions are one zero per image."""
    from deixis.data.dataset import Dataset
    from deixis.features.store.packed import PackedRegions, offsets_of
    from deixis.runs.prepare import _tokens

    corpus = find_corpus(spec, silent).split("test")
    count = len(corpus.files)
    regions = PackedRegions(np.zeros((count, 1), np.float32), offsets_of([1] * count))
    tokens = _tokens(words, spec, corpus, silent)
    return Dataset(corpus, regions, tokens, np.arange(count), np.arange(len(corpus.texts)))


@pytest.mark.parametrize("boxes", [False, True])
def test_scan_arrays_prepare_under_the_names_recipes_use(tmp_path, boxes):
    splits = {"train": 24, "dev": 10, "test": 10, "testall": 20}
    root = write_scan_arrays(tmp_path / "coco_precomp", splits, boxes=boxes)
    spec = DataSpec(corpus=str(root), image="regions", val="dev")
    prepared = prepare(spec, silent)
    sizes = {name: (len(d.images), len(d.texts)) for name, d in prepared.splits.items()}
    assert sizes == {"train": (24, 120), "val": (10, 50), "test": (10, 50)}
    fold = prepare_split(spec, "testall", prepared.vocabulary, silent)
    assert (len(fold.images), len(fold.texts)) == (20, 100)
    found = prepared.splits["val"].batch(np.arange(2), np.arange(10)).images.boxes
    if not boxes:
        assert found is None
        return
    raw = np.load(root / "dev_boxes.npy")[5, 0]  # second image, first region
    x1, y1, x2, y2 = raw / [500, 375, 500, 375]
    assert found[1, 0, :4].tolist() == pytest.approx([x1, x2, y1, y2], abs=1e-6)


def test_a_missing_split_lists_those_that_are_there(tmp_path):
    root = write_scan_arrays(tmp_path / "f30k_precomp")
    with pytest.raises(DataError, match="no split 'testall'; it has: test, train, val"):
        prepare(DataSpec(corpus=str(root), image="regions", test="testall"), silent)


def test_boxes_in_pixels_without_sizes_are_refused(tmp_path):
    root = write_scan_arrays(tmp_path / "f30k_precomp", boxes=True)
    (root / "train_image_size.npy").unlink()
    with pytest.raises(DataError, match=r"train_image_size\.npy"):
        prepare(DataSpec(corpus=str(root), image="regions"), silent)


def test_the_first_images_of_a_split_can_choose_alone(tmp_path):
    root = write_scan_arrays(tmp_path / "f30k_precomp")
    spec = DataSpec(corpus=str(root), image="regions", val="dev", val_images=4)
    val = prepare(spec, silent).splits["val"]
    assert val.corpus.files == tuple(f"dev_ims.npy#{5 * place}" for place in range(4))
    assert (len(val.images), len(val.texts)) == (4, 20)
    whole = prepare_split(spec, "dev", Vocabulary(("a",)), silent)
    assert len(whole.images) == 10


def test_phrases_are_one_vector_each_and_no_method_may_look_up_their_words(tmp_path, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path / "cache"))
    root = write_flickr30k_entities(tmp_path / "flickr30k")
    prepared = prepare(DataSpec(str(root), texts="phrases", text="minilm-int8"), silent)
    assert prepared.sizes.text and not prepared.sizes.vocabulary
    TwoTower().model(prepared.sizes)
    with pytest.raises(RecipeError, match="two_tower and places"):
        VSEPP().model(prepared.sizes)


def test_pictures_without_their_regions_say_where_these_should_lie(tmp_path):
    spec = DataSpec(corpus=str(write_flickr30k(tmp_path / "flickr30k")), image="regions")
    with pytest.raises(DataError, match="has features 'regions': .*no folder 'regions' beside"):
        prepare(spec, silent)
