"""Charts as SVG files."""

from __future__ import annotations

import re

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.text import slugify

from judgments.charts.charts import Chart
from judgments.web.downloads import attachment

# Characters that XML cannot contain, even escaped; names are user input.
FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def picture(chart: Chart, name: str) -> HttpResponse:
    """Return the chart as an SVG file, in one color for print."""
    body = render_to_string("judgments/charts/picture.svg", {"chart": chart})
    return attachment(f"{slugify(name)}.svg", FORBIDDEN.sub("\ufffd", body))
