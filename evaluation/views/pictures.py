"""How does a picture leave the page as a file?"""

from __future__ import annotations

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.text import slugify

from judgments.views.downloads import attachment
from pooling.charts import Chart


def picture(chart: Chart, name: str) -> HttpResponse:
    """The picture as an SVG file of its own, in one ink, so that it fits any paper."""
    body = render_to_string("evaluation/picture.svg", {"chart": chart})
    return attachment(f"{slugify(name)}.svg", body)
