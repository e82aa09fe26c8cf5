"""Charts as files: SVG, or a Vega-Lite specification."""

from __future__ import annotations

import re

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.text import slugify

from judgments.charts.charts import Chart
from judgments.web.downloads import attachment, json_file

# Values of the parameter ``format``; a page with several charts puts the name of the chart before them.
VEGA_LITE = "vl.json"
FORMS = ("svg", VEGA_LITE)
# Characters that XML cannot contain, even escaped; names are user input.
FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def picture(chart: Chart, name: str, form: str = "svg") -> HttpResponse:
    """Return the chart as a Vega-Lite specification if the form is one, otherwise as SVG in one color for print."""
    if form.endswith(VEGA_LITE):
        return json_file(f"{slugify(name)}.vl", chart.plot.vega_lite(chart.label))
    body = render_to_string("judgments/charts/picture.svg", {"chart": chart})
    return attachment(f"{slugify(name)}.svg", FORBIDDEN.sub("\ufffd", body))
