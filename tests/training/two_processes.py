"""Run by torchrun: each process writes the gradients it ends up with."""

import json
import sys
from pathlib import Path

import torch.distributed as dist

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from test_gradients import gradients  # noqa: E402

dist.init_process_group("gloo")
Path(sys.argv[1], f"{dist.get_rank()}.json").write_text(json.dumps(gradients(0)))
dist.destroy_process_group()
