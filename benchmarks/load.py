"""A server under many clients: what explanations and uploads do to searches by words.

Loopback only. Cases take turns (text only, mixed, text only, …), so that a slow minute of the
machine hits both; times are elapsed, because waiting is what clients do.
"""

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.request import urlopen

from benchmarks.harness import Figure
from benchmarks.load_clients import HUNG, Answer, Orders
from benchmarks.load_disturbers import UPLOADS, explaining, huge_uploads
from deixis.data.read_corpus import read_corpus
from deixis.data.simulated.scenes.write_scenes import write_scenes
from deixis.search.library.library import Library

PICTURES, CLIENTS, CROWD = 1_500, 64, 200
SECONDS, ROUNDS, WARM = 30.0, 2, 5.0
OTHERS = 0.05  # the share of explanations, and again of uploads, in the mixed cases
FEW, BRIEF = 4, 6.0  # clients that search beside what disturbs them, and seconds
TINY = {"PICTURES": 12, "CLIENTS": 4, "CROWD": 6, "SECONDS": 1.0, "ROUNDS": 1, "WARM": 0.5,
        "BRIEF": 1.0}  # fmt: skip
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Case:
    """What the clients of one case saw, and the server's memory at its end and its peak."""

    answers: Sequence[Answer]
    recovery: float
    after: float  # bytes
    peak: float

    def text(self) -> list[float]:
        """Seconds that answered searches by words took."""
        return [one.seconds for one in self.answers if one.kind == "text" and one.status == 200]


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        corpus = read_corpus(write_scenes(Path(name) / "scenes", images=PICTURES))
        library = Path(name) / "library"
        with Library(library) as opened:
            opened.add(corpus.root)
        texts = sorted(set(corpus.texts))[:500]
        pictures = [str(corpus.path(number)) for number in range(0, PICTURES, 10)]
        with _serving(library) as (url, server):
            orders = Orders(url, CLIENTS, WARM, OTHERS, False, texts, pictures)
            _asked(orders, server)  # models are loaded, decoders started
            before = _counted(url)
            text, mixed = _in_turns(orders, server)
            seen = _answered([*text, *mixed])
            noted = _counted(url) - before
            disturbed = _disturbed(orders, server)
            crowd = Orders(url, CROWD, SECONDS, OTHERS, True, texts, pictures)
            crowded = _asked(crowd, server)
    return [
        *_ratios(text, mixed),
        *disturbed,
        *_health([*text, *mixed, crowded], mixed),
        _shown(f"{CROWD} clients, mixed: median of searches by words", [crowded]),
        Figure(
            "requests the metrics counted otherwise than the clients",
            sum(((noted - seen) + (seen - noted)).values()),
            0,
            "lower",
            "",
            f"{seen.total()} requests",
        ),
    ]


def _in_turns(orders: Orders, server: int) -> tuple[list[Case], list[Case]]:
    text, mixed = [], []
    for _ in range(ROUNDS):
        for cases, others in ((text, 0.0), (mixed, OTHERS)):
            chosen = {**asdict(orders), "seconds": SECONDS, "others": others}
            cases.append(_asked(Orders(**chosen), server))
    return text, mixed


def _ratios(text: Sequence[Case], mixed: Sequence[Case]) -> list[Figure]:
    """Searches by words beside explanations and uploads, over the same alone."""
    found = []
    for name, share, goal in (("p50", 0.5, 2.0), ("p99", 0.99, 3.0)):
        alone, beside = (
            statistics.median(_quantile(case.text(), share) for case in cases)
            for cases in (text, mixed)
        )
        label = f"{CLIENTS} clients, mixed: {name} of searches by words, times text only"
        detail = f"{1e3 * beside:.0f} ms beside {1e3 * alone:.0f} ms"
        found.append(Figure(label, beside / alone, goal, "lower", detail=detail))
    found.append(_shown(f"{CLIENTS} clients, text only: median of searches by words", text))
    return found


def _disturbed(orders: Orders, server: int) -> list[Figure]:
    """Searches beside a loop of explanations and beside huge uploads, over the same alone."""
    few = Orders(**{**asdict(orders), "clients": FEW, "seconds": BRIEF, "others": 0.0})
    one = Orders(**{**asdict(few), "clients": 1})
    alone, lone = _asked(few, server), _asked(one, server)
    with explaining(orders.url, orders.texts[0]):
        explained = _asked(one, server)
    with huge_uploads(orders.url):
        bombed = _asked(few, server)
    names = (
        ("a search beside a loop of explanations: p50, times alone", lone, explained, 0.5, 1.5),
        (f"{FEW} clients beside {UPLOADS} huge uploads: p99, times alone", alone, bombed, 0.99, 2),
    )
    found = []
    for name, before, beside, share, goal in names:
        was, now = (_quantile(case.text(), share) for case in (before, beside))
        detail = f"{1e3 * now:.0f} ms beside {1e3 * was:.0f} ms"
        found.append(Figure(name, now / was, goal, "lower", detail=detail))
    added = (bombed.peak - explained.after) / 1e6
    return [*found, Figure(f"memory {UPLOADS} huge uploads add", added, 600, "lower", "MB")]


