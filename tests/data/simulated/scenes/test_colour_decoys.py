import numpy as np
import pytest

from deixis.data.read_corpus import read_corpus
from deixis.data.simulated.scenes import write_scenes
from deixis.data.simulated.scenes.colour_decoys import colour_cases
from deixis.features.trace.boxes_of_trace import samples_of, window_boxes


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    root = write_scenes(tmp_path_factory.mktemp("scenes") / "s", images=40)
    return colour_cases(read_corpus(root).narrated())


def test_a_decoy_differs_in_the_vector_of_one_region_alone(cases):
    assert len(cases) > 10
    for case in cases:
        changed = np.any(case.picture[0] != case.decoy[0], axis=1)
        assert changed.sum() == 1
        assert np.array_equal(case.picture[1], case.decoy[1])


def test_a_sprawling_trace_has_one_large_stretch_and_the_same_words(cases):
    for case in cases:
        assert case.narration.words == case.sprawling.words
        samples = [samples_of(narration.strokes) for narration in (case.narration, case.sprawling)]
        areas = [window_boxes(s).boxes[:, 4].max() for s in samples]
        assert areas[1] > max(areas[0], 0.2)
