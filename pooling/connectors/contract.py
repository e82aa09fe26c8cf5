"""Contract of a connector: its settings, its engine and the hits that it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from judgments.core.errors import NotValid
from judgments.core.storable import storable
from judgments.network.addresses import Allowed
from pooling.connectors.template import pages

# The most documents of a query that a run is asked for.
DEEPEST = 1_000


@dataclass(frozen=True, slots=True)
class Hit:
    """One document that an engine returned, with what it sent of its content.

    Parameters
    ----------
    doc_id : str
        The document's id in the engine.
    score : float or None
        The engine's score; None where it sends none.
    title, text, url, image : str
        What raters are shown, as far as it was sent.
    fields : mapping
        The other fields that were asked for.
    """

    doc_id: str
    score: float | None = None
    title: str = ""
    text: str = ""
    url: str = ""
    image: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)


class Engine(Protocol):
    """A connector whose settings are made; several threads may ask it at once."""

    def search(self, query: str, depth: int) -> list[Hit]:
        """Return up to `depth` hits in the engine's order.

        Raises
        ------
        EngineFault
            The engine did not answer as it should.
        """

    def close(self) -> None:
        """Let go of connections and files."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that a connector has to be told; forms and the API ask for what is declared here.

    Parameters
    ----------
    name, title, description : str
        The key, its readable name, and one sentence with what to write.
    default : str
        Taken where nothing is given.
    required : bool
        Whether it may not be empty.
    secret : bool
        Whether it is kept encrypted and never shown again.
    lines : int
        How many lines its field has on a page.
    choices : tuple of str
        The only values that it can take; any where empty.
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
    """A member of the family: what it is called, what it has to be told, and how an engine of it is made.

    Parameters
    ----------
    name, title, description : str
        The name in the API, its readable form, and one line on what it asks.
    tested : str
        Against what it is tested: a real engine of which version, or replies as its makers document them.
    deepest : int
        The largest depth that can be asked for.
    page : int
        How many hits one request returns at most, where that is less; deeper ones take several, for which the template
        has to say where the next one goes on.
    settings : tuple of Setting
        What it has to be told.
    build : callable
        ``build(values, allowed, timeout) -> Engine``; refuses settings that cannot work with NotValid.
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
        """The names of the settings that are secret."""
        return tuple(setting.name for setting in self.settings if setting.secret)

    def reach(self, values: Mapping[str, str]) -> tuple[int, str]:
        """Return how deep an engine with these settings can be asked, and what would let it be asked deeper."""
        page = min(_whole(values.get("page", "")) or self.page or self.deepest, self.deepest)
        if page == self.deepest or pages(values.get("template", ""), values.get("address", "")):
            return self.deepest, ""
        return page, f"One request returns {page:,}; for more, write {{offset}} or {{page}} into the query template."

    def check_depth(self, depth: int, values: Mapping[str, str]) -> None:
        """Refuse a depth that an engine with these settings cannot be asked for.

        Raises
        ------
        NotValid
            With the depths that it can.
        """
        reach, more = self.reach(values)
        deepest = min(DEEPEST, reach)
        if not 1 <= depth <= deepest:
            told = f"From 1 to {deepest:,} for this engine. {more}".strip()
            raise NotValid(f"The depth is {depth}. {told}", {"depth": told})

    def checked(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the values of all settings, the defaults filled in.

        Raises
        ------
        NotValid
            For a setting that the connector does not have, one that is missing, or a value that it cannot take.
        """
        known = {setting.name: setting for setting in self.settings}
        if strange := next((name for name in given if name not in known), None):
            message = f"the connector {self.name} has no setting {strange!r}; it takes {', '.join(known)}"
            raise NotValid(message, {strange: message})
        values = {name: (given.get(name) or setting.default).strip() for name, setting in known.items()}
        if problems := _problems(self.settings, values):
            raise NotValid("; ".join(problems.values()), problems)
        return values

    def engine(self, given: Mapping[str, str], allowed: Allowed, timeout: float = 10.0) -> Engine:
        """Return an engine with these settings.

        Raises
        ------
        NotValid
            As `checked`, or where a template or address cannot be used.
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
            problems[setting.name] = f"{setting.name} holds a NUL character or half of a surrogate pair; take it out"
        elif setting.required and not value:
            problems[setting.name] = f"{setting.name} is missing: {setting.description}"
        elif value and setting.choices and value not in setting.choices:
            problems[setting.name] = f"{setting.name} is {value!r}; it is one of {', '.join(setting.choices)}"
    return problems
