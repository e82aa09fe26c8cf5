"""Tests of whole data sets: folders of BEIR and MTEB, ids of ir_datasets, and their conversion in one command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.cli import main
from assay.formats import FORMATS
from assay.formats.data_sets.data_set import LAYOUTS

CORPUS = (
    '{"_id": "d1", "title": "Dome", "text": "A tent, =light", "metadata": {"price": 9}}\n'
    '{"_id": "d2", "title": "", "text": "Rope \\"thin\\" 😀", "metadata": {}}\n'
)
QUERIES = '{"_id": "q1", "text": "tent"}\n{"_id": "q2", "text": "rope"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n"
FILES = {
    "corpus.jsonl": CORPUS,
    "queries.jsonl": QUERIES,
    "qrels/test.tsv": QRELS,
    "qrels/train.tsv": QRELS.replace("q1", "q2"),
}
MTEB_QRELS = '{"query-id": "q1", "corpus-id": "d1", "score": 2}\n{"query-id": "q1", "corpus-id": "d2", "score": 0}\n'
Convert = Callable[..., tuple[int, str, str]]


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def content(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    return put(tmp_path / "beir", FILES)


@pytest.fixture
def convert(capsys: pytest.CaptureFixture[str]) -> Convert:
    def run(*words: str | Path) -> tuple[int, str, str]:
        try:
            status = main(["convert", *map(str, words)])
        except SystemExit as stop:
            status = int(stop.code or 0)
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def test_a_folder_of_beir_comes_back_byte_for_byte(beir: Path, tmp_path: Path, convert: Convert) -> None:
    assert convert(beir, "--to", "beir", "--out", tmp_path / "new") == (0, "", "")
    assert content(tmp_path / "new") == FILES


def test_beir_to_mteb_and_back(beir: Path, tmp_path: Path, convert: Convert) -> None:
    assert convert(beir, "--to", "mteb", "--out", tmp_path / "mteb", "--split", "test")[0] == 0
    assert content(tmp_path / "mteb") == {
        "corpus.jsonl": CORPUS,
        "queries.jsonl": QUERIES,
        "qrels/test.jsonl": MTEB_QRELS,
    }
    assert convert(tmp_path / "mteb", "--to", "beir", "--out", tmp_path / "again")[0] == 0
    assert content(tmp_path / "again")["qrels/test.tsv"] == QRELS


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["--to", "trec-qrels", "--split", "train"], "q2 2 d1 2"),
        (["--to", "trec-qrels"], "q1 2 d1 2"),
        (["--to", "queries-tsv"], "q1\ttent"),
        (["--to", "documents-csv"], "doc_id,title,text,url,image,fields"),
        (["--to", "pairs-csv"], "query_id,doc_id"),
        (["--to", "quepid-basic-csv"], "query,docid,rating"),
    ],
)
def test_one_part_in_any_format(beir: Path, convert: Convert, words: list[str], first: str) -> None:
    status, out, _ = convert(beir, *words)
    assert (status, out.partition("\n")[0]) == (0, first)


@pytest.mark.usefixtures("decoded_here")
def test_numbered_parts_in_parquet(tmp_path: Path, convert: Convert) -> None:
    folder = tmp_path / "hub"
    for name, kind, text in [
        ("corpus/corpus-00000-of-00002.parquet", "documents", CORPUS.partition("\n")[0] + "\n"),
        ("corpus/corpus-00001-of-00002.parquet", "documents", CORPUS.partition("\n")[2]),
        ("queries/queries-00000-of-00001.parquet", "queries", QUERIES),
        ("data/test-00000-of-00001.parquet", "qrels", MTEB_QRELS),
    ]:
        rows = FORMATS[f"{kind}-jsonl"].read(text.encode(), path="a").rows
        write = FORMATS[f"{kind}-parquet"].write
        assert write is not None
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with (folder / name).open("wb") as stream:
            write(rows, stream, **({"beir": True} if kind == "qrels" else {}))
    assert convert(folder, "--to", "beir", "--out", tmp_path / "beir")[0] == 0
    written = content(tmp_path / "beir")
    assert (written["queries.jsonl"], written["qrels/test.tsv"]) == (QUERIES, QRELS)
    assert (folder / "corpus/corpus-00001-of-00002.parquet").replace(folder / "corpus/corpus-00000-of-00002.parquet")
    (folder / "corpus/corpus-00001-of-00002.parquet").write_bytes(
        (folder / "corpus/corpus-00000-of-00002.parquet").read_bytes()
    )
    status, _, error = convert(folder, "--to", "documents-jsonl")
    assert (status, "'d2' is in corpus-00000-of-00002.parquet" in error) == (2, True)


def test_a_folder_from_qrels_queries_and_documents(tmp_path: Path, convert: Convert) -> None:
    put(tmp_path, {"qrels.txt": "q1 0 d1 2\nq1 0 d2 0\n", "q.tsv": "q1\ttent\nq2\trope\n", "d.jsonl": CORPUS})
    words = ("--queries", tmp_path / "q.tsv", "--documents", tmp_path / "d.jsonl", "--out", tmp_path / "beir")
    assert convert(tmp_path / "qrels.txt", "--to", "beir", *words)[0] == 0
    assert content(tmp_path / "beir") == {name: text for name, text in FILES.items() if "train" not in name}


def test_documents_without_content_are_written_and_named(tmp_path: Path, convert: Convert) -> None:
    put(tmp_path, {"basic.csv": "query,docid,rating\ntent,d 1,2\n"})
    status, _, notes = convert(tmp_path / "basic.csv", "--to", "beir", "--split", "dev", "--out", tmp_path / "beir")
    assert (status, "d 1" in notes) == (0, True)
    assert content(tmp_path / "beir") == {
        "corpus.jsonl": '{"_id": "d 1", "title": "", "text": "", "metadata": {}}\n',
        "queries.jsonl": '{"_id": "q001", "text": "tent"}\n',
        "qrels/dev.tsv": "query-id\tcorpus-id\tscore\nq001\td 1\t2\n",
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--to beir", "--out"),
        ("--to beir --out beir", "is not an empty folder"),
        ("--to beir --out new --queries q.csv", "--queries does not apply"),
        ("--to beir --out new --tag x", "--tag does not apply"),
        ("--to beir --out new --from trec-qrels", "--from does not apply"),
        ("--to trec-qrels --split dev", "splits: test, train"),
        ("--to queries-csv --split test", "--split applies only"),
        ("--to trec-run", "cannot become run"),
        ("--to trec-qrels --documents x", "--documents does not apply"),
        ("--to trec-qrels --from trec-qrels", "does not apply"),
    ],
)
def test_a_wrong_call_is_one_line(
    beir: Path, convert: Convert, monkeypatch: pytest.MonkeyPatch, words: str, message: str
) -> None:
    monkeypatch.chdir(beir.parent)
    status, _, error = convert("beir", *words.split())
    assert (status, error.count("\n"), message in error) == (2, 1, True), error
    assert not (beir.parent / "new").exists()


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"qrels/test.tsv": QRELS + "q1\td3\n"}, "test.tsv"),
        ({"qrels/test.tsv": QRELS + "q9\td1\t1\n"}, "q9"),
        ({"corpus.jsonl": CORPUS + "{}\n"}, "corpus.jsonl"),
        ({"corpus.jsonl": "x\n"}, "corpus.jsonl"),
        ({"documents.csv": "doc_id\nd1\n"}, "several files"),
    ],
)
def test_a_damaged_data_set_is_refused_whole(
    beir: Path, tmp_path: Path, convert: Convert, changed: dict[str, str], part: str
) -> None:
    put(beir, changed)
    status, _, error = convert(beir, "--to", "beir", "--out", tmp_path / "new")
    assert (status, error.count("\n"), part in error) == (2, 1, True), error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beir"]


def test_an_empty_folder_and_one_without_a_corpus(tmp_path: Path, convert: Convert) -> None:
    assert convert(tmp_path, "--to", "trec-qrels")[0] == 2
    put(tmp_path, {"queries.jsonl": QUERIES, "qrels/test.tsv": QRELS})
    assert convert(tmp_path, "--to", "trec-qrels")[0] == 0
    assert convert(tmp_path, "--to", "documents-jsonl")[0] == 2


def test_a_split_that_is_no_file_name(tmp_path: Path, convert: Convert) -> None:
    put(tmp_path, {"basic.csv": "query,docid,rating\ntent,d1,2\n"})
    for split in ("../test", ".", "a/b"):
        assert convert(tmp_path / "basic.csv", "--to", "beir", "--split", split, "--out", tmp_path / "new")[0] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["basic.csv"]


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[str]:
    """The id of a data set of ir_datasets whose files are here."""
    import ir_datasets

    put(tmp_path, {"d.tsv": "d1\tA tent\nd2\tA rope\n", "q.tsv": "q1\ttent\n", "qrels": "q1 0 d1 3\nq1 0 d2 0\n"})
    name = "assay-example/dev"
    data = ir_datasets.create_dataset(
        docs_tsv=str(tmp_path / "d.tsv"), queries_tsv=str(tmp_path / "q.tsv"), qrels_trec=str(tmp_path / "qrels")
    )
    ir_datasets.registry.register(name, data)
    yield f"ir_datasets:{name}"
    del ir_datasets.registry._registered[name]


def test_a_data_set_of_ir_datasets(catalog: str, tmp_path: Path, convert: Convert) -> None:
    assert convert(catalog, "--to", "trec-qrels")[:2] == (0, "q1 0 d1 3\nq1 0 d2 0\n")
    assert convert(catalog, "--to", "queries-tsv")[:2] == (0, "q1\ttent\n")
    assert convert(catalog, "--to", "beir", "--out", tmp_path / "beir")[0] == 0
    assert content(tmp_path / "beir") == {
        "corpus.jsonl": (
            '{"_id": "d1", "title": "", "text": "A tent", "metadata": {}}\n'
            '{"_id": "d2", "title": "", "text": "A rope", "metadata": {}}\n'
        ),
        "queries.jsonl": '{"_id": "q1", "text": "tent"}\n',
        "qrels/dev.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t3\nq1\td2\t0\n",
    }


def test_an_unknown_id_of_ir_datasets(convert: Convert) -> None:
    status, _, error = convert("ir_datasets:no/such/set", "--to", "trec-qrels")
    assert (status, error.count("\n"), "no/such/set" in error) == (2, 1, True)


def test_without_ir_datasets_the_extra_is_named(convert: Convert, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    status, _, error = convert("ir_datasets:beir/scifact/test", "--to", "trec-qrels")
    assert (status, error.count("\n"), "assay[datasets]" in error) == (2, 1, True)


def test_every_layout_is_read_as_it_is_written(beir: Path, tmp_path: Path, convert: Convert) -> None:
    for layout in LAYOUTS:
        assert convert(beir, "--to", layout, "--out", tmp_path / layout / "a")[0] == 0
        assert convert(tmp_path / layout / "a", "--to", layout, "--out", tmp_path / layout / "b")[0] == 0
        assert content(tmp_path / layout / "a") == content(tmp_path / layout / "b")
