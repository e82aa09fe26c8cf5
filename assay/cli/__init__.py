"""The ``assay`` command: its subcommands, their exit status, and the options, tables and progress bars they share.

A subcommand is a module with ``EXAMPLE``, ``add_arguments(parser)`` and ``run(args) -> int``, and one line in
`COMMANDS`. Only the subcommand that runs is imported. Exit status: 0 success, 1 a gate or validation failed, 2 wrong
usage or input that cannot be read, with one line on standard error.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn, Protocol, cast

from assay.core.errors import AssayError
from assay.core.registry import Family

# Subcommands with several modules: each has a folder with the subcommand in `command.py`.
FOLDERS = {"gate", "judge", "rag", "zelo"}
# The help of each subcommand; its module has the same name.
COMMANDS = {
    "evaluate": "score runs against qrels: means, scores per query, intervals, diagnostics",
    "compare": "compare runs query by query: difference, interval, p, corrected p, effect size",
    "decide": "decide whether a candidate is better than its baseline, and whether judging may stop",
    "gate": "pass or fail a run by rules; the exit status is 1 if a rule fails",
    "reuse": "test how well qrels score systems that did not contribute to the pool",
    "freshness": "check labels for staleness (unjudged or changed documents, shifted traffic) and list next steps",
    "agreement": "measure rater agreement (kappa, alpha, AC1, AC2) with n, overlap, intervals, warnings and a gate",
    "aggregate": "combine the grades of several raters into labels, and list ties and conflicts",
    "fetch": "send queries to a live engine and write the results as a run",
    "pool": "pool the runs of several systems: choose the pairs to judge",
    "sample": "sample queries from a query log, by tier or in proportion to their traffic",
    "stratum": "add queries from another part of the traffic, such as a category, to a queries file",
    "clicks": "compute weak labels from a click log: smoothed clicks over expected clicks, or click-through rate",
    "convert": "write a file in another format",
    "judge": "grade pairs with a machine judge; a failure is an outcome, never a grade",
    "ensemble": "combine the labels of several judges and list their disagreements",
    "calibrate": "compare machine labels with human labels: agreement, reliability of grades, metric bias, cost",
    "estimate": "estimate a metric's mean from a few human labels and many machine labels",
    "usefulness": "report how useful a run's documents are for answering, from labels of the judge `downstream`",
    "rag": "measure RAG systems: retrieval, answers, faithfulness, robustness, latency and diversity",
    "erag": "answer questions from each retrieved document alone to measure how useful it is",
    "zelo": "compare documents pairwise: draw pairs, judge them, fit and plot scores, grade, benchmark, rerank",
    "validate": "list every issue in a file; the exit status is 1 for errors and 2 if the file is unreadable",
    "verify": "check an exported bundle against its manifest; the exit status is 1 if any file differs",
    "login": "check an API token of a server and store it in the system's keyring or a private file",
    "logout": "delete the stored token of a server",
    "pull": "download a snapshot's labels or a run from a server",
    "push": "store a run, samples, outputs, documents, queries or labels on a server",
    "mcp": "serve the library and a server's API to agents as MCP tools, over stdio or HTTP",
    "formats": "list the file formats, or explain a format with an example",
}
# Optional libraries, each with the extra that installs it.
EXTRAS = {
    "polars": "logs",
    "scipy": "stats",
    "sklearn": "stats",
    "httpx": "judges",
    "openpyxl": "xlsx",
    "psycopg": "postgres",
    "sentence_transformers": "semantic",
    "rouge_score": "rag",
    "sacrebleu": "rag",
    "bert_score": "semantic",
    "ir_datasets": "datasets",
    "mcp": "mcp",
}
# Subcommands that need an extra.
COMMAND_EXTRAS = {"serve": "server"}
OURS = {"assay", "judgments", "pooling", "evaluation"}
DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130
USUAL_WIDTH = 80
BAR_WIDTH = 30
# Smaller files are read too quickly for a bar.
LARGE = 20_000_000
# Commands create few reference cycles, so the garbage collector can run less often than after 700 new objects.
YOUNG = 50_000
# Matrices are too small for more threads to help, and sums must not depend on the number of threads. Starting and
# stopping threads takes OpenBLAS a fifth of the processor time of a small evaluation.
THREADS = {"OPENBLAS_NUM_THREADS": "1"}
# Parameters and values of glibc's mallopt.
MALLOC = {"M_TRIM_THRESHOLD": (-1, 2**31 - 1), "M_TOP_PAD": (-2, 64 << 20), "M_MMAP_THRESHOLD": (-3, 32 << 20)}


class Command(Protocol):
    """Interface of a subcommand's module."""

    EXAMPLE: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Run the subcommand and return the exit status."""


class OutsideCommand(Command, Protocol):
    """Interface of a subcommand's module in another package, including its line for ``assay --help``."""

    HELP: str


