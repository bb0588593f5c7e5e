"""Optional packages, and the error message for one that is not installed."""

from importlib.util import find_spec

from deixis.errors import DeixisError

# Which extra brings a module that some parts of deixis import without asking first.
EXTRAS = {
    "faiss": "ann",
    "faster_whisper": "speech",
    "mcp": "mcp",
    "obstore": "cluster",
    "onnx": "train",
    "ray": "cluster",
    "torch": "train",
    "transformers": "hub",
}


def need(module: str, extra: str) -> None:
    """Raise unless a module can be imported; the message says how to install it.

    Call it before the import, so that the import itself stays visible to readers and type checkers.

    >>> need("json", "report")
    >>> need("no_such_module", "report")
    Traceback (most recent call last):
    deixis.errors.DeixisError: this needs no_such_module: pip install 'deixis[report]'
    """
    if find_spec(module) is None:
        raise missing(module, extra)


def missing(module: str, extra: str) -> DeixisError:
    """The error for a module that an extra brings."""
    return DeixisError(f"this needs {module}: pip install 'deixis[{extra}]'")


def missing_extra(error: ImportError) -> DeixisError | None:
    """The error for an import that failed because an extra is not installed, if that is why.

    >>> str(missing_extra(ModuleNotFoundError(name="torch")))
    "this needs torch: pip install 'deixis[train]'"
    """
    module = (error.name or "").split(".")[0]
    return missing(module, EXTRAS[module]) if module in EXTRAS else None
