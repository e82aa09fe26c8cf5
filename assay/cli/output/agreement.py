"""Text output of ``assay agreement``: counts, coefficients, kappas of two raters, and breakdowns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assay.cli.output.text_table import counted, number, text_table

if TYPE_CHECKING:
    from assay.coefficients.by_grade import GradeAgreement
    from assay.coefficients.by_group import GroupAgreement
    from assay.coefficients.coefficient import Agreement
    from assay.coefficients.gate import GateAnswer
    from assay.coefficients.report import AgreementReport


def as_text(
    report: AgreementReport,
    parts: Mapping[str, Sequence[GroupAgreement]],
    by_grade: Sequence[GradeAgreement],
    answer: GateAnswer | None,
) -> str:
    """Return the counts, every coefficient, the kappas of pairs of raters, and the requested breakdowns."""
    shares = "-" if report.percent_agreement is None else f"{report.percent_agreement:.1%}"
    head = (
        f"{counted(report.raters, 'rater')}, {counted(report.pairs, 'pair')}, {report.overlap} with two or more "
        f"grades, {counted(report.queries, 'query', 'queries')}; equal grades: {shares}\n"
    )
    texts = [head, _coefficients(report)]
    if report.cohen:
        texts.append(_cohen(report))
    if by_grade:
        texts.append(_by_grade(by_grade))
    texts += [_by_group(part, rows) for part, rows in parts.items()]
    if report.warnings:
        texts.append("".join(f"warning: {warning.message}\n" for warning in report.warnings))
    if answer is not None:
        texts.append(f"gate {answer.coefficient} >= {answer.threshold:g}: {answer.state}\n{answer.advice}\n")
    return "\n".join(texts)


def _coefficients(report: AgreementReport) -> str:
    from assay.coefficients import COEFFICIENTS

    rows = {
        COEFFICIENTS[name].title: one for name, one in report.coefficients.items() if COEFFICIENTS[name].raters != "two"
    }
    cells = [[name, number(one.value), interval(one), str(one.n), one.reason or ""] for name, one in rows.items()]
    table = text_table(["coefficient", "value", "95% interval", "n", ""], cells)
    return table + _reasons([one.reason for one in rows.values()])


def _reasons(reasons: list[str | None]) -> str:
    from assay.coefficients import REASONS

    return "".join(f"{reason}: {REASONS[reason]}\n" for reason in dict.fromkeys(reasons) if reason)


def _cohen(report: AgreementReport) -> str:
    rows = [
        [
            f"{row.a} - {row.b}",
            *(f"{number(one.value)} {interval(one)}".rstrip() for one in (row.unweighted, row.linear, row.quadratic)),
            str(row.n),
            row.unweighted.reason or "",
        ]
        for row in report.cohen
    ]
    return text_table(["Cohen's kappa", "unweighted", "linear", "quadratic", "n", ""], rows)


def _by_grade(rows: Sequence[GradeAgreement]) -> str:
    cells = [
        [
            f"{row.grade:g}",
            f"{number(row.specific.value)} {interval(row.specific)}".rstrip(),
            f"{number(row.one_or_other.value)} {interval(row.one_or_other)}".rstrip(),
            str(row.n),
            row.one_or_other.reason or "",
        ]
        for row in rows
    ]
    return text_table(["grade", "specific agreement", "alpha, this grade vs. others", "n", ""], cells)


def _by_group(part: str, rows: Sequence[GroupAgreement]) -> str:
    cells = [
        [
            row.name,
            number(row.ordinal.value),
            interval(row.ordinal),
            number(row.ordinal.percent_agreement),
            number(row.steps),
            str(row.ordinal.n),
            row.ordinal.reason or "",
        ]
        for row in rows
    ]
    return text_table([part, "alpha, ordinal", "95% interval", "equal", "steps apart", "n", ""], cells)


def interval(one: Agreement) -> str:
    """Return the interval as text, empty if there is none."""
    return "" if one.low is None else f"[{number(one.low)}, {number(one.high)}]"
