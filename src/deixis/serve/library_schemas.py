"""Request and response types for browsing a library and adding folders to it."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from deixis.serve.schemas import Id


class BrowsedBody(BaseModel):
    """A picture in its place in the library."""

    id: Id
    paths: list[str]
    width: int | None
    height: int | None
    changed: datetime = Field(description="When its file was last written.")
    heading: str = Field(description="Its month, such as 2024-06, or its folder.")


class HeadingBody(BaseModel):
    """A month or folder."""

    name: str
    count: int


class BrowseResponse(BaseModel):
    """Some pictures of the library in order."""

    pictures: list[BrowsedBody]
    headings: list[HeadingBody] = Field(description="All of them, in the first answer only.")


class ExamplesResponse(BaseModel):
    """Queries to begin with."""

    examples: list[str]


class FolderRequest(BaseModel):
    """A folder of this machine."""

    folder: str = Field(min_length=1, max_length=4_096)


class FileProblemBody(BaseModel):
    """A file that could not be added."""

    path: str
    reason: str


class IndexingResponse(BaseModel):
    """How far a folder is."""

    standing: Literal["idle", "running", "paused", "done", "failed"]
    folder: str
    done: int = Field(description="Files looked at.")
    total: int
    added: int = Field(description="Files that are new, changed or renamed.")
    problems: list[FileProblemBody]
    reason: str = Field(description="Why it failed.")
