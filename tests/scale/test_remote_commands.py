"""The commands on a real S3 server, with the packaged model."""

import json

import pytest
from made_pictures import make_pictures
from typer.testing import CliRunner

from deixis.cli.command import app, load_verbs
from deixis.errors import SearchError
from deixis.scale.store import open_store

load_verbs()


def call(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return make_pictures(tmp_path_factory.mktemp("s3") / "pictures", 6)


@pytest.fixture(scope="module")
def library(bucket, pictures):
    """A library in the bucket, of pictures in the bucket."""
    source = open_store(f"{bucket}/pics")
    for path in sorted(pictures.iterdir()):
        source.write(path.name, path.read_bytes())
    call("index", f"{bucket}/pics", "--library", f"{bucket}/lib", "--json")
    return f"{bucket}/lib"


def test_a_bucket_is_indexed_and_described(library, bucket):
    found = json.loads(call("status", "--library", library, "--json", code=3))
    assert (found["pictures"], found["source"]) == (6, "deixis:photos")
    assert list(found["broken"]) == [f"{bucket}/pics/damaged.jpg"]
    again = json.loads(call("index", f"{bucket}/pics", "--library", library, "--json"))
    assert again["embedded"] == 0 and again["manifest"] == found["state"]


def test_a_pulled_library_finds_what_one_made_here_finds(library, pictures, tmp_path):
    assert json.loads(call("pull", library, tmp_path / "pulled", "--json"))["pictures"] == 6
    call("index", pictures, "--library", tmp_path / "here")
    asked = ("search", "a red wall", "--json", "--library")
    pulled, here = (json.loads(call(*asked, tmp_path / name)) for name in ("pulled", "here"))
    hits = [[(hit["id"], hit["score"]) for hit in found["hits"]] for found in (pulled, here)]
    assert hits[0] == hits[1] and len(hits[0]) == 6
    assert pulled["hits"][0]["paths"][0].startswith("s3://")


def test_a_folder_is_pushed_and_collected(library, pictures, bucket, tmp_path):
    call("index", pictures, "--library", tmp_path / "here")
    pushed = json.loads(call("push", tmp_path / "here", f"{bucket}/pushed", "--json"))
    assert pushed["pictures"] == 6
    assert "6 pictures in 1 shards" in call("status", "--library", f"{bucket}/pushed", code=3)
    assert json.loads(call("collect", "--library", f"{bucket}/pushed", "--json")) == []


def test_wrong_places_are_sentences(bucket, tmp_path):
    with pytest.raises(SearchError, match="there is no library at s3://tests/none"):
        call("status", "--library", f"{bucket}/none")
    with pytest.raises(SearchError, match="there are no pictures below s3://tests/none"):
        call("index", f"{bucket}/none", "--library", f"{bucket}/other")
    with pytest.raises(SearchError, match=r"no cluster answers at 127\.0\.0\.1:9"):
        call("index", tmp_path, "--library", f"{bucket}/other", "--cluster", "127.0.0.1:9")
    with pytest.raises(SearchError, match="from one folder or bucket; 2 were given"):
        call("index", tmp_path, tmp_path, "--library", f"{bucket}/other")
