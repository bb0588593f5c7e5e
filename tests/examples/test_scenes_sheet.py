import subprocess
import sys
from pathlib import Path

from PIL import Image

EXAMPLE = Path(__file__).parents[2] / "examples" / "scenes_sheet.py"


def test_the_sheet_of_scenes_is_drawn(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(EXAMPLE), str(tmp_path / "sheet.png")], check=True)
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.size == (1056, 680)
        assert len(sheet.getcolors() or []) > 100
