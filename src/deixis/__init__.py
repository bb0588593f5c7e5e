"""deixis: image–text retrieval from paper to search box."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deixis.data.corpus import Corpus as Corpus
    from deixis.methods.matcher import Matcher as Matcher
    from deixis.methods.matcher import load as load

# Where each public name lives. Names load on first use, so that `import deixis` needs no torch.
_PUBLIC = {
    "Corpus": "deixis.data.corpus",
    "Matcher": "deixis.methods.matcher",
    "load": "deixis.methods.matcher",
}

__version__ = "0.1.0"
__all__ = ["Corpus", "Matcher", "__version__", "load"]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'deixis' has no attribute '{name}'")
    return getattr(import_module(_PUBLIC[name]), name)
