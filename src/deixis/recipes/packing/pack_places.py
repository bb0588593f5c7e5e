"""The place head of a packed run, judged as shipped and described on the run's card."""

from deixis.evaluation.places.places_result import PlacesResult
from deixis.files import write_atomic, write_json
from deixis.recipes.packing.packaged_card import UNREAD
from deixis.recipes.pointing.judge_pointing import judge_pointing
from deixis.recipes.pointing.places_table import places_markdown
from deixis.runs.advance import Advance, silent
from deixis.runs.data_spec import DataSpec
from deixis.runs.places.place_head import PlaceHead
from deixis.runs.run import Run

HEADING = "## Pointing"
SAID = """
When phrases of a query are pointed at, photographs are ordered by words and places together. Below,
t→i on split `{test}` as shipped: texts with a phrase that people drew a box for, the place of each
phrase remembered with an error (σ, in sides of the picture, and a size off by a factor of about
e^0.3), scribbled, or wrong.

"""

UNDERSTOOD = """\
- Places count by phrases. A place without a phrase says "something is here", which is a good part
  of what pointing gains. Places were learnt from the boxes of Flickr30k Entities on the first
  corpus; small things and parts of bodies are found worst."""


def pack_places(run: Run, data: DataSpec, advance: Advance = silent) -> PlacesResult:
    """Judge a packed run with the place head it holds, on the data of the head."""
    head = PlaceHead.read(run.path("places"))
    result = judge_pointing(run, head, data.test, data.corpus, advance)
    card = run.path("card").read_text(encoding="utf-8").partition(HEADING)[0].rstrip()
    card = card.replace(UNREAD, UNDERSTOOD)
    write_json(run.path("metrics"), run.metrics | {"pointing": result.to_dict()})
    section = SAID.format(test=data.test) + places_markdown([result])
    write_atomic(run.path("card"), f"{card}\n\n{HEADING}\n{section}".encode())
    return result
