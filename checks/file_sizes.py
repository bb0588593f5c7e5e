"""Print the ten largest source files; fail for one above the limit that does not say why.

A file may be longer than the limit when its docstring holds a line that begins with "Long because".
"""

import subprocess
import sys
from pathlib import Path

LIMIT = 300
SUFFIXES = {".py", ".js", ".css", ".html"}


def main() -> int:
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    sizes = []
    for name in names:
        path = Path(name)
        if path.suffix in SUFFIXES and path.is_file():
            text = path.read_text(encoding="utf-8")
            sizes.append((text.count("\n"), name, "Long because" in text))
    sizes.sort(reverse=True)
    for lines, name, _ in sizes[:10]:
        print(f"{lines:5d}  {name}")
    over = [name for lines, name, excused in sizes if lines > LIMIT and not excused]
    for name in over:
        print(f"{name} is longer than {LIMIT} lines: split it, or say 'Long because …' in it")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
