"""The whole interface against its own description, and under more clients than it has room for."""

import statistics
import threading
import time
from collections import Counter

import httpx
import pytest
import schemathesis
from browser import serving
from fake_encoder import FakeEncoder
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from deixis.serve.app import create_app

pytestmark = pytest.mark.slow
CLIENTS, SECONDS = 64, 30
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")
def test_every_answer_is_one_the_description_promises(library):
    with serving(create_app(library, load=lambda source: FakeEncoder())) as url:
        described = schemathesis.openapi.from_url(f"{url}/openapi.json")
        operations = [found.ok() for found in described.get_all_operations()]
        assert len(operations) == 10
        for operation in operations:

            @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
            @given(case=operation.as_strategy())
            def holds(case):
                case.call_and_validate(checks=CHECKS)

            holds()


def test_64_clients_for_30_seconds_get_answers_or_are_told_to_come_back(library, capsys):
    answers: list[tuple[int, float]] = []
    with serving(create_app(library, load=lambda source: FakeEncoder(), line=32)) as url:
        until = time.monotonic() + SECONDS

        def ask(number: int) -> None:
            with httpx.Client(base_url=url, timeout=30) as client:
                while time.monotonic() < until:
                    started = time.monotonic()
                    answer = client.get("/v1/search", params={"text": f"client {number}", "k": 24})
                    answers.append((answer.status_code, time.monotonic() - started))
                    if answer.status_code == 503:
                        time.sleep(int(answer.headers["retry-after"]))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    counts = Counter(status for status, _ in answers)
    taken = [seconds for status, seconds in answers if status == 200]
    quantiles = statistics.quantiles(taken, n=100)
    with capsys.disabled():
        print(
            f"\n{CLIENTS} clients, {SECONDS} s: {counts[200]} answered, {counts[503]} told to come "
            f"back; p50 {1e3 * quantiles[49]:.0f} ms, p99 {1e3 * quantiles[98]:.0f} ms"
        )
    assert set(counts) <= {200, 503}
    assert counts[200] > CLIENTS
