"""Contract of a connector: its settings, its engine and the hits that it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from assay.connectors.request_template import pages
from assay.core.errors import NotValid
from assay.core.text_rules import storable
from assay.network.allowed_addresses import Allowed

# The largest depth of a run.
DEEPEST = 1_000


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that an engine returned, with its content in the response.

    Parameters
    ----------
    doc_id : str
        The document's id in the engine.
    score : float or None
        The engine's score; None if it sends none.
    title, text, url, image : str
        The content for raters, as far as the engine returned it.
    fields : mapping
        The other requested fields.
    """

    doc_id: str
    score: float | None = None
    title: str = ""
    text: str = ""
    url: str = ""
    image: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)


class Engine(Protocol):
    """A configured connector; several threads may use it concurrently."""

    def search(self, query: str, depth: int) -> list[Hit]:
        """Return up to `depth` hits in the engine's order.

        Raises
        ------
        EngineFault
            The engine failed or returned an unusable response.
        """

    def close(self) -> None:
        """Close connections and files."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a connector; forms and the API follow this declaration.

    Parameters
    ----------
    name, title, description : str
        The key, its readable name, and one sentence on what to enter.
    default : str
        Default value.
    required : bool
        Whether it is required.
    secret : bool
        Whether it is stored encrypted and never shown again.
    lines : int
        Number of lines of its field on a page.
    choices : tuple of str
        The allowed values; empty to allow any value.
    """

    name: str
    title: str
    description: str
    default: str = ""
    required: bool = False
    secret: bool = False
    lines: int = 1
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConnectorKind:
    """A kind of connector: its name, its settings, and how to open an engine.

    Parameters
    ----------
    name, title, description : str
        The name in the API, its readable form, and one line on what it queries.
    tested : str
        How it was tested: with a real engine and its version, or with responses as documented by the vendor.
    deepest : int
        The largest depth that it supports.
    page : int
        The maximum number of hits per request, if less; a deeper fetch sends several requests, for which the template
        needs an offset.
    settings : tuple of Setting
        The settings.
    build : callable
        ``build(values, allowed, timeout) -> Engine``; raises NotValid for settings that cannot work.
    """

    name: str
    title: str
    description: str
    tested: str
    deepest: int
    settings: tuple[Setting, ...]
    build: Callable[[Mapping[str, str], Allowed, float], Engine]
    page: int = 0

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the names of the secret settings."""
        return tuple(setting.name for setting in self.settings if setting.secret)

    def reach(self, values: Mapping[str, str]) -> tuple[int, str]:
        """Return the largest depth of an engine with these settings, and how to increase it."""
        page = min(_whole(values.get("page", "")) or self.page or self.deepest, self.deepest)
        if page == self.deepest or pages(values.get("template", ""), values.get("address", "")):
            return self.deepest, ""
        return page, f"One request returns {page:,}. For more, write {{offset}} or {{page}} into the query template."

    def check_depth(self, depth: int, values: Mapping[str, str]) -> None:
        """Reject a depth that an engine with these settings does not support.

        Raises
        ------
        NotValid
            With the possible depths.
        """
        reach, more = self.reach(values)
        deepest = min(DEEPEST, reach)
        if not 1 <= depth <= deepest:
            limits = f"This engine supports depths from 1 to {deepest:,}. {more}".strip()
            raise NotValid(f"The depth is {depth}. {limits}", {"depth": limits})

    def checked(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the values of all settings, with defaults filled in.

        Raises
        ------
        NotValid
            For an unknown or missing setting, or a value that is not valid.
        """
        known = {setting.name: setting for setting in self.settings}
        if strange := next((name for name in given if name not in known), None):
            message = f"Unknown setting {strange!r} of the connector {self.name}. Settings: {', '.join(known)}."
            raise NotValid(message, strange)
        values = {name: (given.get(name) or setting.default).strip() for name, setting in known.items()}
        if problems := _problems(self.settings, values):
            raise NotValid("; ".join(problems.values()), problems)
        return values

    def engine(self, given: Mapping[str, str], allowed: Allowed, timeout: float = 10.0) -> Engine:
        """Return an engine with these settings.

        Raises
        ------
        NotValid
            As `checked`, or if a template or address cannot be used.
        EngineFault
            The operator has not allowed the host or the folder.
        """
        return self.build(self.checked(given), allowed, timeout)


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


def _problems(settings: Sequence[Setting], values: Mapping[str, str]) -> dict[str, str]:
    problems = {}
    for setting in settings:
        value = values[setting.name]
        if storable(value) != value:
            problems[setting.name] = f"{setting.name} contains a NUL character or an unpaired surrogate. Remove it."
        elif setting.required and not value:
            problems[setting.name] = f"{setting.name} is missing. {setting.description}"
        elif value and setting.choices and value not in setting.choices:
            problems[setting.name] = f"{setting.name} is {value!r}. Choose one of {', '.join(setting.choices)}."
    return problems
