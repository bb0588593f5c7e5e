"""Objects in an S3-compatible bucket, through obstore.

Credentials, region and endpoint come from the standard ``AWS_*`` environment variables.
"""

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, TypeVar

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import S3Store

from deixis.errors import SearchError
from deixis.scale.store import (
    MissingObjectError,
    OnRefused,
    SilentStoreError,
    StoredObject,
    unsaid,
)

T = TypeVar("T")
REFUSALS = (PermissionDeniedError, UnauthenticatedError, PermissionError)
RETRIES = 3
SECONDS = 30  # a request that takes longer has failed


class BucketStore:
    """Objects below ``s3://bucket/prefix``; create-once and swap are conditional writes."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        endpoint = os.environ.get("AWS_ENDPOINT_URL", os.environ.get("AWS_ENDPOINT", ""))
        try:
            self._store = S3Store.from_url(
                self._url,
                client_options={
                    "allow_http": endpoint.startswith("http://"),
                    "timeout": timedelta(seconds=SECONDS),
                },
                retry_config={"max_retries": RETRIES},
            )
        except (BaseError, ValueError) as error:
            raise SearchError(f"{url} cannot be opened as a bucket: {_first(error)}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return BucketStore, (self._url,)

    @property
    def url(self) -> str:
        """The address of the bucket and the prefix."""
        return self._url

    def read(self, name: str) -> bytes:
        """The content of an object."""
        return self.read_tagged(name)[0]

    def read_tagged(self, name: str) -> tuple[bytes, str]:
        """The content of an object and its e-tag."""
        found = self._ask(name, lambda: obstore.get(self._store, name))
        content = self._ask(name, lambda: bytes(found.bytes()))
        return content, str(found.meta["e_tag"])

    def write(self, name: str, content: bytes) -> None:
        """Write an object, replacing what was there."""
        self._ask(name, lambda: obstore.put(self._store, name, content))

    def create(self, name: str, content: bytes) -> bool:
        """Write an object where there is none."""
        try:
            self._ask(name, lambda: obstore.put(self._store, name, content, mode="create"))
        except (AlreadyExistsError, PreconditionError):
            return False
        return True

    def swap(self, name: str, content: bytes, tag: str) -> bool:
        """Replace an object whose e-tag is still this one."""
        try:
            self._ask(name, lambda: obstore.put(self._store, name, content, mode={"e_tag": tag}))
        except (PreconditionError, MissingObjectError):
            return False
        return True

    def list(self, prefix: str = "", on_refused: OnRefused = unsaid) -> Iterator[StoredObject]:
        """Every object whose name begins with the prefix."""
        # A bucket lists whole path segments; what is left of the prefix is compared here.
        folder = prefix.rpartition("/")[0]
        found = []
        for chunk in self._ask(prefix, lambda: list(obstore.list(self._store, folder or None))):
            for meta in chunk:
                tag, modified = str(meta["e_tag"]), meta["last_modified"].timestamp()
                found.append(StoredObject(meta["path"], meta["size"], tag, modified))
        yield from sorted((one for one in found if one.name.startswith(prefix)), key=_name)

    def delete(self, name: str) -> None:
        """Remove an object."""
        try:
            self._ask(name, lambda: obstore.delete(self._store, name))
        except MissingObjectError:
            return

    def _ask(self, name: str, request: Callable[[], T]) -> T:
        """Send a request; what the server refuses becomes a sentence."""
        try:
            return request()
        except (AlreadyExistsError, PreconditionError):
            raise
        except (BaseError, FileNotFoundError, PermissionError) as error:
            raise self._sentence(name, error) from error

    def _sentence(self, name: str, error: Exception) -> SearchError:
        # Of a listing that is refused only the server's own text says why.
        text = str(error)
        if "NoSuchBucket" in text:
            return SearchError(f"there is no bucket at {self._url}")
        if isinstance(error, NotFoundError | FileNotFoundError):
            return MissingObjectError(name, self._url)
        if isinstance(error, REFUSALS) or "AccessDenied" in text:
            return SearchError(
                f"{self._url} refuses '{name}': permission denied; AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY must be of a user who may read and write there"
            )
        return SilentStoreError(f"{self._url} does not answer for '{name}': {_first(error)}")


def _name(found: StoredObject) -> str:
    return found.name


def _first(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
