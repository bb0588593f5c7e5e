"""MIRFLICKR-25K and NUS-WIDE as their archives unpack."""

from pathlib import Path

from layouts.scene_topics import THINGS, Topic, draw, topics, write_detections

MIRFLICKR_IMAGES, NUSWIDE_IMAGES = 160, 120


def write_mirflickr(root: Path) -> Path:
    """``mirflickr`` and ``mirflickr25k_annotations_v080``, with detected regions."""
    shown = topics(MIRFLICKR_IMAGES)
    tags, labels = root / "mirflickr/meta/tags", root / "mirflickr25k_annotations_v080"
    for folder in (tags, labels, root / "mirflickr/doc"):
        folder.mkdir(parents=True)
    for number, topic in enumerate(shown, start=1):
        words = [*topic.tags, "canon", f"only{number}"]
        draw(root / f"mirflickr/im{number}.jpg", topic)
        (tags / f"tags{number}.txt").write_text("".join(f"{word}\r\n" for word in words))
    for thing, name in enumerate(THINGS):
        own = [number for number, topic in enumerate(shown, start=1) if _shows(topic, thing)]
        (labels / f"{name}.txt").write_text("".join(f"{number}\r\n" for number in own))
        (labels / f"{name}_r1.txt").write_text("".join(f"{number}\r\n" for number in own[::2]))
    (labels / "README.txt").write_text("MIRFLICKR25000 annotations\n")
    files = [f"mirflickr/im{number}.jpg" for number in range(1, len(shown) + 1)]
    write_detections(root, files, shown)
    return root


def write_nuswide(root: Path) -> Path:
    """``ImageList``, ``Groundtruth``, ``NUS_WID_Tags`` and ``Flickr``, with detected regions."""
    shown = topics(NUSWIDE_IMAGES)
    lists, truth, tags = (
        root / name for name in ("ImageList", "Groundtruth/AllLabels", "NUS_WID_Tags")
    )
    for folder in (lists, truth, tags):
        folder.mkdir(parents=True)
    names = [f"actor\\{place:04d}_{2124494179 + place}.jpg" for place in range(len(shown))]
    every = range(len(shown))
    parts = {
        "": every,
        "Train": [n for n in every if n % 5],
        "Test": [n for n in every if not n % 5],
    }
    for part, places in parts.items():
        content = "".join(f"{names[place]}\r\n" for place in places)
        (lists / f"{part}Imagelist.txt").write_text(content, newline="")
    for thing, name in enumerate(THINGS):
        marks = "".join(f"{int(_shows(topic, thing))}\n" for topic in shown)
        (truth / f"Labels_{name}.txt").write_text(marks)
    (tags / "TagList1k.txt").write_text("".join(f"{name}\n" for name in THINGS))
    lines = (
        f"{2124494179 + place}      {' '.join(topic.tags)} canon \n"
        for place, topic in enumerate(shown)
    )
    (tags / "All_Tags.txt").write_text("".join(lines))
    files = ["Flickr/" + name.replace("\\", "/") for name in names]
    for file, topic in zip(files, shown, strict=True):
        draw(root / file, topic)
    write_detections(root, files, shown)
    return root


def _shows(topic: Topic, thing: int) -> bool:
    return thing in (topic.first, topic.second)
