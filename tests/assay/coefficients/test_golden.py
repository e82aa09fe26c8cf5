"""Golden tests: agreement coefficients reproduce published values."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.coefficients import agreement_report, cohen_kappa, fleiss_kappa, gwet_ac, krippendorff_alpha
from assay.core import Ratings

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "agreement-classics"
HERE = DATA.is_dir()
pytestmark = [pytest.mark.shared, pytest.mark.skipif(not HERE, reason="../shared/data is not here")]
GOLDEN = {case["name"]: case for case in json.loads((DATA / "golden_agreement.json").read_text())} if HERE else {}
EXPECTED = json.loads((DATA / "expected.json").read_text()) if HERE else {}


def by_rater(name: str, names: str = "") -> tuple[list[int], list[float]]:
    """A table of one row per rater in long form; letters become numbers."""
    cells = [
        (unit, names.index(grade) if names else grade)
        for row in GOLDEN[name]["data"]
        for unit, grade in enumerate(row)
        if grade is not None
    ]
    return [unit for unit, _ in cells], [grade for _, grade in cells]


def by_count(name: str) -> tuple[list[int], list[int]]:
    """A table of units x grades holding counts, in long form."""
    cells = [(u, g) for u, row in enumerate(GOLDEN[name]["data"]) for g, count in enumerate(row) for _ in range(count)]
    return [unit for unit, _ in cells], [grade for _, grade in cells]


def by_cell(name: str) -> tuple[list[int], list[int]]:
    """A table of two raters' grades as two columns."""
    cells = [(a, b) for a, row in enumerate(GOLDEN[name]["data"]) for b, count in enumerate(row) for _ in range(count)]
    return [a for a, _ in cells], [b for _, b in cells]


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_krippendorffs_own_example(level: str) -> None:
    case = GOLDEN["krippendorff2011_E_4obs_12units"]
    value = krippendorff_alpha(*by_rater(case["name"]), level).value
    assert value == pytest.approx(case["published"][level], abs=5e-4)
    assert value == pytest.approx(case["computed"][f"{level}/krippendorff"], abs=5e-7)


def test_krippendorffs_nominal_examples() -> None:
    assert krippendorff_alpha(*by_rater("krippendorff2011_A_binary"), "nominal").value == pytest.approx(
        0.095238, abs=5e-7
    )
    assert krippendorff_alpha(*by_rater("krippendorff2011_B_nominal", "abcde"), "nominal").value == pytest.approx(
        0.691964, abs=5e-7
    )


@pytest.mark.parametrize("which", ["grants", "same_pct_1", "same_pct_2"])
def test_cohen_of_the_encyclopedia(which: str) -> None:
    case = GOLDEN[f"wikipedia_cohen_{which}"]
    assert cohen_kappa(*by_cell(case["name"])).value == pytest.approx(case["published"]["kappa"], abs=5e-4)


@pytest.mark.parametrize("name", ["wikipedia_fleiss_10x14x5", "fleiss1971_psychiatric_30x6x5"])
def test_fleiss_of_published_tables(name: str) -> None:
    case = GOLDEN[name]
    assert fleiss_kappa(*by_count(name)).value == pytest.approx(case["computed"]["statsmodels"], abs=5e-7)


def test_gwet_of_published_tables() -> None:
    rows = GOLDEN["gwet_raw4raters"]["data"]
    cells = [(unit, grade) for unit, row in enumerate(rows) for grade in row if grade is not None]
    units, grades = [unit for unit, _ in cells], [grade for _, grade in cells]
    assert gwet_ac(units, grades).value == pytest.approx(0.77544, abs=1e-5)
    assert gwet_ac(units, grades, "quadratic").value == pytest.approx(0.914, abs=1e-5)
    assert gwet_ac(*by_count("fleiss1971_psychiatric_30x6x5")).value == pytest.approx(0.44788, abs=1e-5)


def test_abstractors_by_two_coefficients() -> None:
    a, b = by_cell("gwet_cont3x3abstractors")
    assert cohen_kappa(a, b).value == pytest.approx(0.7964094021839718, abs=1e-12)
    units = list(range(len(a)))
    assert gwet_ac(units + units, a + b).value == pytest.approx(0.84933, abs=1e-5)


def test_ten_items_of_a_judgment_list() -> None:
    case = GOLDEN["judgment_list_author_10_items"]
    a, b = case["data"]
    computed = case["computed"]
    for weights in ("unweighted", "linear", "quadratic"):
        assert cohen_kappa(a, b, weights).value == pytest.approx(computed[f"cohen_{weights}/sklearn"], abs=5e-6)
    units = list(range(len(a)))
    for level in ("nominal", "ordinal", "interval"):
        value = krippendorff_alpha(units + units, a + b, level).value
        assert value == pytest.approx(computed[f"alpha_{level}/krippendorff"], abs=5e-7)


def table(name: str) -> Ratings:
    with (DATA / name).open() as lines:
        return Ratings.from_rows(("q", row["item"], row["rater"], int(row["value"])) for row in csv.DictReader(lines))


@pytest.mark.parametrize(
    ("file", "key"),
    [
        ("krippendorff2011.csv", "krippendorff2011"),
        ("fleiss1971_diagnoses.csv", "fleiss1971_diagnoses"),
        ("dawid_skene1979_anaesthesia.csv", "dawid_skene1979_anaesthesia"),
    ],
)
def test_the_whole_report_of_published_tables(file: str, key: str) -> None:
    expected: dict[str, Any] = EXPECTED[key].get("agreement_suite", EXPECTED[key])
    ratings = table(file)
    report = agreement_report(ratings, values=np.unique(ratings.grade).tolist(), bootstrap=0)
    assert (report.raters, report.overlap) == (expected["raters"], expected["items_with_2plus"])
    assert report.percent_agreement == pytest.approx(expected["pairwise_percent_agreement"], abs=1e-6)
    for level in ("nominal", "ordinal", "interval", "ratio"):
        if f"krippendorff_alpha_{level}" not in expected:
            continue
        assert report.coefficients[f"alpha-{level}"].value == pytest.approx(
            expected[f"krippendorff_alpha_{level}"], abs=1e-6
        )
    for row in report.cohen:
        theirs = expected["pairwise_cohen"][f"{row.a}|{row.b}"]
        assert row.n == theirs["n"]
        assert row.unweighted.percent_agreement == pytest.approx(theirs["agreement"], abs=1e-6)


@pytest.mark.parametrize(
    ("file", "key"),
    [("krippendorff2011.csv", "krippendorff2011"), ("fleiss1971_diagnoses.csv", "fleiss1971_diagnoses")],
)
def test_coefficients_of_units_graded_by_all_raters(file: str, key: str) -> None:
    expected: dict[str, Any] = EXPECTED[key].get("agreement_suite", EXPECTED[key])
    ratings = table(file)
    whole = np.flatnonzero(np.bincount(ratings.unit) == len(ratings.raters))
    rows = np.isin(ratings.unit, whole)
    units, grades = ratings.unit[rows], ratings.grade[rows]
    assert len(whole) == expected["items_rated_by_all"]
    assert fleiss_kappa(units, grades).value == pytest.approx(expected["fleiss_kappa"], abs=1e-6)
    assert gwet_ac(units, grades).value == pytest.approx(expected["gwet_ac1"], abs=1e-5)
    value = gwet_ac(units, grades, "quadratic").value
    assert value == pytest.approx(expected["gwet_ac2_quadratic"], abs=1e-5)
