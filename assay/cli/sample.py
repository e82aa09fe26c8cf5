"""The command ``assay sample``: draw queries from a log, with tiers, inclusion probabilities and weights."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import missing, option, progress_of_bytes
from assay.cli.inputs.files import add_out, print_warnings, stdin_once, write_out
from assay.cli.options.reader import columns_of
from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.formats.reader import LOG_FORMATS, log_format
from assay.sampling.sample import USUAL_SD, advise

if TYPE_CHECKING:
    from assay.formats.row_types import LogRow
    from assay.sampling.counted_log import CountedLog
    from assay.sampling.draw import Sample
    from assay.sampling.tiers import TierCut

EXAMPLE = "assay sample log.csv --head 50 --torso 100 --tail 50 --seed 1 --out queries.csv --raw-out raw.csv"
COLUMNS = ("query_id", "query", "tier", "frequency", "clients", "probability", "weight")
RAW_COLUMNS = ("query_id", "line", "query", "timestamp", "count", "clicks")
GROUP_COLUMNS = ("group", "query", "frequency", "clients", "reason")
# Common privacy threshold: queries from fewer clients may identify a person.
FEW_CLIENTS = 5
FEW_DOUBTS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "log LOG", "query log with query,timestamp,client_id or query,count,clients; - for standard input")
    option(parser, "--format", "format of the log; default: from its file name, or csv", choices=list(LOG_FORMATS))
    option(parser, "--columns --column OURS=THEIRS,...", "map columns of the log, such as count=searches,query=term")
    option(parser, "--repeated", "how to combine repeated queries of a counted log", choices=["sum", "max", "first"])
    option(parser, "--method", "sampling method", "stratified", choices=["stratified", "pps"])
    for tier in ("head", "torso", "tail"):
        parser.add_argument(f"--{tier}", type=int, metavar="N", help=f"stratified: draw N queries from the {tier}")
    option(parser, "--n N", "pps: draw N queries from the whole log", type=int)
    option(parser, "--head-share X", "share of traffic at which the head ends", 0.5)
    option(parser, "--torso-share X", "share of traffic at which the torso ends", 0.8)
    option(parser, "--head-ranks N", "last rank of the head, such as 500, instead of a share", type=int)
    option(parser, "--torso-ranks N", "with --head-ranks: last rank of the torso, such as 5000", type=int)
    option(parser, "--language TAG", "use only searches in this language, such as de, from the log's language column")
    option(parser, "--window-days N", "use the last N days of the log", 90)
    option(parser, "--min-clients N", "leave out queries from fewer clients than this, if the log has clients", 1)
    option(parser, "--single-counts", "accept a log in which every query has a count of 1", action="store_true")
    option(parser, "--seed N", "seed for the draw", 0)
    option(parser, "--detect X", "also print how many queries are needed to detect a difference of X", type=float)
    option(parser, "--sd X", "standard deviation of paired differences", USUAL_SD, type=float)
    option(parser, "--raw-out FILE", "also write one raw log row per query, without client_id")
    option(parser, "--groups-out FILE", "also write groups of queries that are probably the same, for review")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Draw and write the queries, and print a summary of the log."""
    _check_method(args)
    _check_advice(args.sd, args.detect)
    stdin_once([args.log])
    from assay.sampling.tiers import check_cuts, cut_tiers

    cuts = {name: getattr(args, name) for name in ("head_share", "torso_share", "head_ranks", "torso_ranks")}
    check_cuts(**cuts)
    source = LogFile(args)
    log = source.amount(window_days=args.window_days, min_clients=args.min_clients, language=args.language)
    if not log.queries:
        raise NotValid(f"{args.log}: no queries are left to sample: {_left_out(log) or 'the log is empty'}")
    if log.searches == len(log.queries) > 1 and not args.single_counts:
        raise NotValid(
            f"{args.log}: every query has a count of 1, so the traffic is unknown; if a column has counts, name "
            "it (--columns count=NAME); if the counts are right, add --single-counts"
        )
    cut = cut_tiers(log.queries, **cuts)
    sample = _with_ids(_draw(args, cut), source)
    write_out(_as_csv(sample), args.out)
    if args.raw_out:
        write_out(_raw_rows(sample, source, bool(log.languages)), args.raw_out)
    if args.groups_out:
        write_out(_groups(log), args.groups_out)
    _print_summary(log, cut, sample)
    _advise(sample, args.sd, args.detect)
    return 0


