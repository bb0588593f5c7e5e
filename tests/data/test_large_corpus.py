"""The largest corpus of the field, made here, opens in seconds and in little memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

IMAGES, TEXTS = 113_287, 5
OPEN = """
import resource, sys, time
from pathlib import Path
from deixis.data.read_corpus import read_corpus
start = time.process_time()
corpus = read_corpus(Path(sys.argv[1]))
train = corpus.split("train")
taken = time.process_time() - start
assert len(corpus.files) == 113_287 and len(corpus.texts) == 566_435, len(corpus.texts)
assert corpus.texts[-1].startswith("text 4 of image 113286") and len(train.files) > 100_000
resident = int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6
print(taken, resident, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
"""


def write_made_corpus(path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write('{"dataset": "made", "images": [')
        for image in range(IMAGES):
            texts = [
                f"text {k} of image {image} is about as long as captions are" for k in range(TEXTS)
            ]
            record = {
                "filepath": "train2014",
                "filename": f"COCO_train2014_{image:012d}.jpg",
                "cocoid": image,
                "split": "restval" if image % 4 == 0 else ("train" if image % 50 else "val"),
                "sentences": [
                    {"raw": text, "tokens": text.split(), "sentid": image * TEXTS + k}
                    for k, text in enumerate(texts)
                ],
            }
            file.write((", " if image else "") + json.dumps(record))
        file.write("]}")


@pytest.mark.slow
def test_the_largest_corpus_opens_in_seconds_and_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "dataset_made.json"
    write_made_corpus(path)
    ran = subprocess.run([sys.executable, "-c", OPEN, str(path)], check=True, capture_output=True)
    seconds, resident, peak = map(float, ran.stdout.split())
    print(f"{seconds:.1f} s, {resident:.0f} MB resident, {peak:.0f} MB at peak")
    assert seconds < 20
    assert resident < 400
    assert peak < 1200
