"""Every error deixis raises on purpose, as one tree.

DeixisError
├── DataError          a corpus, caption, picture or narration that cannot be used
├── FeatureError       features that are missing, damaged or made by another backbone
├── RecipeError        a recipe, method name or option that does not exist or does not fit
├── RunError           a run folder that is missing, incomplete or of another shape
├── EvaluationError    scores or rankings that cannot be judged
└── SearchError        a library or query that cannot be served
    ├── FilterError    a filter on pictures that cannot be read
    └── UnavailableError  a library that cannot answer right now

A message says what was wrong, what was found and where, and what to use instead.
"""


class DeixisError(Exception):
    """The root: catch it to catch everything deixis refuses."""


class DataError(DeixisError):
    """A corpus, caption, picture or narration that cannot be used."""


class FeatureError(DeixisError):
    """Features that are missing, damaged or made by another backbone."""


class RecipeError(DeixisError):
    """A recipe, method name or option that does not exist or does not fit."""


class RunError(DeixisError):
    """A run folder that is missing, incomplete or of another shape."""


class EvaluationError(DeixisError):
    """Scores or rankings that cannot be judged."""


class SearchError(DeixisError):
    """A library or query that cannot be served."""


class FilterError(SearchError):
    """A filter on pictures that cannot be read."""


class UnavailableError(SearchError):
    """A library that cannot answer right now; the same request may succeed later."""
