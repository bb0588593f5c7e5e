import pytest


@pytest.fixture(scope="session", autouse=True)
def graphs(tmp_path_factory):
    """Build network graphs once per test run, away from the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEIXIS_CACHE", str(tmp_path_factory.mktemp("graphs")))
        yield
