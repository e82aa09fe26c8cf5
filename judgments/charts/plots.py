"""Plots: the rows, axes and marks of a chart, and their Vega-Lite specification."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

# A longer axis holds counts, which have no decimals.
WHOLE = 5
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
Rows = Sequence[Mapping[str, Any]]
# How marks of a kind differ from others, as in SVG files.
STYLES: Mapping[str, Mapping[str, Any]] = {
    "cut": {"strokeDash": [4, 3]},
    "axis": {"opacity": 0.6},
    "soft": {"opacity": 0.25},
}


class Axis(NamedTuple):
    """A range of numbers mapped to a range of the picture."""

    low: float
    high: float
    start: float = 0
    end: float = 0
    title: str = ""

    def at(self, value: float) -> float:
        """Return the position of a value, limited to the ends of the axis."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(self.start + min(max(share, 0.0), 1.0) * (self.end - self.start), 1)

    def ticks(self, most: int = 5) -> list[float]:
        """Return round numbers on the axis, at most this many."""
        steps = (front * 10.0**power for power in range(-2, 300) for front in (1, 2, 5))
        step = next(step for step in steps if (self.high - self.low) / step <= most)
        first = math.ceil(round(self.low / step, 6))
        last = math.floor(round(self.high / step, 6))
        return [round(number * step, 2) for number in range(first, last + 1)]

    def written(self, tick: float) -> str:
        """Return a number with enough decimals to distinguish it from its neighbors on the axis."""
        return f"{tick:,.{0 if isinstance(tick, int) or self.high - self.low >= WHOLE else 2}f}"

    def channel(self, values: Sequence[Any]) -> dict[str, Any]:
        scale = {"domain": [self.low, self.high], "clamp": True} if self.high > self.low else {}
        return {"type": "quantitative", "title": self.title, "scale": scale, "axis": {"tickCount": 8}}


class Names(NamedTuple):
    """An axis of names in the order of the rows; ``labeled`` is whether there is room for them."""

    title: str = ""
    labeled: bool = True

    def channel(self, values: Sequence[Any]) -> dict[str, Any]:
        axis = {"labels": self.labeled, "ticks": self.labeled, "labelOverlap": True}
        return {"type": "ordinal", "title": self.title, "scale": {"domain": list(dict.fromkeys(values))}, "axis": axis}


class Layer(NamedTuple):
    """The marks of one kind: the fields of the rows by Vega-Lite channel (``x``, ``x2``, ``color``, ...).

    ``series`` is its name in the legend, ``kind`` its class in SVG; ``rows`` replace those of the plot.
    """

    mark: str
    fields: Mapping[str, str]
    series: str = ""
    kind: str = ""
    rows: Rows | None = None


class Plot(NamedTuple):
    """The contents of a chart."""

    x: Axis | Names = Names()
    y: Axis | Names = Names()
    rows: Rows = ()
    layers: Sequence[Layer] = ()

    def vega_lite(self, label: str) -> dict[str, Any]:
        """Return the Vega-Lite specification, with the data in it."""
        return {
            "$schema": SCHEMA,
            "title": {"text": label, "limit": 640, "anchor": "start"},
            "description": label,
            "width": 640,
            "height": {"step": 24} if isinstance(self.y, Names) else 280,
            "data": {"values": self.rows},
            "layer": [self._layer(layer) for layer in self.layers],
            "config": {
                "mark": {"tooltip": {"content": "data"}},
                "point": {"filled": True, "size": 60},
                "axisX": {"labelAngle": 0},
                "legend": {"title": None, "orient": "top", "labelLimit": 300},
            },
        }

    def _layer(self, layer: Layer) -> dict[str, Any]:
        encoding: dict[str, Any] = {name: {"field": field} for name, field in layer.fields.items()}
        for name in {"xOffset", "yOffset", "color"} & encoding.keys():
            encoding[name]["sort"] = None
        for name, axis in (("x", self.x), ("y", self.y)):
            if field := layer.fields.get(name):
                encoding[name] |= axis.channel([row.get(field) for row in self.rows])
        encoding |= {"color": {"datum": layer.series}} if layer.series else {}
        data = {} if layer.rows is None else {"data": {"values": layer.rows}}
        return data | {"mark": {"type": layer.mark, **STYLES.get(layer.kind, {})}, "encoding": encoding}


EMPTY = Plot()


def ranges(
    along: str, value: str, low: str, high: str, across: Mapping[str, str], rows: Rows | None = None
) -> tuple[Layer, Layer]:
    """Return the layers of points with their intervals along ``x`` or ``y``."""
    return (
        Layer("rule", {along: low, f"{along}2": high, **across}, rows=rows),
        Layer("point", {along: value, **across}, rows=rows),
    )
