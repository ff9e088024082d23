#!/usr/bin/env python3
"""Runs the benchmark programs of a folder side by side and prints one table of medians and ratios.

Every row has a process of its own, and every round runs all programs on it one after the other, so that
whatever else the machine does meets them alike, and no row finds what another left behind.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

OURS, PEER = "gradus", "pytorch"
FLOORS = ("eigen", "openblas", "onednn")
RATES = {"FLOP/s": "GFLOP/s", "B/s": "GB/s", "op/s": "Gop/s"}
COUNTS = ("mallocs", "peak_bytes")
# They would make OpenBLAS take this processor for another one.
MISLEADING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="where the programs are")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--filter", default="", help="regular expression of the rows to run")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--min-time", type=float, default=0.1, help="seconds of a row in a round")
    parser.add_argument("--clock", choices=("real", "cpu"), default="real",
                        help="cpu: the main thread's own time, for one thread on a busy machine")
    parser.add_argument("--json", action="store_true", help="print all that was measured instead")
    arguments = parser.parse_args()
    if arguments.clock == "cpu" and arguments.threads > 1:
        parser.error("--clock cpu sees only one thread")
    return arguments


class Program:
    """One benchmark program: a framework, or a library of matrix products."""

    def __init__(self, path, threads):
        self.path = path
        self.environment = {k: v for k, v in os.environ.items() if k not in MISLEADING}
        self.environment["BENCHMARK_THREADS"] = str(threads)
        self.environment["OMP_NUM_THREADS"] = str(threads)
        self.description = ""
        self.rows = {plain_name(full): full for full in self.run("--benchmark_list_tests").split()}

    def run(self, *arguments):
        command = [str(self.path), *arguments]
        return subprocess.run(command, env=self.environment, check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def measure(self, row, min_time):
        """Google Benchmark's record of one row, or None where the program does not offer it."""
        report = json.loads(self.run(f"--benchmark_filter=^{re.escape(self.rows[row])}$",
                                     f"--benchmark_min_time={min_time}",
                                     "--benchmark_format=json"))
        self.description = report["context"]["program"]
        record = report["benchmarks"][0]
        return None if record.get("error_occurred") else record


def plain_name(full):
    return re.sub(r"(/iterations:\d+)?/real_time$", "", full)


def programs_in(folder, threads):
    paths = {name: path for name in (OURS, PEER, *FLOORS)
             for path in folder.rglob(f"{name}_benchmarks") if path.is_file()}
    if OURS not in paths:
        sys.exit(f"{folder}: no gradus_benchmarks there")
    return {name: Program(path, threads) for name, path in paths.items()}


def measure_row(programs, row, arguments):
    """The records of each program that knows the row, one per round."""
    records = {name: [] for name, program in programs.items() if row in program.rows}
    for _ in range(arguments.rounds):
        for name, so_far in records.items():
            record = programs[name].measure(row, arguments.min_time)
            if record:
                so_far.append(record)
    return {name: so_far for name, so_far in records.items() if so_far}


def value(record, key, clock):
    """Google Benchmark's rates are per second of real time."""
    if key in RATES:
        return record[key] * record["real_time"] / record[clock]
    return record[clock if key == "time" else key]


def summary(records, clock):
    """Medians of one row: time in microseconds, and whatever else the programs counted."""
    return {name: {key: statistics.median(value(record, key, clock) for record in of_program)
                   for key in ("time", *RATES, *COUNTS) if key == "time" or key in of_program[0]}
            for name, of_program in records.items()}


def time_text(microseconds):
    for unit, size in (("s ", 1e6), ("ms", 1e3), ("µs", 1.0)):
        if microseconds >= size:
            return f"{microseconds / size:.3g} {unit}"
    return f"{microseconds * 1e3:.3g} ns"


def rate_text(medians):
    for key, unit in RATES.items():
        if key in medians:
            return f"{medians[key] / 1e9:.3g} {unit}"
    return ""


def time_cells(row, medians):
    """The cells of one row: times, how often Gradus fits into them, and its rate."""
    ours = medians[OURS]["time"]
    peer = medians.get(PEER, {}).get("time")
    floors = [(medians[name]["time"], name) for name in FLOORS if name in medians]
    cells = [row, time_text(ours), time_text(peer) if peer else "", "", "", ""]
    if peer:
        cells[3] = f"{peer / ours:.2f}"
    if floors:
        floor, name = min(floors)
        cells[4:] = [f"{time_text(floor)} {name}", f"{ours / floor:.2f}"]
    return cells + [rate_text(medians[OURS])]


def memory_cells(row, medians):
    cells = [row]
    for key, size in (("peak_bytes", 2.0 ** 20), ("mallocs", 1.0)):
        for name in (OURS, PEER):
            known = name in medians
            cells.append(f"{medians[name][key] / size:,.4g}" if known else "")
    return cells


TIME_HEAD = ["row", "Gradus", "PyTorch", "PyTorch/Gradus", "best floor", "Gradus/floor",
             "Gradus's rate"]
MEMORY_HEAD = ["row", "peak MiB", "PyTorch", "mallocs per step", "PyTorch"]


def print_table(head, lines):
    """In Markdown, aligned, so that it reads well in a terminal and in a page."""
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    rule = ["-" * width for width in widths]
    for line in [head, rule, *lines]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |")


def print_tables(results):
    timed = [time_cells(*item) for item in results.items() if not item[0].startswith("memory/")]
    memory = [memory_cells(*item) for item in results.items() if item[0].startswith("memory/")]
    for head, lines in ((TIME_HEAD, timed), (MEMORY_HEAD, memory)):
        if lines:
            print_table(head, lines)
            print()


def main():
    arguments = parse_arguments()
    programs = programs_in(arguments.folder, arguments.threads)
    rows = [row for row in programs[OURS].rows if re.search(arguments.filter, row)]
    records = {}
    for number, row in enumerate(rows, 1):
        print(f"[{number}/{len(rows)}] {row}", file=sys.stderr)
        records[row] = measure_row(programs, row, arguments)
    results = {row: summary(of_row, f"{arguments.clock}_time") for row, of_row in records.items()}

    about = {name: program.description for name, program in programs.items() if program.description}
    if arguments.json:
        print(json.dumps({"threads": arguments.threads, "programs": about, "medians": results,
                          "records": records}, indent=1))
        return
    print(f"threads {arguments.threads}, medians of {arguments.rounds} rounds, "
          f"{arguments.clock} time")
    for name, description in about.items():
        print(f"{name}: {description}")
    print()
    print_tables(results)


if __name__ == "__main__":
    main()
