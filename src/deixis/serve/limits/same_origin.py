"""Requests that a browser sends on behalf of another site's page are refused.

A browser says where a request comes from (``Sec-Fetch-Site``, ``Origin``); programs say neither and
are let through. A body must have a type that no page can send elsewhere without asking first, so
that browsers which say nothing are kept out as well.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from deixis.serve.problem_documents import problem

OWN = frozenset({"same-origin", "none"})  # none: typed into the address bar
HARMLESS = frozenset({"GET", "HEAD"})
PICTURES = "/v1/search/picture"
RECORDINGS = "/v1/speech"


def foreign(scope: Scope, headers: Headers) -> Response | None:
    """The refusal of a request that another site's page has sent, or None."""
    if scope["path"] == "/" and scope["method"] in HARMLESS:
        return None  # a link to the page may stand anywhere
    site = headers.get("sec-fetch-site", "none")
    origin = headers.get("origin")
    same = origin is None or _place(origin) == headers.get("host", "")
    if site not in OWN or not same:
        return problem(403, "another site's page may not call this server")
    return None


def _place(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # it is no address, so not this server's either
        return None


def wrong_type(scope: Scope, headers: Headers) -> Response | None:
    """The refusal of a body that is not JSON, nor what a path takes instead."""
    if scope["method"] in HARMLESS:
        return None
    kind = headers.get("content-type", "").split(";")[0].strip().lower()
    if scope["path"] == PICTURES:
        wanted, fits = "image/…", kind.startswith("image/")
    elif scope["path"] == RECORDINGS:
        wanted, fits = "audio/wav", kind == "audio/wav"
    else:
        wanted, fits = "application/json", kind == "application/json"
    if fits:
        return None
    return problem(415, f"the body's type is '{kind or 'missing'}'; send Content-Type: {wanted}")
