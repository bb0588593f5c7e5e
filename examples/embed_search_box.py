"""The search box inside your own web program: its page, its interface, and a route of your own.

python examples/embed_search_box.py LIBRARY        then open http://127.0.0.1:8421
"""

import sys
from pathlib import Path

import uvicorn
from fastapi import FastAPI

import deixis
from deixis.serve.app import create_app


def program(folder: Path) -> FastAPI:
    """Answer everything the search box needs, and /best with a text."""
    app = create_app(folder)
    library = deixis.Library(folder)

    @app.get("/best")
    def best(text: str) -> dict[str, str]:
        hits = library.search(text, k=1).hits
        return {"file": hits[0].paths[0] if hits else ""}

    return app


if __name__ == "__main__":
    uvicorn.run(program(Path(sys.argv[1])), port=8421)
