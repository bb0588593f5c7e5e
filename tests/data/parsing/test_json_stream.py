import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deixis.data.parsing import json_stream
from deixis.data.parsing.json_stream import stream_json
from deixis.errors import DataError

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(content=st.dictionaries(st.text(max_size=4), values, max_size=4), chunk=st.integers(1, 9))
def test_streaming_equals_loading_whatever_the_chunks(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, object], chunk: int
) -> None:
    path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", chunk)
        items = list(stream_json(path))
    found: dict[str, object] = {
        key: [] for key, value in content.items() if isinstance(value, list)
    }
    for item in items:
        if isinstance(content[item.key], list):
            found[item.key].append(item.value)  # type: ignore[attr-defined]
        else:
            found[item.key] = item.value
    assert found == content


def test_items_know_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": [1,\n 2,\n\n {"x":\n 3}, 4], "b":\n "c"}')
    assert [item.line for item in stream_json(path)] == [1, 2, 4, 5, 6]


@pytest.mark.parametrize("text", ["", "[1]", '{"a": [1', '{"a" 1}', '{"a": [1 2]}'])
def test_what_is_not_json_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"a.json:1: not JSON as expected"):
        list(stream_json(path))
