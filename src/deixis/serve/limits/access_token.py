"""The token that callers beyond this machine must show, and where a request carries it."""

import hashlib
import secrets
from urllib.parse import parse_qs, quote, unquote

from starlette.datastructures import Headers

from deixis.errors import SearchError

SHORTEST = 16  # characters: 16 random letters and digits are 95 bits, far beyond guessing
COOKIE = "deixis_token"


def checked_token(token: str | None) -> str | None:
    """Refuse a token that anybody could guess, such as the empty one of an unset variable."""
    if token is None:
        return None
    if len(token.strip()) < SHORTEST:
        found = "empty" if not token.strip() else f"{len(token.strip())} characters long"
        raise SearchError(
            f"the token is {found}; give at least {SHORTEST} characters in --token or "
            f"DEIXIS_TOKEN, such as {secrets.token_urlsafe(SHORTEST)}"
        )
    try:
        token.encode()
    except UnicodeEncodeError:  # the token itself stays out of the sentence, and so of any log
        raise SearchError("the token is not UTF-8; letters and digits will do") from None
    return token


def is_token(sent: str, wanted: str) -> bool:
    """Compare in a time that depends neither on the place of the first difference nor on length."""
    return secrets.compare_digest(
        *(hashlib.sha256(one.encode()).digest() for one in (sent, wanted))
    )


def sent_token(headers: Headers) -> str:
    """What a request shows, in its header or its cookie; empty when it shows nothing."""
    kind, _, value = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    # Cookies of other programs on this host come along in any form; only ours is looked at.
    for cookie in ";".join(headers.getlist("cookie")).split(";"):
        name, _, content = cookie.strip().partition("=")
        if name == COOKIE:
            return unquote(content)
    return ""


def token_in_link(query_string: bytes) -> str:
    """What the address of the page shows."""
    return parse_qs(query_string.decode("latin-1")).get("token", [""])[0]


def quoted(token: str) -> str:
    """A token as it goes into a link or a cookie."""
    return quote(token, safe="")
