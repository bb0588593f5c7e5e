import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
sys.path.insert(0, str(Path(__file__).parents[1] / "search"))

import calibration
from fake_encoder import FakeEncoder

from deixis.data.scenes.write import write_scenes
from deixis.search.calibration import SENSELESS
from deixis.search.library import Library


def test_every_kind_of_query_is_counted_and_none_was_learnt_from(tmp_path, monkeypatch, capsys):
    assert not {*calibration.MADE_UP, *calibration.UNSEEN} & set(SENSELESS)
    scenes = write_scenes(tmp_path / "scenes", images=60)
    with Library.open_or_create(tmp_path / "library", FakeEncoder()) as library:
        library.add(sorted((scenes / "train").glob("*.jpg"))[:34], FakeEncoder())
    monkeypatch.setattr(calibration, "open_run", lambda source: FakeEncoder())
    calibration.main(tmp_path / "library", scenes)
    lines = capsys.readouterr().out.splitlines()
    kinds = [line[:26].strip() for line in lines]
    assert sorted(kinds) == [
        "captions of its pictures",
        "made-up words",
        "nothing to see",
        "other captions",
    ]
    for line in lines:
        shares = [int(share) for share in line.replace("%", "").split() if share.isdigit()][1:]
        assert 99 <= sum(shares) <= 101
