"""Shell examples of a documentation page, run in one bash, line by line, with what each call was answered."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Sourced before the examples: the real curl, whose status and answer also go to standard error, a mark before each
# command with its line of the page, and one after each that failed. Functions and subshells inherit no such trap.
PRELUDE = r"""
unset BASH_ENV
set -u -o pipefail
curl() {
  local file=$answers/$BASHPID code=0
  command curl -sS -w '%{stderr}\n@@status %{http_code}\n' "$@" > "$file.out" 2> "$file.err" || code=$?
  cat "$file.err" "$file.out" >&2
  cat "$file.out"
  return $code
}
answers=$(mktemp -d)
trap 'printf "\n@@failed %s\n" "$?" >&2' ERR
trap 'printf "\n@@line %s\n" "$LINENO" >&2' DEBUG
"""


@dataclass
class Outcome:
    """What one line of the page did: whether it ran, and the status of each call and of each command that failed."""

    line: int
    text: str
    ran: bool
    statuses: list[int]
    exits: list[int]
    output: str

    @property
    def calls(self) -> bool:
        return "curl " in self.text

    @property
    def failed(self) -> bool:
        answered = all(200 <= status < 300 for status in self.statuses)
        return not self.ran or bool(self.exits) or not answered or (self.calls and not self.statuses)

    def __str__(self) -> str:
        text = self.output.strip()[:1500] if self.ran else "it never ran"
        return f"line {self.line}: {self.text}\nHTTP {self.statuses}, failed with {self.exits}\n{text}"


def examples(page: str) -> str:
    """Return the fenced blocks without a language, each line at its place, and nothing in between."""
    lines: list[str] = []
    language: str | None = None
    for line in page.splitlines():
        fence = line.startswith("```")
        lines.append(line if language == "" and not fence else "")
        if fence:
            language = line[3:].strip() if language is None else None
    return "\n".join(lines) + "\n"


def run(script: str, *, folder: Path, environment: Mapping[str, str], seconds: int) -> list[Outcome]:
    """Run the script; answer what every line did that calls curl or ran, in the order of the page."""
    path, prelude, log = folder / "examples.sh", folder / "prelude.sh", folder / "examples.log"
    path.write_text(f"{script}printf '\\n@@end\\n' >&2\n", encoding="utf-8")
    prelude.write_text(PRELUDE, encoding="utf-8")
    # After so many seconds the outcomes say how far it came.
    with log.open("ab") as log_stream, suppress(subprocess.TimeoutExpired):
        subprocess.run(
            ["bash", str(path)],
            cwd=folder,
            env={**environment, "BASH_ENV": str(prelude)},
            stdout=subprocess.DEVNULL,
            stderr=log_stream,
            timeout=seconds,
            check=False,
        )
    return read_log(script, log.read_text(encoding="utf-8", errors="replace"))


def read_log(script: str, log: str) -> list[Outcome]:
    """Give each line of the script the parts of the log that are its own."""
    lines = script.splitlines()
    outputs, last = defaultdict[int, str](str), 1
    for part in log.split("\n@@line ")[1:]:
        line, _, output = part.partition("\n")
        outputs[int(line)] += output
        last = int(line)
    if "\n@@end\n" not in log:
        outputs[last] += "\n@@failed 1\nThe shell ended here.\n"
    calling = {number for number, line in enumerate(lines, 1) if "curl " in line} - function_lines(lines)
    return [
        Outcome(
            line,
            lines[line - 1],
            ran=line in outputs,
            statuses=[int(one) for one in re.findall(r"^@@status (\d+)$", outputs.get(line, ""), re.M)],
            exits=[int(one) for one in re.findall(r"^@@failed (\d+)$", outputs.get(line, ""), re.M)],
            output=outputs.get(line, ""),
        )
        for line in sorted((calling | outputs.keys()) & set(range(1, len(lines) + 1)))
    ]


def function_lines(lines: list[str]) -> set[int]:
    """The lines of functions: what stands in them runs where they are called."""
    numbers: set[int] = set()
    inside = False
    for number, line in enumerate(lines, 1):
        begins = re.match(r"\w+\(\) \{", line)
        if begins or inside:
            numbers.add(number)
        inside = (bool(begins) or inside) and not line.rstrip().endswith("}")
    return numbers
