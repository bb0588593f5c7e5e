"""Text that can be encoded: an argument that is not UTF-8 arrives with unpaired surrogates."""

from deixis.errors import SearchError


def require_whole(said: str, what: str, error: type[SearchError] = SearchError) -> str:
    r"""Refuse unpaired surrogates, which neither a tokenizer nor SQLite nor HTTP can take.

    >>> require_whole("caf\udce9", "the text")
    Traceback (most recent call last):
    deixis.errors.SearchError: the text 'caf\udce9' is not UTF-8; write it in that encoding
    """
    try:
        said.encode()
    except UnicodeEncodeError:
        shown = said.encode(errors="backslashreplace").decode()
        raise error(f"{what} '{shown}' is not UTF-8; write it in that encoding") from None
    return said
