"""The whole interface against its own description, and under more clients than it has room for."""

import json
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import schemathesis
from browser import serving
from fake_server import fake_server
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from deixis.serve.app import create_app
from fake_encoder import FakeEncoder

pytestmark = pytest.mark.slow
schemathesis.serializer.alias("audio/wav", "application/octet-stream")
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
        assert len(operations) == 19
        for operation in operations:

            @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
            @given(case=operation.as_strategy())
            def holds(case):
                case.call_and_validate(checks=CHECKS)

            holds()


def test_64_clients_for_30_seconds_get_answers_or_are_asked_to_come_back(library, capsys):
    with fake_server(library) as (url, _):
        script = Path(__file__).with_name("clients.py")
        command = [sys.executable, str(script), url, str(CLIENTS), str(SECONDS)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
    answers = json.loads(ran.stdout)
    counts = Counter(status for status, _ in answers)
    taken = [seconds for status, seconds in answers if status == 200]
    quantiles = statistics.quantiles(taken, n=100)
    with capsys.disabled():
        print(
            f"\n{CLIENTS} clients, {SECONDS} s: {counts[200]} answered, {counts[503]} asked to "
            f"come back; p50 {1e3 * quantiles[49]:.0f} ms, p99 {1e3 * quantiles[98]:.0f} ms"
        )
    assert set(counts) <= {200, 503}
    assert counts[200] > CLIENTS
