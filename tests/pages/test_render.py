"""Every page stands alone, shows values as text and refuses values it does not get."""

import re

import numpy as np
import pytest
from jinja2 import UndefinedError

from deixis.pages.figures.plots import Curve, line_chart
from deixis.pages.render import render
from deixis.pages.table_page import table_page
from deixis.recipes.results.printed_table import Line, Report


def report() -> Report:
    ours = Line("ours <b>", ({"rsum": 300.0}, {"rsum": 310.0}), {"rsum": 299.5})
    return Report("A <table>", "paper-2020", "a note", (ours,))


def chart():
    x = np.arange(2.0)
    return line_chart("Recall", "epoch", [(0.0, "0")], [Curve("R@1", x, x + 1, 0 * x)])


def test_a_tables_page_holds_our_numbers_the_papers_and_the_figures():
    page = table_page(report(), [chart()])
    assert "<title>A &lt;table&gt;</title>" in page
    assert "ours &lt;b&gt;" in page and "<b>" not in page
    assert "305.0 ± 7.1" in page and "299.5" in page
    assert page.count("data:image/svg+xml;base64,") == 1
    assert 'alt="Recall, over epoch: R@1 from 1.0 to 2.0"' in page


def test_a_page_fetches_nothing():
    page = table_page(report(), [chart()])
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert "@import" not in page and "url(" not in page


def test_a_value_that_is_missing_is_an_error():
    with pytest.raises(UndefinedError):
        render("table", title="no report")
