import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
sys.path.insert(0, str(Path(__file__).parents[1] / "search"))

import calibration
import pytest

from deixis.data.simulated.scenes.write_scenes import write_scenes
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.calibration import SENSELESS
from fake_encoder import FakeEncoder


def test_every_kind_of_query_is_counted_and_none_was_learnt_from(tmp_path, monkeypatch, capsys):
    asked = {*calibration.MADE_UP, *calibration.UNSEEN, *calibration._made_up(random.Random(0))}
    assert len(asked) == 120 and not asked & set(SENSELESS)
    scenes = write_scenes(tmp_path / "scenes", images=60)
    with LibraryStore.open_or_create(tmp_path / "library", FakeEncoder()) as library:
        library.add(sorted((scenes / "train").glob("*.jpg"))[:34], FakeEncoder())
    monkeypatch.setattr(calibration, "load_encoder", lambda source: FakeEncoder())
    calibration.main(tmp_path / "library", scenes)
    lines = capsys.readouterr().out.splitlines()
    kinds = [line[:26].strip() for line in lines]
    assert sorted(kinds) == [
        "its pictures, even half",
        "its pictures, odd half",
        "made-up words",
        "nothing to see",
        "other captions",
    ]
    for line in lines:
        shares = [float(share) for share in line.replace("%", "").split() if "." in share]
        assert len(shares) == 3 and sum(shares) == pytest.approx(100, abs=0.2)
