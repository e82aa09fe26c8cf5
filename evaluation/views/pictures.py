"""How does a picture leave the page as a file?"""

from __future__ import annotations

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.text import slugify

from pooling.charts import Chart


def picture(chart: Chart, name: str) -> HttpResponse:
    """The picture as an SVG file of its own, in one ink, so that it fits any paper."""
    body = render_to_string("evaluation/picture.svg", {"chart": chart})
    headers = {"Content-Disposition": f'attachment; filename="{slugify(name)}.svg"'}
    return HttpResponse(body, content_type="image/svg+xml", headers=headers)
