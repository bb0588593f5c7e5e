"""A place head goes with a packed run: written in eight bits, judged, described on its card."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from deixis.cli.command import app, load_verbs
from deixis.recipes.packing.pack_places import UNDERSTOOD, pack_places
from deixis.recipes.packing.packaged_card import UNREAD
from deixis.runs.places.place_head import PlaceHead
from deixis.runs.places.take_place_head import take_place_head
from deixis.runs.run import Run

load_verbs()
RECIPE = Path(__file__).parents[3] / "recipes" / "photos.toml"
pytestmark = pytest.mark.slow  # two rows trained, every picture read by both networks twice


def call(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for row in ("text", "places"):
        call("train", RECIPE, "--tiny", "--row", row, "--runs", folder)
    return folder / "photos-tiny"


def test_a_packed_run_carries_the_head_and_its_card_reports_pointing(runs):
    text = Run(runs / "text-0")
    text.path("card").write_text(f"# A model\n\n{UNREAD}\n", encoding="utf-8")
    take_place_head(Run(runs / "places-0")).write(text.path("places"))
    result = pack_places(text, Run(runs / "places-0").data)
    card = text.path("card").read_text(encoding="utf-8")
    assert "## Pointing" in card
    assert "places without words" in card
    assert UNDERSTOOD in card and UNREAD not in card
    head = PlaceHead.read(text.path("places"))
    assert (head.image, head.text) == ("cells-int8", "minilm-int8")
    assert result.line("σ = 0.05").every[2] > result.line("text only").every[2]
    assert text.metrics["pointing"]["game"]["all"] == result.game["all"]
    pack_places(text, Run(runs / "places-0").data)
    assert text.path("card").read_text(encoding="utf-8") == card


def test_the_protocol_is_a_verb(runs):
    said = call("evaluate", runs / "text-0", "--protocol", "places", "--places", runs / "places-0")
    assert "swapped places" in said
    assert "mirrored twins" in said
