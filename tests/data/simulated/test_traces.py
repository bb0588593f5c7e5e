import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from deixis.cli.command import app, load_verbs
from deixis.data.corpus import Corpus
from deixis.data.read_corpus import read_corpus
from deixis.data.simulated.noun_places import NounPlaces
from deixis.data.simulated.nouns import common_nouns
from deixis.data.simulated.pointer import Visit, circle
from deixis.data.simulated.traces import SIMULATED, noun_places, simulated_traces
from deixis.errors import DataError
from deixis.features.store.boxes import grid_boxes
from deixis.features.store.packed import PackedRegions, offsets_of
from deixis.features.trace.narrated_tokens import narrated_tokens
from deixis.features.words.vocabulary import Vocabulary

load_verbs()

THINGS = ("dog", "boat", "tree")
CELLS = 4


def photographs(count: int = 60) -> tuple[Corpus, PackedRegions, list[dict[str, int]]]:
    """Pictures on a grid, each showing two things in two cells, and what stands where."""
    chance = np.random.default_rng(0)
    looks = 3 * chance.normal(size=(len(THINGS), 16))
    values = chance.normal(size=(count, CELLS * CELLS, 16))
    shown = []
    for picture in values:
        things = chance.permutation(len(THINGS))[:2]
        cells = chance.permutation(CELLS * CELLS)[:2]
        picture[cells] += looks[things]
        shown.append({THINGS[t]: int(c) for t, c in zip(things, cells, strict=True)})
    offsets = offsets_of([CELLS * CELLS] * count)
    boxes = np.tile(grid_boxes(CELLS), (count, 1))
    packed = PackedRegions(values.reshape(-1, 16).astype(np.float16), offsets, boxes)
    texts = tuple(f"a small {a} is near the {b}" for a, b in shown)
    corpus = Corpus(
        name="photographs",
        root=Path(),
        files=tuple(f"{i}.jpg" for i in range(count)),
        texts=texts,
        owners=np.arange(count),
        pairs=np.stack([np.arange(count)] * 2, axis=1),
        splits=("train",) * (count - 20) + ("test",) * 20,
    )
    return corpus, packed, shown


def test_nouns_end_phrases_and_verbs_after_known_nouns_do_not():
    texts = ["a brown dog jumps over", "the dog in snow", "a man jumps up", "the man"] * 2
    assert common_nouns(texts, 2) == ["dog", "man"]


def test_the_pointer_finds_things_in_pictures_it_was_not_taught_by():
    corpus, packed, shown = photographs()
    pointer = noun_places(corpus, (packed, np.arange(60)), "train", least=5)
    assert set(pointer.nouns) == set(THINGS)
    found = []
    for image in range(40, 60):
        rows = slice(*packed.offsets[image : image + 2])
        for noun, cell in shown[image].items():
            box = pointer.box(packed.values[rows].astype(np.float32), packed.boxes[rows], noun)
            cell_box = packed.boxes[rows][cell]
            found.append(box is not None and box[0] <= cell_box[0] and box[1] >= cell_box[1])
    assert np.mean(found) > 0.8


def test_what_is_learnt_depends_on_the_training_split_alone():
    corpus, packed, _ = photographs()
    changed = packed.values.copy()
    changed[packed.offsets[40] :] = 0
    other = PackedRegions(changed, packed.offsets, packed.boxes)
    first, second = (
        noun_places(corpus, (regions, np.arange(60)), "train", least=5)
        for regions in (packed, other)
    )
    np.testing.assert_array_equal(first.weight, second.weight)


def test_a_box_is_what_hangs_together_with_the_strongest_cell():
    pointer = NounPlaces({"dog": 0}, np.zeros(1), np.ones((1, 1)))
    boxes = grid_boxes(4)
    values = np.zeros((16, 1))
    values[[5, 6]] = [[1.0], [0.7]]  # neighbours in the second row
    values[15] = 0.9  # strong, but apart
    np.testing.assert_allclose(pointer.box(values, boxes, "dog"), [0.25, 0.75, 0.25, 0.5])


def test_no_evidence_is_no_box():
    pointer = NounPlaces({"dog": 0}, np.zeros(1), np.ones((1, 1)))
    assert pointer.box(np.full((16, 1), -1.0), grid_boxes(4), "dog") is None


def test_words_are_drawn_while_they_are_said_and_the_source_says_simulated():
    corpus, packed, shown = photographs()
    placed = (packed, np.arange(60))
    pointer = noun_places(corpus, placed, "train", least=5)
    narratives = list(simulated_traces(corpus, placed, pointer, 1, lambda done, total: None))
    assert {one.source for one in narratives} == {SIMULATED}
    vocabulary = Vocabulary.count(corpus.texts)
    tokens = narrated_tokens([one.narration for one in narratives], vocabulary)
    near = []
    for text, things in enumerate(shown):
        rows = slice(*tokens.trace.offsets[text : text + 2])
        words = [*corpus.texts[text].split()]
        for noun, cell in things.items():
            mine = tokens.trace.word[rows] == 1 + words.index(noun)
            if mine.any():
                box, cell_box = tokens.trace.boxes[rows][mine][0], grid_boxes(CELLS)[cell]
                middle = (box[0] + box[1]) / 2, (box[2] + box[3]) / 2
                near.append(
                    abs(middle[0] - (cell_box[0] + cell_box[1]) / 2) < 0.2
                    and abs(middle[1] - (cell_box[2] + cell_box[3]) / 2) < 0.2
                )
    assert len(near) > 80
    assert np.mean(near) > 0.7


def test_the_same_traces_are_drawn_every_time():
    visits = [Visit((0.3, 0.4), (0.2, 0.2), 0.5, 1.0)]
    first, second = (circle(visits, np.random.default_rng(3)) for _ in range(2))
    assert first == second


def test_without_frequent_nouns_nothing_is_simulated():
    corpus, packed, _ = photographs()
    with pytest.raises(DataError, match="no noun is frequent enough"):
        noun_places(corpus, (packed, np.arange(60)), "train", least=500)


def test_the_command_writes_narratives_the_corpus_then_has(tmp_path):
    (tmp_path / "images").mkdir()
    lines = []
    for number in range(12):
        colour = (250, 0, 0) if number % 2 else (0, 0, 250)
        Image.new("RGB", (32, 32), colour).save(tmp_path / f"images/{number}.jpg")
        captions = ["a dog is here" if number % 2 else "a boat is here"] * 10
        lines.append(json.dumps({"file": f"{number}.jpg", "split": "train", "captions": captions}))
    (tmp_path / "captions.jsonl").write_text("\n".join(lines))
    done = CliRunner().invoke(app, ["data", "traces", str(tmp_path), "--each", "2"])
    assert done.exit_code == 0, done.output
    corpus = read_corpus(tmp_path)
    assert (len(corpus.texts), len(corpus.narrations)) == (120 + 24, 24)
    assert all(narratives.strokes for narratives in corpus.narrations.values())
