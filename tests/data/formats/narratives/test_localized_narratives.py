import json
from pathlib import Path

import pytest

from deixis.data.formats.narratives.localized_narratives import (
    Narrative,
    NarrativeFile,
    narrative_record,
    parse_narrative,
    read_narratives,
)
from deixis.errors import DataError
from deixis.features.trace.narration import Narration, Point, TimedWord

TRACES = Path(__file__).parents[3] / "golden" / "trace"


@pytest.fixture(scope="module")
def expected() -> dict[str, dict[str, int]]:
    content = json.loads((TRACES / "expected_boxes.json").read_text())
    return {image: record for image, record in content["records"].items()}


@pytest.mark.parametrize("name", ["vidln_real_lnformat.jsonl", "edge_cases_lnformat.jsonl"])
def test_golden_narratives_parse(name: str, expected: dict[str, dict[str, int]]) -> None:
    records = list(read_narratives(TRACES / name))
    assert len(records) in (3, 4)
    for record in records:
        points = sum(len(stroke) for stroke in record.narration.strokes)
        broken = 1 if record.image == "edge_0004" else 0  # a point without x
        assert points + broken == expected[record.image]["n_points"]
        assert len(record.narration.strokes) == expected[record.image]["n_strokes"]
        assert record.narration.words


def test_genuine_fragments_parse_in_both_layouts() -> None:
    fragments = json.loads((TRACES / "ln_real_fragments.json").read_text())
    columns = parse_narrative(fragments["column_layout_partial"], "fragment")
    assert len(columns.narration.words) == 20
    assert columns.narration.words[1] == TimedWord("this image there are some persons", 1.0, 1.0)
    rows = fragments["row_layout_partial"][2]
    narrative = parse_narrative(rows | {"timed_caption": rows["timed_caption_first"]}, "fragment")
    assert narrative.narration.words[0] == TimedWord("In the", 0.0, 0.0)
    assert narrative.narration.strokes == ()


def test_column_layout_equals_row_layout() -> None:
    row = json.loads((TRACES / "vidln_real_lnformat.jsonl").read_text().splitlines()[0])
    words = row["timed_caption"]
    by_stroke = [{k: [p[k] for p in stroke] for k in "xyt"} for stroke in row["traces"]]
    around = {k: [[p[k] for p in stroke] for stroke in row["traces"]] for k in "xyt"}
    timed = {k: [word[k] for word in words] for k in words[0]}
    wanted = parse_narrative(row, "row")
    assert parse_narrative(row | {"timed_caption": timed, "traces": by_stroke}, "column") == wanted
    assert parse_narrative(row | {"timed_caption": timed, "traces": around}, "column") == wanted


def test_a_line_with_only_a_caption_is_a_narrative() -> None:
    narrative = parse_narrative({"image_id": 12, "caption": "a dog"}, "here")
    assert narrative == Narrative("12", Narration("a dog"))


def test_writing_and_reading_a_record_changes_nothing() -> None:
    words = (TimedWord("red", 0.0, 0.5), TimedWord("car", 0.5, 0.5))
    narration = Narration("red car", words, ((Point(-0.1, 0.5, 0.2),), ()))
    narrative = Narrative("train/1.jpg", narration, "mine", 4)
    assert parse_narrative(json.loads(json.dumps(narrative_record(narrative))), "x") == narrative


def test_a_record_is_read_where_it_lies(tmp_path: Path) -> None:
    path = tmp_path / "narratives.jsonl"
    lines = [
        json.dumps({"image_id": str(i), "caption": f"é {i}"}, ensure_ascii=False) for i in range(5)
    ]
    path.write_text("\n\n".join(lines), encoding="utf-8")
    file = NarrativeFile(path)
    assert file.images == ["0", "1", "2", "3", "4"]
    assert [file[row].narration.text for row in (3, 0, 4)] == ["é 3", "é 0", "é 4"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not a line of JSON"),
        ("[1]", "found a list"),
        ('{"caption": "a"}', "no 'image_id'; found: caption"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "narratives.jsonl"
    path.write_text('{"image_id": "1", "caption": "a"}\n' + line + "\n")
    with pytest.raises(DataError, match=f"narratives.jsonl:2: {message}"):
        NarrativeFile(path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"timed_caption": [{"utterance": "a"}]},
        {"timed_caption": [{"utterance": "a", "start_time": "soon"}]},
        {"traces": [3]},
    ],
)
def test_a_record_of_the_wrong_shape_is_named(tmp_path: Path, wrong: dict[str, object]) -> None:
    path = tmp_path / "narratives.jsonl"
    path.write_text(json.dumps({"image_id": "1", "caption": "a"} | wrong))
    with pytest.raises(DataError, match=r"narratives.jsonl:1: not a Localized Narratives record"):
        NarrativeFile(path)[0]
