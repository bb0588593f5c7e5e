"""`deixis mcp`: a library as tools of an assistant."""

from pathlib import Path

from deixis.cli.command import app
from deixis.cli.shared.options import LibraryFolder


@app.command()
def mcp(library: LibraryFolder = Path("library")) -> None:
    """Let an assistant search a library: the Model Context Protocol over standard input and output.

    Add `deixis mcp --library PATH` as a server to the assistant's settings.
    """
    from deixis.serve.assistant_tools import assistant_server

    assistant_server(library).run("stdio")
