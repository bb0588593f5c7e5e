"""Features extracted as jobs are those of one process, and go on where either stopped."""

import pytest
from made_pictures import make_pictures

from deixis.errors import SearchError
from deixis.features.backbones.backbone import image_backbone, text_source
from deixis.features.store import extract
from deixis.features.store.extract import extract_images, extract_texts
from deixis.scale import extract_blocks
from deixis.scale.engine import LocalEngine
from deixis.scale.extract_blocks import BlockJob, extract_block, extraction_on


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    for module in (extract, extract_blocks):
        monkeypatch.setattr(module, "IMAGES", 4)
        monkeypatch.setattr(module, "TEXTS", 2)


@pytest.fixture
def files(tmp_path):
    """Pictures, one damaged, and one that is not there."""
    found = sorted(make_pictures(tmp_path / "pictures", 9).iterdir())
    return [*found, tmp_path / "pictures" / "missing.jpg"]


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.suffix != ".lock"}


def test_images_are_extracted_alike(files, tmp_path):
    backbone, jobs = image_backbone("lite0-int8"), extraction_on(LocalEngine())
    extract_images(backbone, files, tmp_path / "alone", "c")
    extract_images(backbone, files, tmp_path / "jobs", "c", None, jobs.images)
    assert contents(tmp_path / "jobs") == contents(tmp_path / "alone")


def test_texts_are_extracted_alike(tmp_path):
    texts = ["a dog", "a red boat on the sea", "two cats", "a house", "rain"]
    backbone, jobs = text_source("minilm-int8").fit(texts), extraction_on(LocalEngine())
    extract_texts(backbone, texts, tmp_path / "alone", "c")
    extract_texts(backbone, texts, tmp_path / "jobs", "c", None, jobs.texts)
    assert contents(tmp_path / "jobs") == contents(tmp_path / "alone")


def test_words_are_counted_here(tmp_path):
    """A vocabulary knows all texts, so no job may make one of its own."""
    texts = ["a dog", "a dog", "a dog", "a dog", "a cat"]
    words, jobs = text_source("words").fit(texts), extraction_on(LocalEngine())
    extract_texts(words, texts, tmp_path / "alone", "c")
    extract_texts(words, texts, tmp_path / "jobs", "c", None, jobs.texts)
    assert contents(tmp_path / "jobs") == contents(tmp_path / "alone")


def test_jobs_go_on_where_one_process_stopped(files, tmp_path):
    backbone, jobs = image_backbone("lite0-int8"), extraction_on(LocalEngine())

    def stop(done, total):
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract_images(backbone, files, tmp_path / "cut", "c", stop)
    steps = []
    extract_images(
        backbone, files, tmp_path / "cut", "c", lambda done, n: steps.append(done), jobs.images
    )
    assert steps == [8, 11]
    extract_images(backbone, files, tmp_path / "whole", "c")
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_another_backbone_on_a_node_is_refused():
    job = BlockJob("image", "lite0-int8", {"weights": "others"}, 0, ())
    with pytest.raises(SearchError, match="lite0-int8 on .* is not the one of the machine"):
        extract_block(job)
