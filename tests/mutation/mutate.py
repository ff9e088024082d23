#!/usr/bin/env python3
"""Makes small faults in the rules and kernels of Gradus, and looks whether the tests notice.

    tests/mutation/mutate.py --seed 1 --count 150           # half an hour on two cores
    tests/mutation/mutate.py --seed 1 --count 150 --list    # the same faults, only printed
    tests/mutation/mutate.py --seed 1 --count 150 --only 7  # one of them once more

A fault (a "mutant") is one edit of one line: a sign, a factor, a bound off by one, a lost
accumulation, a swapped axis or operand, a comparison, a condition. From the seed the script draws
them evenly over files and kinds, with two turns for each file of framework/ops and
framework/kernels. Each is made in a copy of the tree and built there; then the test program runs,
first the tests of that file and then all of them. The libraries are built as shared ones, so the
test program itself is built once and never again.

A fault that no test notices has survived: either a test is missing, or the fault is harmless. The
harmless ones are listed in harmless.txt, with the reason. The script fails if any other survives.

It needs what building the tests needs (see CONTRIBUTING.md), and no package of Python. CI does not
run it.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import html
import json
import os
import pathlib
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HARMLESS = pathlib.Path(__file__).with_name("harmless.txt")

SOURCES = ["framework/ops/*.cpp", "framework/kernels/**/*.cpp", "framework/kernels/per_isa/*.h",
           "framework/autograd/*.cpp", "framework/optim/*.cpp", "layers/*.cpp"]
REMOVED = "removed"  # a whole statement, kept as a comment so that a listing shows which
RULES_AND_KERNELS = ("framework/ops/", "framework/kernels/")

# (pattern, replacement) by kind. clang-format sets spaces around binary operators, and none inside
# the brackets of a template or between a type and its * or &, so the spaces tell them apart.
EDITS = {
    "sign": [
        (r" \+(?= )", " -"), (r" -(?= )", " +"),
        (r"(?<=return )-(?=[a-z(])|(?<=[(=?:,] )-(?=[a-z(])|(?<=\()-(?=[a-z(])", ""),  # unary
    ],
    "factor": [
        (r" \*(?= )", " /"), (r" /(?= )", " *"),
        (r"(?<=[*/] )2\b(?!\.)", "3"),
        (r"(?<![\w.])(?!0\.0\b)\d+\.\d+F?(?![\w.])", r"\g<0> * 1.01"),
        (r"\bv\.grad\(\)(?!\.(dtype|shape))", "(v.grad() * 1.01)"),
    ],
    "off by one": [
        (r" <(?= )", " <="), (r" <=(?= )", " <"),
        (r" >(?= )", " >="), (r" >=(?= )", " >"),
        (r" [+-] 1\b(?!\.)", ""),
        (r"(?<= = )0(?=; )", "1"), (r"(?<= = )1(?=; )", "0"),  # where a loop starts
    ],
    "accumulation": [
        (r" [+*-]=(?= )", " ="), (r" \+=(?= )", " -="),
        (r"(?<!\S)\S.*( \+= |\.add_\(|accumulate_gradient\(|push_back\().*;(?= *$)", REMOVED),
    ],
    "axis": [
        (r"(?<=[({ ])-1(?=[,)}])", "-2"), (r"(?<=[({ ])-2(?=[,)}])", "-1"),
        (r"(?:(?<=\w\[)|(?<=[({ ]))(?<!Index )axis(?=[,)\]}])", "axis + 1"),
        (r"\.transpose\([^()]*\)", ""), (r"\b(transposed|inverse)\((?!const)", "("),
        (r"\b(input|size|unsqueeze|squeeze)\(0\)", r"\1(1)"),
        (r"\b(input|size|unsqueeze|squeeze)\(1\)", r"\1(0)"),
        (r"\bsize\(2\)", "size(1)"),
        (r"\.inner\b", ".outer"), (r"\.outer\b", ".inner"),
        (r"\.rows\b", ".columns"), (r"\.columns\b", ".rows"),
        (r"\.row_stride\b", ".column_stride"), (r"\.column_stride\b", ".row_stride"),
    ],
    "comparison": [
        (r" <(?==? )", " >"), (r" >(?==? )", " <"),
        (r" ==(?= )", " !="), (r" !=(?= )", " =="),
        (r"\bstd::min(?=[<(])", "std::max"), (r"\bstd::max(?=[<(])", "std::min"),
    ],
    "condition": [
        (r" &&(?= )", " ||"), (r" \|\|(?= )", " &&"),
        (r"(?<![\w!])!(?=[\w(])", ""),
        (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    ],
}

# The tests that are run first, where their name is not that of the mutated file.
FIRST_TESTS = {
    "elementwise": ["unary_test", "arithmetic_test", "compare_test", "inplace_test"],
    "reduce": ["reduce_test", "extreme_test"],
    "normalize": ["normalization_test"],
    "optimizers": ["adam_test", "sgd_test"],
    "vector_math": ["isa_test", "unary_test"],
}


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str  # from the root of the tree
    line: int  # from 1
    kind: str
    before: str
    after: str

    def __str__(self):
        return (f"{self.file}:{self.line} {self.kind}\n"
                f"    - {self.before.strip()}\n    + {self.after.strip()}")


def code_only(source):
    """The source with spaces in place of all that is no fault to change: comments, texts,
    directives, what other processors' builds compile, and the construction of errors."""

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())

    texts = r'"(\\.|[^"\\\n])*"|\'(\\.|[^\'\\\n])+\'(?!\d)'
    other_builds = r"^#ifdef GRADUS_HAS_(.|\n)*?^#endif"
    errors = r"\b(throw|fail\(|static_assert)[^;]*;|\btext\([^;]*?[;{]"
    for pattern in (f"//.*|{texts}", other_builds, r"^ *#.*(\\\n.*)*", errors):
        source = re.sub(pattern, blank, source, flags=re.MULTILINE)
    return source


