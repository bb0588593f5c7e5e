"""What is refused before a cluster is asked for anything."""

import pytest

from deixis.errors import SearchError
from deixis.scale.serving.ray_serve import ClusterServing, start


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"host": "0.0.0.0"}, "'0.0.0.0' can be reached by other machines; give a --token"),
        ({"host": "0.0.0.0", "token": ""}, "the token is empty"),
        ({"port": 0}, "the port is 0; all nodes of a cluster listen on one"),
        ({"copies": 0}, "1 shards in 0 copies; give at least one of each"),
        ({}, "there is no library at"),
    ],
)
def test_what_cannot_be_served_is_refused_at_once(options, reason, tmp_path):
    with pytest.raises(SearchError, match=reason):
        start(ClusterServing(str(tmp_path / "none"), "127.0.0.1:9", **options))


def test_a_token_is_not_written_into_logs():
    secret = "a token that is a secret"
    assert secret not in repr(ClusterServing("library", "127.0.0.1:9", token=secret))
