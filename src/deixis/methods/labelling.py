"""What the label-wise methods begin with."""

from deixis.encoders.encoder import Body
from deixis.encoders.project import Project
from deixis.errors import RecipeError
from deixis.methods.model import Sizes


def image_front(sizes: Sizes, dim: int) -> Body:
    """Regions, projected."""
    return Project(sizes.region, dim)


def labels_in(sizes: Sizes) -> int:
    """How many labels the corpus has; none is refused."""
    if not sizes.labels:
        raise RecipeError("label-wise methods need a corpus with labels; this one has none")
    return sizes.labels
