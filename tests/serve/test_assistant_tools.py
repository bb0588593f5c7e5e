"""The tools of `deixis mcp`, called by the official client over standard input and output."""

import asyncio
import json
import os
import sys

import pytest
from made_library import made_library
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server.mcpserver.exceptions import ToolError
from PIL import Image

from deixis.search.library.library import Library
from deixis.search.query.query import Query, Results
from deixis.serve.assistant_tools import assistant_server

SERVER = """
import sys
sys.path[:0] = {paths!r}
from fake_encoder import FakeEncoder
from deixis.search.library import library
library.load_encoder = lambda source: FakeEncoder()
sys.argv = ["deixis", "mcp", "--library", {library!r}]
from deixis.cli import main
main()
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return made_library(tmp_path_factory.mktemp("assistant"))


def asked(library, *calls):
    """What the official client gets for some tool calls, after the list of tools."""
    code = SERVER.format(paths=[path for path in sys.path if "tests" in path], library=str(library))
    parameters = StdioServerParameters(
        command=sys.executable, args=["-c", code], env=dict(os.environ)
    )

    async def talk():
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = await session.list_tools()
            return tools.tools, [await session.call_tool(*call) for call in calls]

    return asyncio.run(asyncio.wait_for(talk(), 120))


def test_an_assistant_searches_and_looks(library):
    tools, (found, facts) = asked(
        library,
        ("search_pictures", {"text": "anything", "count": 3, "where": "label:dog"}),
        ("describe_library", {}),
    )
    assert {tool.name for tool in tools} == {
        "search_pictures", "similar_pictures", "show_picture", "describe_library"
    }  # fmt: skip
    assert all(tool.description for tool in tools)
    hits = json.loads(found.content[0].text)["hits"]
    assert len(hits) == 3
    assert json.loads(facts.content[0].text)["pictures"] == 40
    _, (shown, similar) = asked(
        library,
        ("show_picture", {"id": hits[0]["id"]}),
        ("similar_pictures", {"id": hits[0]["id"], "count": 1}),
    )
    assert shown.content[0].mime_type == "image/jpeg"
    assert json.loads(similar.content[0].text)["hits"][0]["id"] == hits[0]["id"]
    with Image.open(hits[0]["files"][0]) as picture:
        assert picture.size == (160, 120)


def test_an_assistant_says_where_things_are(library, monkeypatch):
    """What the tool is given reaches the library: phrases by name, and something unnamed."""
    given = {}

    def search(self, text, **asked):
        given.update(asked)
        return Results(Query(text=text), (), 40)

    monkeypatch.setattr(Library, "search", search)
    places = {"a dog": [0.0, 0.4, 0.5, 1.0], "": [0.8, 0.2]}
    server = assistant_server(library)
    asyncio.run(server.call_tool("search_pictures", {"text": "a dog", "places": places}))
    assert given["points"] == {"a dog": [0.0, 0.4, 0.5, 1.0], None: [0.8, 0.2]}
    _, answers = asked(
        library,
        ("search_pictures", {"text": "a dog", "places": {"a dog": [0.0, 0.4, 0.5, 1.0]}}),
        ("search_pictures", {"text": "a dog", "places": {"a cat": [0.5, 0.5]}}),
    )
    assert len(json.loads(answers[0].content[0].text)["hits"]) == 10
    assert "'a cat' is not in the query" in answers[1].content[0].text


def test_what_cannot_be_answered_is_a_sentence(library):
    _, answers = asked(
        library,
        ("search_pictures", {"text": "x", "where": "colour:red"}),
        ("search_pictures", {"text": "x", "count": 0}),
        ("show_picture", {"id": "../../etc/passwd"}),
    )
    assert all(answer.is_error for answer in answers)
    sentences = [answer.content[0].text for answer in answers]
    assert "there is no condition 'colour'" in sentences[0]
    assert "ask for 1 to 100" in sentences[1]
    assert "there is no picture" in sentences[2]


@pytest.mark.parametrize("tool", ["show_picture", "similar_pictures"])
def test_an_id_that_is_half_a_character_is_a_sentence(library, tool):
    with pytest.raises(ToolError, match="is not UTF-8"):
        asyncio.run(assistant_server(library).call_tool(tool, {"id": "\ud800"}))