# Read only for `assay --help` and a name that is not in `COMMANDS`.
OUTSIDE: Family[OutsideCommand] = Family("command", {}, group="assay.commands")


def _help(prog: str) -> argparse.HelpFormatter:
    """Format help to the terminal width without the shutil import that argparse repeats for each argument."""
    try:
        columns = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size().columns
    except (OSError, ValueError):
        columns = 0
    return argparse.RawDescriptionHelpFormatter(prog, width=(columns or USUAL_WIDTH) - 2)


class OneLineParser(argparse.ArgumentParser):
    """Argument parser that reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the message and exit with status 2."""
        self.exit(REFUSED, f"{self.prog}: {one_line(message)} (see {self.prog} --help)\n")


def option(parser: argparse._ActionsContainer, usage: str, text: str, shown: Any = None, **others: Any) -> None:
    """Declare an option by its usage, such as ``-m --metric METRIC``; the help ends with the default if it is shown.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> option(parser, "--seed N", "seed for the draw", 0)
    >>> print(parser.parse_args(["--seed", "3"]).seed, parser.format_help().splitlines()[-1])
    3   --seed N    seed for the draw; default: 0
    """
    names = [word for word in usage.split() if word.startswith("-")] or usage.split()[:1]
    if metavar := " ".join(word for word in usage.split() if word not in names):
        others["metavar"] = metavar
    if shown is not None:
        others["default"] = shown
        text += f"; default: {shown:g}" if isinstance(shown, float) else f"; default: {shown}"
    if isinstance(shown, int | float):
        others.setdefault("type", type(shown))
    parser.add_argument(*names, help=text, **others)


