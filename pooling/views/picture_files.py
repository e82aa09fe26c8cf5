"""Charts as SVG files."""

from __future__ import annotations

import re

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.text import slugify

from judgments.views.downloads import attachment
from pooling.charts import Chart

# What XML cannot hold, not even escaped; names come from elsewhere.
FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def picture(chart: Chart, name: str) -> HttpResponse:
    """The picture as an SVG file of its own, in one ink, so that it fits any paper."""
    body = render_to_string("pooling/picture.svg", {"chart": chart})
    return attachment(f"{slugify(name)}.svg", FORBIDDEN.sub("\ufffd", body))
