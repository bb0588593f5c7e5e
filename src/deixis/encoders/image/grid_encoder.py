"""An image encoder whose head knows where the cells of a grid lie."""

from typing import Any

from deixis.encoders.encoder import Encoder
from deixis.types import Regions, Tokens


class GridEncoder(Encoder):
    """The head is given boxes, too: position codes then follow a grid of any shape."""

    def for_head(self, batch: Regions | Tokens) -> tuple[Any, ...]:
        """The body's vectors, which of them exist, and the boxes where features have some."""
        return (*self.body(batch), batch.boxes if isinstance(batch, Regions) else None)
