import numpy as np
import pytest
from PIL import Image

from deixis.search.library.library_store import LibraryStore
from deixis.search.library.pictures.fingerprint import (
    ALIKE,
    Fingerprint,
    distance,
    fingerprint_of,
    stacked,
)
from deixis.search.query.query import Query
from deixis.search.query.searcher import Searcher


def motif(seed: int) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(0, 255, (9, 12, 3), dtype=np.uint8)
    return Image.fromarray(pixels).resize((480, 360), Image.Resampling.BICUBIC)


@pytest.fixture
def look(tmp_path):
    def looked(picture: Image.Image, name: str = "a.jpg", **options):
        picture.save(tmp_path / name, **options)
        return fingerprint_of(tmp_path / name)

    return looked


def test_scaling_recompressing_and_toning_leave_the_print(look):
    first = look(motif(0), quality=95)
    changed = [
        look(motif(0), quality=40),
        look(motif(0).resize((200, 150))),
        look(motif(0).point(lambda value: value * 0.8 + 20)),
    ]
    assert all(distance(first, other) <= ALIKE for other in changed)


def test_other_motifs_have_other_prints(look):
    looks = [look(motif(seed)) for seed in range(12)]
    assert min(distance(a, b) for i, a in enumerate(looks) for b in looks[:i]) > 2 * ALIKE
    assert stacked(looks) == [[place] for place in range(12)]


def test_pictures_go_under_the_first_they_nearly_equal_and_no_chains_form():
    def print_of(*bits):
        changed = np.zeros(256, dtype=np.uint8)
        changed[list(bits)] = 1
        return Fingerprint(1, 1, np.packbits(changed).tobytes())

    near, far = print_of(*range(10)), print_of(*range(20))  # 10 from its neighbour, 20 from zero
    assert distance(print_of(), far) > ALIKE
    assert stacked([print_of(), None, near, far, near, print_of(200)]) == [[0, 2, 4, 5], [1], [3]]
    assert stacked([]) == []


def test_the_size_is_that_of_the_upright_picture(look):
    exif = Image.Exif()
    exif[274] = 6
    upright = look(motif(0), exif=exif)
    assert (upright.width, upright.height) == (360, 480)


def test_what_is_no_picture_has_no_look(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"no picture")
    assert fingerprint_of(tmp_path / "a.jpg") is None


def test_near_duplicates_are_folded_into_the_best_and_others_move_up(tmp_path, encoder):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for number in range(6):
        motif(number).save(pictures / f"{number}.png")
    for quality in (30, 60, 90):
        motif(0).save(pictures / f"again{quality}.jpg", quality=quality)
    with LibraryStore.open_or_create(tmp_path / "library", encoder) as library:
        library.add([pictures], encoder)
        hits = Searcher(encoder, library).search(Query(text="anything", k=6)).hits
    assert len(hits) == 6
    assert sorted(len(hit.stack) for hit in hits) == [0, 0, 0, 0, 0, 3]
    assert {path for hit in hits for path in hit.paths} >= {
        str(pictures / f"{number}.png") for number in range(1, 6)
    }
