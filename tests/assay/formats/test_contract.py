"""Contract tests that every file format must pass."""

from __future__ import annotations

import gzip
import inspect
import io
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import NotValid, UnreadableInput
from assay.core.read_report import BINS
from assay.formats import FORMATS, Format, sniff

pytestmark = pytest.mark.usefixtures("decoded_here")
MEMBERS = list(FORMATS.values())
every_format = pytest.mark.parametrize("member", MEMBERS, ids=list(FORMATS))
SMALL = [
    "q1",
    "d1",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\r",
    ",",
    '"',
    "3",
    "2.5",
    "-1",
    "nan",
    "{",
    "}",
    "[",
    "]",
    ":",
    "null",
    "#",
    "é",
]
LARGE = [
    '"query_id"',
    '"doc_id"',
    '"query"',
    '"ratings"',
    '"rating"',
    "query_id,doc_id,rater,grade\n",
    "query\n",
    "\ufeff",
]
WHOLE = ["query,count\n", "q1 0 d1 1\n", "q1 Q0 d1 1 1 x\n"]
# Formats that read the other rows of a file whose first format is another one.
SECOND = {"quepid-case-queries", "label-studio-predictions-json", "argilla-suggestions-json", "lara-probabilities-csv"}
# What a format always has to say about itself.
INHERENT = {"msmarco-run": {"W49"}, "umbrela-judgments-jsonl": {"W71"}}
PIECES = st.sampled_from([*(text.encode() for text in (*SMALL, *LARGE, *WHOLE)), b"\xff"])


def written(member: Format, rows: list[object]) -> bytes:
    assert member.write is not None
    stream = io.BytesIO()
    member.write(rows, stream)
    return stream.getvalue()


def example(member: Format) -> bytes:
    """The whole small file that the declaration tells; one that is no text is written from its rows."""
    if not member.binary:
        return member.example.encode()
    return written(member, FORMATS[f"{member.kind}-csv"].read(member.example.encode(), path="a").rows)


def check(member: Format, data: bytes) -> None:
    """Read anything: rows and true books, or one clear refusal; never another exception, never a lost line."""
    refusal = None
    try:
        result = member.read(data, path="a.file")
    except UnreadableInput as error:
        refusal = error
    if refusal is not None:
        assert str(refusal).startswith("a.file")
        assert refusal.code
        return
    report = result.report
    assert set(report.bins) == set(BINS)
    assert sum(report.bins.values()) == report.units
    assert len(result.rows) == report.accepted
    assert report.error_count == 0 or report.errors
    assert report.bytes == len(data)
    report.as_csv()
    report.as_json()


def check_each(
    members: list[Format], data: Callable[[Format], bytes], checked: Callable[[Format, bytes], None] = check
) -> None:
    """One try for all formats: to make so many takes longer than to read them. A failure names the format."""
    for member in members:
        content = data(member)
        try:
            checked(member, content)
        except BaseException as error:
            error.add_note(f"{member.name} read {content[:200]!r}")
            raise


@every_format
def test_it_describes_itself(member: Format):
    assert FORMATS[member.name] is member
    assert member.title
    assert member.description.endswith(".")
    assert all(extension.startswith(".") for extension in member.extensions)


@every_format
def test_its_example_is_read_without_a_word(member: Format):
    report = member.read(example(member), path="a").report
    assert (report.ok, set(report.codes), report.format) == (True, INHERENT.get(member.name, set()), member.name)
    assert report.accepted > 0


@every_format
def test_its_example_comes_back_byte_for_byte(member: Format):
    if member.write is None:
        pytest.skip("Assay only reads this format")
    assert written(member, member.read(example(member), path="a").rows) == example(member)


@every_format
def test_its_example_is_recognized(member: Format):
    assert member.binary or member.name in SECOND or sniff(example(member)) == member.name
    assert sniff(example(member), member.kind) == member.name


