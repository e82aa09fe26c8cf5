"""Generator of docs/formats.md, printed by ``python -m assay.formats.reference_page`` and checked by a test."""

from __future__ import annotations

import sys
from pathlib import Path
from string import Template

from assay.formats import FORMATS, Format
from assay.formats.column_names import LABEL_COLUMNS, RESULT_COLUMNS
from assay.formats.report_codes import CODES


def page() -> str:
    """Return the whole page."""
    rows = [
        f"| `{member.name}` | {member.kind} | {' '.join(member.extensions)} | {member.title} | {member.tool} | "
        f"{'read and written' if member.write else 'read'} |\n"
        for member in FORMATS.values()
    ]
    template = Template(Path(__file__).with_suffix(".md").read_text(encoding="utf-8"))
    return template.substitute(
        formats=len(FORMATS),
        foreign=len(foreign()),
        written=len(foreign(written=True)),
        overview="".join(rows),
        names=_names(),
        sections="".join(map(_section, FORMATS.values())),
        codes="".join(f"| {code} | {what.meaning} | {what.effect} |\n" for code, what in CODES.items()),
    )


def foreign(written: bool = False) -> list[str]:
    """Return the formats of other tools that are read, or of those the ones that are written."""
    return [name for name, member in FORMATS.items() if member.tool and (member.write or not written)]


def _names() -> str:
    columns = LABEL_COLUMNS | RESULT_COLUMNS
    return "".join(
        f"| `{name}` | {', '.join(f'`{other}`' for other in others)} |\n" for name, others in columns.items()
    )


def _section(member: Format) -> str:
    file = f"FILE{member.extensions[0]}"
    made = f"assay convert FILE.csv --from {member.kind}-csv --to {member.name} --out {file}"
    shown = f"Create such a file from the rows below with `{made}`.\n\n" if member.binary else ""
    options = "".join(f"- `{name}`: {meaning}\n" for name, meaning in member.options.items())
    return (
        f"### `{member.name}`\n\n{member.description}\n\n{options}{'' if not options else chr(10)}"
        f"{shown}```\n{member.example}```\n\nCheck a file with `assay validate {file} --format {member.name}`.\n\n"
    )


if __name__ == "__main__":
    sys.stdout.write(page())
