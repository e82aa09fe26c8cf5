"""Tests of bundle manifests: golden bytes, detected changes, reproducible zip files, unsafe paths."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import manifest, trec_qrels
from assay.formats.manifest import BundleFile, file_entry, manifest_bytes, verify, write_zip

QRELS = b"q1 0 d1 3\n"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "qrels.txt").write_bytes(QRELS)
    content = {"assay_manifest": 1, "files": [file_entry("qrels.txt", "trec-qrels", 1, QRELS)]}
    (folder / "manifest.json").write_bytes(manifest_bytes(content))
    return folder


def test_golden_bytes():
    stream = io.BytesIO()
    manifest.write([BundleFile("b.txt", "x", "00", 1, 2)], stream, about={"list": {"name": "é"}, "counts": {}})
    assert stream.getvalue().decode() == (
        '{\n  "assay_manifest": 1,\n  "counts": {},\n  "files": [\n    {\n      "bytes": 1,\n      "format": "x",\n'
        '      "path": "b.txt",\n      "rows": 2,\n      "sha256": "00"\n    }\n  ],\n  "list": {\n    "name": "é"\n'
        "  }\n}\n"
    )


def test_the_example_is_true():
    entry = file_entry("qrels.txt", "trec-qrels", 3, trec_qrels.EXAMPLE.encode())
    assert manifest.read(manifest.EXAMPLE.encode()).rows == [BundleFile(**entry)]


def test_a_bundle_as_it_was(bundle: Path):
    assert verify(bundle).ok


def test_each_difference_is_named(bundle: Path):
    (bundle / "qrels.txt").write_bytes(QRELS + b"q1 0 d2 0\n")
    (bundle / "more.txt").write_bytes(b"x")
    verification = verify(bundle)
    assert (verification.missing, verification.extra, verification.different, verification.ok) == (
        (),
        ("more.txt",),
        ("qrels.txt",),
        False,
    )
    (bundle / "qrels.txt").unlink()
    assert verify(bundle).missing == ("qrels.txt",)


def test_a_zip_is_the_same_every_time_and_verifies(bundle: Path, tmp_path: Path):
    files = {path.name: path.read_bytes() for path in bundle.iterdir()}
    first, second = io.BytesIO(), io.BytesIO()
    write_zip(files, first)
    write_zip(dict(reversed(files.items())), second)
    assert first.getvalue() == second.getvalue()
    (tmp_path / "bundle.zip").write_bytes(first.getvalue())
    assert verify(tmp_path / "bundle.zip").ok


def test_a_zip_with_unsafe_names_is_refused(tmp_path: Path):
    with (tmp_path / "evil.zip").open("wb") as stream:
        write_zip({"../evil.txt": b"x"}, stream)
    with pytest.raises(UnreadableInput, match="unsafe file name") as caught:
        verify(tmp_path / "evil.zip")
    assert caught.value.code == "F02"


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a\\b", ""])
def test_paths_stay_inside(path: str):
    with pytest.raises(NotValid, match="not inside"):
        manifest.write([BundleFile(path, "x", "00", 1, 2)], io.BytesIO())
    text = manifest_bytes({"assay_manifest": 1, "files": [file_entry(path, "x", 1, b"")]})
    assert manifest.read(text).report.codes == {"E23": 1}


@pytest.mark.parametrize("data", [b"{}", b"[]", b"{", b'{"assay_manifest": 2, "files": []}'])
def test_invalid_manifests_are_refused(data: bytes):
    with pytest.raises(UnreadableInput):
        manifest.read(data)


def test_nothing_to_verify(tmp_path: Path):
    with pytest.raises(UnreadableInput, match=r"does not contain manifest\.json"):
        verify(tmp_path)
    with pytest.raises(UnreadableInput, match="does not exist"):
        verify(tmp_path / "none")
