"""Build sdist and wheel twice, compare them byte for byte, and check what they say and hold.

``python checks/release.py`` leaves both in ``dist``. The date of every file in them is that of the
last commit, so that whoever builds this commit gets the same bytes.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LICENCES = ("LICENSE", "photos/LICENSE.md", "weights/NOTICE.md")


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        first, second = (build(Path(name) / turn) for turn in ("first", "second"))
        differing = [key for key in first if hashed(first[key]) != hashed(second[key])]
        if differing:
            print(f"two builds of one commit differ: {', '.join(differing)}")
            return 1
        missing = [one for one in LICENCES if not holds(first["wheel"], one)]
        if missing:
            print(f"the wheel holds no licence file {', '.join(missing)}")
            return 1
        checked = [sys.executable, "-m", "twine", "check", "--strict", *map(str, first.values())]
        if subprocess.run(checked, check=False).returncode:
            return 1
        (ROOT / "dist").mkdir(exist_ok=True)
        for path in first.values():
            shutil.copy(path, ROOT / "dist")
            print(f"dist/{path.name}: {path.stat().st_size / 1e6:.1f} MB, sha256 {hashed(path)}")
    return 0


def build(folder: Path) -> dict[str, Path]:
    """Both distributions, by kind."""
    commit = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    date = subprocess.run(commit, check=True, capture_output=True, text=True).stdout.strip()
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    subprocess.run(
        command, check=True, capture_output=True, env=os.environ | {"SOURCE_DATE_EPOCH": date}
    )
    return {"wheel": next(folder.glob("*.whl")), "sdist": next(folder.glob("*.tar.gz"))}


def hashed(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def holds(wheel: Path, licence: str) -> bool:
    """Whether a wheel has a licence file among its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        kept = [name for name in archive.namelist() if ".dist-info/licenses/" in name]
    return any(name.endswith(licence) for name in kept)


if __name__ == "__main__":
    sys.exit(main())