def _health(cases: Sequence[Case], mixed: Sequence[Case]) -> list[Figure]:
    answers = [one for case in cases for one in case.answers]
    statuses = Counter(one.status for one in answers)
    failed = sum(count for status, count in statuses.items() if status >= 500 and status != 503)
    listed = ", ".join(f"{count} × {status}" for status, count in sorted(statuses.items()))
    first, last = mixed[0].after, mixed[-1].after
    memory = f"{first / 1e6:.0f} MB, then {last / 1e6:.0f}; peak {cases[-1].peak / 1e6:.0f}"
    slowest = max(answers, key=lambda one: one.seconds)
    recovery = max(case.recovery for case in cases)
    return [
        Figure("answers 5xx other than 503", failed, 0, "lower", "", listed),
        Figure("requests that hung", statuses[HUNG], 0, "lower", ""),
        Figure("the slowest answer", slowest.seconds, None, unit="s", detail=slowest.kind),
        Figure("memory after the last mixed case, times the first", last / first, 1.1, "lower",
               detail=memory),
        Figure("a search after all have left", recovery, 1.0, "lower", "s"),
    ]  # fmt: skip


def _shown(name: str, cases: Sequence[Case]) -> Figure:
    seconds = [one for case in cases for one in case.text()]
    kinds = Counter((one.kind, one.status) for case in cases for one in case.answers)
    answered = ", ".join(f"{n} {kind} {status}" for (kind, status), n in sorted(kinds.items()))
    return Figure(name, 1e3 * _quantile(seconds, 0.5), None, unit="ms", detail=answered)


def _quantile(seconds: Sequence[float], share: float) -> float:
    return sorted(seconds)[int(share * len(seconds))] if seconds else float("nan")


def _answered(cases: Sequence[Case]) -> Counter[tuple[str, str]]:
    """How many answers of each kind and status the clients got."""
    routes = {
        "text": "/v1/search",
        "explain": "/v1/explain",
        "upload": "/v1/search/picture",
    }
    found = Counter((routes[one.kind], str(one.status)) for case in cases for one in case.answers)
    found["/v1/search", "200"] += len(cases)  # the one that comes afterwards
    return found


def _counted(url: str) -> Counter[tuple[str, str]]:
    """How many requests of each route and status the server says it answered."""
    with urlopen(f"{url}/metrics") as answer:
        text = answer.read().decode()
    line = re.compile(r'deixis_requests_total\{route="(/v1/[^"]*)",status="(\d+)"\} (\S+)')
    return Counter({(one[1], one[2]): int(float(one[3])) for one in line.finditer(text)})


def _asked(orders: Orders, server: int) -> Case:
    command = [sys.executable, "-m", "benchmarks.load_clients"]
    clients = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    memory, ended = [_resident(server)], threading.Event()

    def watch() -> None:
        while not ended.wait(0.2):
            memory.append(_resident(server))

    watching = threading.Thread(target=watch)
    watching.start()
    printed, _ = clients.communicate(json.dumps(asdict(orders)))
    ended.set()
    watching.join()
    found = json.loads(printed)
    answers = [Answer(**one) for one in found["answers"]]
    return Case(answers, found["recovery"], _resident(server), max(memory))


@contextmanager
def _serving(library: Path) -> Iterator[tuple[str, int]]:
    """The address and the process of a server, ready to answer."""
    command = [sys.executable, "-m", "deixis", "serve", "--library", str(library)]
    command += ["--port", "0", "--threads", "1"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().split()[2]
        while not _ready(url):
            time.sleep(0.1)
        yield url, server.pid
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(20)


def _ready(url: str) -> bool:
    try:
        with urlopen(f"{url}/readyz") as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _resident(server: int) -> float:
    """Bytes a process and those it started hold."""
    started = [int(one.name) for one in Path("/proc").glob("[0-9]*") if _parent(one) == server]
    return sum(_pages(one) for one in (server, *started)) * PAGE


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:  # it has ended
        return 0


def _pages(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0