def _check_method(args: argparse.Namespace) -> None:
    tiers = [name for name in ("head", "torso", "tail") if getattr(args, name) is not None]
    if args.method == "pps" and (args.n is None or tiers):
        raise NotValid("--method pps draws from the whole log; use --n N without --head, --torso or --tail")
    if args.method == "stratified" and (args.n is not None or not tiers):
        raise NotValid("--method stratified draws from tiers; use --head N, --torso N or --tail N without --n")


class LogFile:
    """The log, counted in one pass; single rows are read in a second pass."""

    def __init__(self, args: argparse.Namespace) -> None:
        from assay.formats.text_lines import reusable_source

        self.path = args.log
        self.counts = False
        # The content is read twice, so a pipe is kept in memory and a file is opened again.
        self.source = reusable_source(args.log)
        named = LOG_FORMATS.get(args.format)
        self.format = named or log_format(self.source, self.path, "--format jsonl")
        given = {"columns": columns_of(args.columns, "count=searches,query=term"), "repeated": args.repeated}
        self.options = {name: value for name, value in given.items() if value is not None}
        if self.options and self.format == LOG_FORMATS["ubi"]:
            raise NotValid("a UBI log has fixed columns and one line per search; remove --columns and --repeated")

    def amount(self, **options: Any) -> CountedLog:
        """Count the log; the first error stops it."""
        from assay.formats.log_blocks import open_log
        from assay.sampling.column_counting import count_stream

        size = len(self.source) if isinstance(self.source, bytes) else _size(self.source)
        stream = open_log(self.source, path=self.path, format=self.format, **self.options)
        log = count_stream(stream, progress=progress_of_bytes(size, "reading"), **options)
        assert stream.report is not None  # noqa: S101 (it was read to its end)
        stream.report.raise_if_errors()
        print_warnings([stream.report])
        ignored = any(problem.code == "W41" for problem in stream.report.problems)
        self.counts = log.searches != log.rows
        if ignored and not log.first and log.searches == log.rows:
            sys.stderr.write("note: each row counts as one search; name a column of counts with --columns count=NAME\n")
        return log

    def rows(self, lines: set[int]) -> dict[int, LogRow]:
        """Return the rows on these lines."""
        from assay.formats.log_blocks import rows_on_lines

        return rows_on_lines(self.source, lines, path=self.path, format=self.format, **self.options)


def _size(path: Path | str) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        # Opening the file reports the error.
        return 0


def _draw(args: argparse.Namespace, cut: TierCut) -> Sample:
    from assay.sampling.draw import draw_pps, draw_stratified

    if args.method == "pps":
        return draw_pps(cut, args.n, args.seed)
    return draw_stratified(cut, {tier: getattr(args, tier) or 0 for tier in ("head", "torso", "tail")}, args.seed)


def _with_ids(sample: Sample, source: LogFile) -> Sample:
    """Return the sample with the query ids of the log, if it has any."""
    if not source.counts:
        return sample
    rows = source.rows({int(str(drawn.query.raw)) for drawn in sample.queries})
    own = {line: row.query_id for line, row in rows.items() if row.query_id}
    queries = (replace(drawn, query_id=own.get(int(str(drawn.query.raw)), drawn.query_id)) for drawn in sample.queries)
    return replace(sample, queries=tuple(queries))


def _as_csv(sample: Sample) -> str:
    from assay.core.csv_cells import csv_row, escape

    lines = [csv_row(list(COLUMNS))]
    for drawn in sample.queries:
        counts = [str(drawn.query.frequency), "" if drawn.query.clients is None else str(drawn.query.clients)]
        shares = [repr(drawn.probability), repr(drawn.weight)]
        lines.append(
            csv_row([drawn.query_id, escape(" ".join(drawn.query.text.split())), drawn.tier, *counts, *shares])
        )
    return "".join(lines)


def _raw_rows(sample: Sample, source: LogFile, with_language: bool) -> str:
    """Return one row of the log per query, redacted and without the client."""
    from assay.core.csv_cells import csv_row, escape
    from assay.core.redaction import redact

    lines = {drawn.query_id: int(str(drawn.query.raw)) for drawn in sample.queries}
    rows = source.rows(set(lines.values()))
    written = [csv_row([*RAW_COLUMNS, *(["language"] if with_language else [])])]
    for query_id, line in lines.items():
        raw = rows[line]
        cells = [str(line), escape(redact(raw.query)[0]), raw.timestamp, str(raw.count), escape(raw.clicks)]
        cells += [escape(raw.language)] if with_language else []
        written.append(csv_row([query_id, *cells]))
    return "".join(written)


