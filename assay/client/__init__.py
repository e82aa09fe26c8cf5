"""Client of an Assay server: pull labels and runs, push files and verdicts, and wait for scores."""