def mutants_of(file):
    """All mutants of one file."""
    source = (ROOT / file).read_text()
    edits = [(kind, *edit) for kind, edits in EDITS.items() for edit in edits]
    found = {}
    both = zip(source.splitlines(), code_only(source).splitlines())
    for number, (line, code) in enumerate(both, 1):
        for kind, pattern, replacement in edits:
            for match in re.finditer(pattern, code):
                old = line[match.start() : match.end()]
                new = f";  // {old}" if replacement is REMOVED else match.expand(replacement)
                after = line[: match.start()] + new + line[match.end() :]
                found[number, after] = Mutant(file, number, kind, line, after)
    return list(found.values())


def draw(seed, count):
    """`count` mutants, evenly over files and kinds."""
    files = sorted({str(path.relative_to(ROOT)) for glob in SOURCES for path in ROOT.glob(glob)})
    generator = random.Random(seed)
    generator.shuffle(files)
    left = {file: mutants_of(file) for file in files}
    for mutants in left.values():
        generator.shuffle(mutants)
    turns = [file for file in files for _ in range(2 if file.startswith(RULES_AND_KERNELS) else 1)]
    drawn = []
    kinds = collections.Counter()
    while len(drawn) < count and any(left.values()):
        for file in turns:
            if not left[file]:
                continue
            mutant = min(left[file], key=lambda candidate: kinds[candidate.kind])
            left[file].remove(mutant)
            kinds[mutant.kind] += 1
            drawn.append(mutant)
    return drawn[:count]


def known_harmless():
    """{(file, mutated line): reason}, from lines "file: mutated line  # reason"."""
    known = {}
    for line in HARMLESS.read_text().splitlines():
        if line and not line.startswith("#"):
            file, rest = line.split(": ", 1)
            mutated, reason = rest.rsplit("  # ", 1)
            known[file, mutated] = reason
    return known


def update_copy(directory):
    """Brings a copy of the tree up to date; what is equal keeps its time and is not built again."""
    for path in ROOT.rglob("*"):
        inside = path.relative_to(ROOT)
        if path.is_dir() or inside.parts[0].startswith((".git", "build", "run")):
            continue
        copy = directory / inside
        if not copy.exists() or copy.read_bytes() != path.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())


class Tree:
    """A copy of the source tree with a build beside it."""

    def __init__(self, directory, with_tests):
        self.source = directory / "source"
        self.build_directory = directory / "build"
        self.target = "gradus_tests" if with_tests else "gradus_layers"
        update_copy(self.source)
        options = {
            "CMAKE_BUILD_TYPE": "Release",
            "CMAKE_CXX_FLAGS_RELEASE": "-O1" if with_tests else "-O1 -D_GLIBCXX_ASSERTIONS",
            "CMAKE_SKIP_RPATH": "ON",  # the libraries are chosen when the test program starts
            "BUILD_SHARED_LIBS": "ON",
            "GRADUS_ISAS": "baseline",
            "GRADUS_BUILD_TESTS": "ON" if with_tests else "OFF",
            "GRADUS_BUILD_EXAMPLES": "OFF",
            "GRADUS_BUILD_BENCHMARKS": "OFF",
            "GRADUS_INSTALL": "OFF",
        }
        settings = [f"-D{name}={value}" for name, value in options.items()]
        command = ["cmake", "-G", "Ninja", "-S", self.source, "-B", self.build_directory, *settings]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def build(self):
        """Whether it builds; and what was said."""
        # What one copy compiled serves the other, and the restored file after a fault.
        cache = {"CCACHE_BASEDIR": str(self.source.parent), "CCACHE_NOHASHDIR": "1"}
        command = ["cmake", "--build", self.build_directory, "--target", self.target]
        built = subprocess.run(command, env=os.environ | cache, capture_output=True, text=True)
        return built.returncode == 0, built.stdout + built.stderr


