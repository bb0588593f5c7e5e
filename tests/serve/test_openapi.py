"""The interface is a promise: what is committed is what is served."""

import json
import sys
from pathlib import Path

from deixis.serve.app import create_app

COMMITTED = Path(__file__).parents[2] / "docs" / "openapi.json"


def described() -> str:
    document = create_app(Path("nowhere")).openapi()
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def test_the_committed_interface_is_the_served_one():
    """Write it again with: python tests/serve/test_openapi.py."""
    assert COMMITTED.read_text(encoding="utf-8") == described()


if __name__ == "__main__":
    COMMITTED.write_text(described(), encoding="utf-8")
    sys.exit(0)