def progress_of_bytes(total: int, what: str) -> Callable[[int], None]:
    """Return a function that draws a bar for the bytes read; it does nothing without a terminal or for small files."""
    if total < LARGE or not sys.stderr.isatty():
        return lambda done: None
    draw = progress(100, what)
    drawn = [-1]

    def draw_percent(done: int) -> None:
        percent = min(100, 100 * done // total)
        if percent != drawn[0]:
            drawn[0] = percent
            draw(percent)

    return draw_percent


def progress(total: int, what: str) -> Callable[[int], None]:
    """Return a function that draws a bar for the steps done; it does nothing without a terminal or for one step."""
    if total < 2 or not sys.stderr.isatty():
        return lambda done: None

    def draw(done: int) -> None:
        filled = BAR_WIDTH * done // total
        end = "\r\x1b[K" if done == total else ""
        sys.stderr.write(f"\r{what} [{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {done}/{total}{end}")
        sys.stderr.flush()

    return draw


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Align the cells of a table.

    Examples
    --------
    >>> print(text_table(["run", "AP"], [["bm25", "0.5000"]]), end="")
    run       AP
    bm25  0.5000
    """
    table = [list(header), *map(list, rows)]
    widths = [max(len(row[at]) for row in table) for at in range(len(header))]
    return "".join(
        "  ".join(
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        + "\n"
        for row in table
    )


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with a fixed number of decimals, or ``-`` if undefined.

    Examples
    --------
    >>> number(0.5), number(None)
    ('0.5000', '-')
    """
    return "-" if value is None else f"{value:.{digits}f}"


def run_process() -> None:
    """Run the subcommand of the process and exit."""
    for name, value in THREADS.items():
        os.environ.setdefault(name, value)
    gc.set_threshold(YOUNG)
    leave(main())


def leave(status: int) -> None:
    """Exit after flushing all output, without tearing down modules and tables, which would take a tenth of the time of
    a small evaluation."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(status)
    atexit._run_exitfuncs()
    os._exit(status)


def keep_freed_memory() -> None:
    """Make glibc reuse freed memory instead of returning it to the system."""
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for parameter, value in MALLOC.values():
            mallopt(parameter, value)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand."""
    words = list(sys.argv[1:] if argv is None else argv)
    _open_closed_streams()
    _set_utf8_output()
    if not words or words[0] in ("-h", "--help"):
        _print(_overview())
        return DONE if words else REFUSED
    if words[0] == "--version":
        _print(f"assay {installed_version()}\n")
        return DONE
    return _run(words[0], words[1:])


def load(name: str) -> Command:
    """Import the module of a subcommand."""
    if name not in COMMANDS:
        return OUTSIDE[name]
    return cast(Command, import_module(f"assay.cli.{name}.command" if name in FOLDERS else f"assay.cli.{name}"))


def build_parser(name: str) -> OneLineParser:
    """Build the parser of one subcommand, with its example at the end of the help."""
    command = load(name)
    parser = OneLineParser(
        prog=f"assay {name}",
        description=COMMANDS.get(name) or OUTSIDE[name].HELP,
        epilog=f"example:\n  {command.EXAMPLE}",
        formatter_class=cast(Any, _help),
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    return parser


def one_line(text: object) -> str:
    """Fold a message into one line."""
    return " ".join(str(text).split())


def _run(name: str, words: list[str]) -> int:
    if name not in COMMANDS and name not in OUTSIDE:
        import difflib

        if name in COMMAND_EXTRAS:
            return _refuse(f"assay {name}", f"is not installed; pip install 'assay[{COMMAND_EXTRAS[name]}]'")
        known = [*COMMANDS, *OUTSIDE]
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]}?" if near else f"; known: {', '.join(known)}"
        return _refuse("assay", f"unknown command {name!r}{hint} (see assay --help)")
    try:
        # Files are accepted before and after an option: qrels.txt a.run -m AP b.run.
        status = load(name).run(build_parser(name).parse_intermixed_args(words))
        sys.stdout.flush()
        return status
    except AssayError as error:
        return _refuse(f"assay {name}", error)
    except ModuleNotFoundError as error:
        return _refuse(f"assay {name}", missing(error))
    except BrokenPipeError:
        # The reader of the output closed the pipe. Buffered output must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        return _refuse(f"assay {name}", f"{error.filename or 'file'}: {error.strerror or error}; check the path")
    except KeyboardInterrupt:
        _refuse(f"assay {name}", "interrupted")
        return INTERRUPTED


def missing(error: ModuleNotFoundError) -> str:
    """Return a message that names the missing library and the extra that installs it."""
    library = (error.name or "").partition(".")[0]
    if library in OURS or not library:
        raise error
    what = f"assay[{EXTRAS[library]}]" if library in EXTRAS else library
    return f"needs the library {library}, which is not installed; pip install '{what}'"


def _refuse(who: str, message: object) -> int:
    sys.stderr.write(f"{who}: {one_line(message)}\n")
    return REFUSED


def installed_version() -> str:
    """Return the version of the installed package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("assay")
    except PackageNotFoundError:
        return "(from a checkout, not installed)"


def _overview() -> str:
    texts = COMMANDS | {name: command.HELP for name, command in OUTSIDE.items()}
    lines = [f"  {name:<11}{text}" for name, text in texts.items()]
    head = "usage: assay COMMAND ...\n\nFrom a query log to human relevance judgments to metrics, all in files.\n"
    return "\n".join(
        [
            head,
            "commands:",
            *lines,
            "",
            "Run assay COMMAND --help for help with a command, or assay --version for the version.",
            "",
        ]
    )


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _open_closed_streams() -> None:
    """Replace standard streams that the caller closed (``>&-``) with the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (open until the process ends)


def _set_utf8_output() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