@every_format
def test_an_empty_list_can_be_written(member: Format):
    if member.write is None:
        pytest.skip("Assay only reads this format")
    data = written(member, [])
    assert member.binary or data == b"" or data.endswith(b"\n")


@every_format
def test_changes_by_editors_are_repaired(member: Format):
    plain = example(member)
    rows = member.read(plain, path="a").rows
    changes = {"gzip": gzip.compress(plain)}
    if not member.binary:  # no editor opens one that is
        changes["crlf"] = plain.replace(b"\n", b"\r\n")
        changes["mark"] = b"\xef\xbb\xbf" + plain
        changes["no end"] = plain.rstrip(b"\n")
        changes["blank lines"] = b"\n" + plain + b"\n\n"
    for change, changed in changes.items():
        result = member.read(changed, path=change)
        assert result.rows == rows, change
        assert result.report.ok, change


def check_refused(member: Format, data: bytes) -> None:
    with pytest.raises(UnreadableInput):
        member.read(data, path="a")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\x00\x01\x02", b"PK\x03\x04\x00", "a".encode("utf-16")])
def test_binary_files_are_refused(data: bytes):
    check_each(MEMBERS, lambda _: data, check_refused)


@pytest.mark.slow
@given(data=st.binary(max_size=60))
def test_random_bytes(data: bytes):
    check_each(MEMBERS, lambda _: data)


@pytest.mark.slow
@given(pieces=st.lists(PIECES, max_size=30))
def test_random_pieces(pieces: list[bytes]):
    check_each(MEMBERS, lambda _: b"".join(pieces))


@pytest.mark.slow
@given(changes=st.lists(st.tuples(st.integers(0, 9999), st.integers(0, 255)), max_size=4))
def test_its_example_with_bytes_changed(changes: list[tuple[int, int]]):
    def changed(member: Format) -> bytes:
        data = bytearray(example(member))
        for place, byte in changes:
            data[place % len(data)] = byte
        return bytes(data)

    # With a binary one each try takes a process of its own: test_parquet.py changes a few bytes.
    check_each([member for member in MEMBERS if not member.binary], changed)


class Endless(io.RawIOBase):
    """A wrong file of 200 MB that notes how much of it was wanted."""

    def __init__(self, line: bytes) -> None:
        self.line, self.given = line, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        wanted = min(size, 200_000_000 - self.given)
        self.given += wanted
        return (self.line * (wanted // len(self.line) + 1))[:wanted]


def check_ends_quickly(member: Format, line: bytes) -> None:
    source = Endless(line)
    with pytest.raises(UnreadableInput):
        member.read(source, path="a")
    assert source.given <= (80 << 20 if member.name == "manifest" else 8 << 20)


@pytest.mark.slow
@pytest.mark.parametrize("line", [b"lorem ipsum, dolor sit amet\n", b"{}\n", b"\xff\xd8\xff\xe0JFIF\n", b"\0" * 8])
def test_a_wrong_file_of_200_mb_ends_quickly(line: bytes):
    check_each(MEMBERS, lambda _: line, check_ends_quickly)


@every_format
def test_a_line_without_end_is_given_up(member: Format):
    source = Endless(b"a")
    with pytest.raises(UnreadableInput):
        member.read(source, path="a")
    assert source.given <= 80 << 20


@pytest.mark.parametrize("data", [b"[" * 10_000, b'{"a":' * 10_000, b"<a>" * 10_000], ids=["lists", "objects", "tags"])
def test_deep_nesting_is_no_fault(data: bytes):
    check_each(MEMBERS, lambda _: data)


@every_format
def test_unknown_options_are_not_swallowed(member: Format):
    with pytest.raises((TypeError, NotValid)):
        member.read(example(member), path="a", no_such_option=1)


@every_format
def test_every_option_of_the_reader_is_declared(member: Format):
    declared = set(inspect.signature(member.read).parameters) - {"source", "path"}
    assert declared == set(member.options)