class Tests:
    """The test program, run with the libraries of one build or another."""

    MEMORY = 8 << 30  # bytes: a fault in a size must not take the machine down

    def __init__(self, tree):
        self.program = tree.build_directory / "tests" / "gradus_tests"
        self.names = {path.stem for path in (tree.source / "tests").rglob("*_test.cpp")}

    def first_for(self, file):
        stem = pathlib.Path(file).stem
        likely = FIRST_TESTS.get(stem, [f"{stem}_test"]) + ["op_table_test"]
        return ",".join(f"[#{name}]" for name in likely if name in self.names)

    def run(self, libraries, limit, selection=None):
        """("passed" | "test" | "timeout", the test that was running last)."""
        command = [self.program, "--abort", "--reporter", "xml", "--filenames-as-tags"]
        process = subprocess.Popen(
            command + ([selection] if selection else []),
            env=os.environ | {"LD_LIBRARY_PATH": str(libraries)},
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace",
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (self.MEMORY, self.MEMORY)))
        try:
            output, _ = process.communicate(timeout=limit)
            outcome = "passed" if process.returncode == 0 else "test"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            outcome = "timeout"
        names = re.findall(r'<TestCase name="([^"]*)"', output)
        return outcome, html.unescape(names[-1]) if names else "before the first test"


def judge(mutant, tree, tests, pristine_seconds):
    """Makes the fault, builds, tests and takes it back: (outcome, by which test)."""
    path = tree.source / mutant.file
    source = path.read_text()
    lines = source.split("\n")
    lines[mutant.line - 1] = mutant.after
    path.write_text("\n".join(lines))
    try:
        if not tree.build()[0]:
            return "compiler", ""
        # The first tests are a small part, so they get the time of all and not five times that.
        for selection, factor in ((tests.first_for(mutant.file), 1), (None, 5)):
            limit = 20 + factor * pristine_seconds
            outcome, name = tests.run(tree.build_directory, limit, selection)
            if outcome != "passed":
                return outcome, name
        return "survived", ""
    finally:
        path.write_text(source)


def summary(results, seconds):
    """The figures, and every survivor."""
    known = known_harmless()
    lines = []
    counts = collections.Counter()
    for number, mutant, outcome in sorted(results, key=lambda result: result[0]):
        if outcome == "survived":
            reason = known.get((mutant.file, mutant.after.strip()))
            outcome = "harmless" if reason else "survived"
            lines.append(f"{outcome} {number:3} {mutant}" + (f"\n    {reason}" if reason else ""))
        counts[outcome] += 1
    lines.append(f"{len(results)} faults in {seconds / 60:.0f} min: "
                 f"{counts['compiler']} refused by the compiler, {counts['test']} found by a test, "
                 f"{counts['timeout']} by the time limit, {counts['harmless']} harmless, "
                 f"{counts['survived']} survived")
    return "\n".join(lines), counts["survived"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--seed", type=int, default=1)
    add("--count", type=int, default=150)
    add("--list", action="store_true", help="print the mutants, and build nothing")
    add("--only", type=int, nargs="+", metavar="N", help="run these mutants of the draw alone")
    add("--jobs", type=int, default=os.cpu_count(), help="how many are built and run at once")
    add("--work", type=pathlib.Path, help="keep copies, builds and results.jsonl in this folder")
    options = parser.parse_args()

    mutants = list(enumerate(draw(options.seed, options.count), 1))
    if options.only:
        mutants = [(number, mutant) for number, mutant in mutants if number in options.only]
    print(f"seed {options.seed}, {len(mutants)} mutants")
    if options.list:
        for number, mutant in mutants:
            print(f"{number:3} {mutant}")
        return 0

    work = (options.work or pathlib.Path(tempfile.mkdtemp(prefix="gradus_mutation_"))).resolve()
    print(f"work in {work}; building the tests, without faults", flush=True)
    pristine = Tree(work / "tests", with_tests=True)
    jobs = min(options.jobs, len(mutants))
    trees = [Tree(work / f"job_{job}", with_tests=False) for job in range(jobs)]
    for tree in [pristine, *trees]:
        built, said = tree.build()
        if not built:
            sys.exit(f"the build fails without any fault:\n{said}")
    tests = Tests(pristine)
    start = time.monotonic()
    outcome, name = tests.run(trees[0].build_directory, limit=3600)
    pristine_seconds = time.monotonic() - start
    if outcome != "passed":
        sys.exit(f"the tests fail without any fault: {name}")
    print(f"they pass in {pristine_seconds:.0f} s", flush=True)

    free_trees = queue.SimpleQueue()
    for tree in trees:
        free_trees.put(tree)
    results = []

    def run(number, mutant):
        tree = free_trees.get()
        try:
            outcome, name = judge(mutant, tree, tests, pristine_seconds)
        finally:
            free_trees.put(tree)
        results.append((number, mutant, outcome))
        record = {"seed": options.seed, "number": number, **dataclasses.asdict(mutant),
                  "outcome": outcome, "test": name}
        with (work / "results.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(f"{len(results)}/{len(mutants)} {outcome} {name}: {number:3} {mutant}", flush=True)

    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(len(trees)) as pool:
        for future in [pool.submit(run, number, mutant) for number, mutant in mutants]:
            future.result()
    said, survivors = summary(results, time.monotonic() - start)
    print(said)
    if not options.work:
        shutil.rmtree(work)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
