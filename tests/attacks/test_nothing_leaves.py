"""No package that deixis loads may report what its user does, or keep an id of the machine."""

import os
import subprocess
import sys
from pathlib import Path

# ONNX Runtime asks these whether it may report; a user has none of them.
ASKED = ("CI", "GITHUB_ACTIONS", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS")


def test_onnx_runtime_keeps_no_id_of_the_machine_and_reports_nothing(tmp_path: Path) -> None:
    """Its packages since 1.29 do both as soon as they are loaded, unless that is turned off."""
    user = {name: value for name, value in os.environ.items() if name not in ASKED}
    user |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", "import deixis, onnxruntime"], env=user, check=True)
    assert not list(tmp_path.rglob("*"))