def _groups(log: CountedLog) -> str:
    """Return groups of queries that are probably the same, most frequent query first."""
    from assay.core.csv_cells import csv_row, escape
    from assay.sampling.near_duplicates import near_duplicates

    written = [csv_row(list(GROUP_COLUMNS))]
    for number, group in enumerate(near_duplicates(log.queries), start=1):
        for query, reason in zip(group.queries, group.reasons, strict=True):
            clients = "" if query.clients is None else str(query.clients)
            text = escape(" ".join(query.text.split()))
            written.append(csv_row([f"g{number:03}", text, str(query.frequency), clients, reason]))
    return "".join(written)


def _print_summary(log: CountedLog, cut: TierCut, sample: Sample) -> None:
    from assay.sampling.languages import language_list
    from assay.sampling.query_normalization import doubtful

    window = f", {log.first:%Y-%m-%d} to {log.last:%Y-%m-%d}" if log.first and log.last else ""
    spoken = f" in {log.language}" if log.language else ""
    lines = [
        f"{amount(log.traffic, 'search', 'searches')}{spoken} for "
        f"{amount(len(log.queries), 'query', 'queries')}{window}"
    ]
    for tier in cut.tiers:
        share = "no traffic" if tier.share is None else f"{tier.share:.1%} of the traffic"
        lines.append(
            f"  {tier.name}: {amount(tier.queries, 'query', 'queries')}, {share}, {sample.drawn[tier.name]} drawn"
        )
    short = [name for name, size in sample.requested.items() if size > sample.drawn.get(name, len(sample.queries))]
    if short:
        lines.append(f"  fewer than requested: {', '.join(short)}; all available queries were taken")
    if left_out := _left_out(log):
        lines.append(f"  left out: {left_out}")
    if log.languages and not log.language:
        lines.append(f"  languages: {language_list(log.languages)}; --language draws from one of them")
    if log.redacted:
        redactions = ", ".join(
            f"{kind} in {amount(number, 'search', 'searches')}" for kind, number in log.redacted.items()
        )
        lines.append(f"  redacted in queries: {redactions}; replaced by [{next(iter(log.redacted))}]")
    if doubts := doubtful([drawn.query.text for drawn in sample.queries]):
        named = ", ".join(repr(sample.queries[place].query.text) for place in doubts[:FEW_DOUBTS])
        more = f" and {len(doubts) - FEW_DOUBTS} more" if len(doubts) > FEW_DOUBTS else ""
        lines.append(f"  review the drawn queries that may contain an email address: {named}{more}")
    few = sum(drawn.query.clients is not None and drawn.query.clients < FEW_CLIENTS for drawn in sample.queries)
    if few:
        lines.append(
            f"  {amount(few, 'drawn query comes', 'drawn queries come')} from fewer than {FEW_CLIENTS} clients; "
            f"check them for personal data before sharing, or use --min-clients {FEW_CLIENTS}"
        )
    sys.stderr.write("\n".join(lines) + "\n")


def _check_advice(sd: float, wanted: float | None) -> None:
    if not 0 < sd < 10 or (wanted is not None and not 0 < wanted < 10):
        raise NotValid(
            "--detect (a difference of a metric) and --sd (its standard deviation) must be above 0, such as 0.03"
        )
    if wanted is not None:
        # Fail before the sample is written if the advice cannot be computed.
        import scipy.special  # noqa: F401


def _advise(sample: Sample, sd: float, wanted: float | None) -> None:
    """Print the smallest detectable difference with this sample, and the queries needed for a given difference."""
    worth = sample.effective_size
    try:
        advice = advise(worth, wanted, sd)
    except ModuleNotFoundError as error:
        # The sample is already written; only the advice is missing.
        sys.stderr.write(f"  advice on detectable differences {missing(error)}\n")
        return
    if worth is None or advice is None:
        return
    power = (
        f"equivalent to {worth:.0f} equally weighted queries: a difference of {advice.detectable:.3f} between two "
        "runs is"
    )
    lines = [
        f"  {power} significant with 80% probability, and the 95% interval of a difference is ±{advice.reach:.3f},",
        f"  if the standard deviation of the differences per query is {sd:g}",
    ]
    if wanted is not None:
        takes = (
            advice.reason if advice.needed is None else f"needs {amount(advice.needed, 'such query', 'such queries')}"
        )
        lines.append(f"  a difference of {wanted:g}: {takes}")
    sys.stderr.write("\n".join(lines) + "\n")


def _left_out(log: CountedLog) -> str:
    parts = [f"{amount(count, 'search', 'searches')} {reason}" for reason, count in log.dropped.items()]
    if log.suppressed:
        parts.append(
            f"{amount(log.suppressed_queries, 'query', 'queries')} with "
            f"{amount(log.suppressed, 'search', 'searches')} from fewer than {amount(log.min_clients, 'client')}"
        )
    return ", ".join(parts)
