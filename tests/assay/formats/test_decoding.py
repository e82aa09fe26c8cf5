"""Tests of decoding: line ends, encodings, gzip, binary data, and clear refusals."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UnreadableInput
from assay.formats.text_lines import Content


def lines(data: bytes) -> list[tuple[int, str]]:
    return list(Content(data, "a.txt").lines())


def refused(data: bytes) -> UnreadableInput:
    with pytest.raises(UnreadableInput) as caught:
        lines(data)
    return caught.value


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_end_in_three_ways(end: bytes):
    assert lines(b"a" + end + b"b" + end) == [(1, "a"), (2, "b")]


def test_nothing_else_ends_a_line():
    text = "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g"
    assert lines(text.encode()) == [(1, text)]


def test_marks_and_repairs_are_noticed():
    content = Content(b"\xef\xbb\xbfa\r\nb", "a.txt")
    assert list(content.lines()) == [(1, "a"), (2, "b")]
    assert (content.bom, content.carriage_return_line, content.ends_in_newline) == (True, 1, False)


@given(st.lists(st.text(st.characters(exclude_characters="\0\r\n", exclude_categories=["Cs"])), min_size=1))
def test_large_and_small_blocks_agree(parts: list[str]):
    data = "\n".join(["x" * 70_000, *parts, "x" * (1 << 20), "end"]).encode()
    assert [text for _, text in lines(data)] == data.decode().split("\n")


def test_a_crlf_on_the_edge_of_a_block_is_one_end():
    data = b"x" * ((1 << 16) - 1) + b"\r\n" + b"y" * (1 << 20) + b"\r\nz"
    assert [len(text) for _, text in lines(data)] == [(1 << 16) - 1, 1 << 20, 1]


def test_gzip_is_known_by_its_content(tmp_path: Path):
    path = tmp_path / "plain.txt"
    path.write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    with Content(path, "plain.txt") as content:
        assert list(content.lines()) == [(1, "a"), (2, "b")]
        assert content.size == path.stat().st_size


def test_a_truncated_archive_is_refused():
    packed = gzip.compress(b"some line\n" * 50_000)
    assert refused(packed[: len(packed) // 2]).code == "F02"


def test_a_damaged_archive_is_refused():
    packed = bytearray(gzip.compress(bytes(range(1, 250)) * 400))
    packed[len(packed) // 2] ^= 0xFF
    assert refused(bytes(packed)).code in ("F01", "F02", "F03")


def test_an_archive_does_not_expand_for_ever():
    bomb = gzip.compress(b"a\n" * (1 << 21))
    with pytest.raises(UnreadableInput, match="expands to more") as caught:
        list(Content(bomb, "a.gz", limit=1 << 20).lines())
    assert caught.value.code == "F02"


def test_wrong_encoding_is_reported_with_line_and_offset():
    error = refused("q1 0 d1 3\nq1 0 caf\u00e9 3\n".encode("latin-1"))
    assert (error.code, error.line) == ("F01", 2)
    assert "byte 0xE9 at offset 18" in str(error)


def test_latin_1_is_read_on_request():
    content = Content("caf\u00e9\n".encode("latin-1"), "a.txt", encoding="latin-1")
    assert list(content.lines()) == [(1, "caf\u00e9")]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "F07"),
        (b"\xef\xbb\xbf", "F07"),
        (b"\n\n \n", "F07"),
        ("a".encode("utf-16"), "F01"),
        (b"PK\x03\x04\x00\x00", "F02"),
        (b"PAR1\x00", "F03"),
        (b"a\n" * 100_000 + b"\0", "F03"),
        (b"x" * (18 << 20), "F03"),
    ],
)
def test_binary_files_are_refused(data: bytes, code: str):
    assert refused(data).code == code


def zipped(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("UP", ".."), content)
    return stream.getvalue()


def test_a_zip_archive_of_one_file_is_unpacked():
    assert lines(zipped(a=b"x\ny\n")) == [(1, "x"), (2, "y")]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (zipped(), "F03"),
        (zipped(a=b"x\n", b=b"y\n"), "F06"),
        (zipped(UP__a=b"x\n"), "F02"),
        (zipped(a=b"x\n")[:-30], "F02"),
        (zipped(**{"[Content_Types].xml": b"x\n", "b": b"y\n"}), "F03"),
        (zipped(a=zipped(b=b"x\n")), "F03"),
    ],
    ids=["no file", "two files", "unsafe path", "truncated", "office", "nested"],
)
def test_other_zip_archives_are_refused(data: bytes, code: str):
    assert refused(data).code == code


def test_a_zip_archive_may_not_expand_without_limit():
    with pytest.raises(UnreadableInput) as caught:
        list(Content(zipped(a=b"a\n" * (1 << 21)), "a.zip", limit=1 << 20).lines())
    assert caught.value.code == "F02"


def test_a_damaged_file_in_a_zip_archive_is_refused():
    data = bytearray(zipped(a=bytes(range(97, 122)) * 400 + b"\n"))
    data[40:44] = b"\x00\x01\x02\x03"
    assert refused(bytes(data)).code == "F02"


def test_nul_byte_is_reported_with_its_line():
    assert str(refused(b"query,count\ntent,5\nro\0pe,3\n")).startswith(
        "a.txt:3: looks like a binary file: it contains a NUL"
    )


def test_missing_file_is_reported():
    with pytest.raises(UnreadableInput, match="no-such-file: cannot be opened: No such file"):
        Content(Path("no-such-file"), "no-such-file")


def test_a_stream_that_was_handed_in_stays_open():
    stream = io.BytesIO(b"a\n")
    with Content(stream, "a") as content:
        list(content.lines())
    assert not stream.closed


@given(st.binary())
def test_random_bytes_are_read_or_refused(data: bytes):
    try:
        numbered = lines(data)
    except UnreadableInput:
        return
    assert [number for number, _ in numbered] == list(range(1, len(numbered) + 1))
