// The program and the signals that end it: it says how to go on, and going on makes up for all.
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "tests/gradus/program.h"
#include "tests/support/catch.h"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using gradus::read_file;
using gradus::testing::ProgramResult;
using gradus::testing::run_gradus;
using gradus::testing::runnable;
using gradus::testing::ScratchFolder;

namespace {

/// Too many steps for their lines to fit into a pipe, so that a reader who waits holds the run up.
const std::string kRun =
    "train sort --steps 1000 --batch 2 --width 8 --heads 2 --layers 1 --train-samples 41 "
    "--held-out 20 --dropout 0.1 --checkpoint-every 100 --evaluate-every 100 ";

/// Waits until the writer is held up: the pipe has the same number of bytes for a while.
void wait_until_full(FILE* pipe) {
  constexpr int kEnough = 20;  // looks that found the same
  int before = -1;
  for (int same = 0; same < kEnough;) {
    int bytes = 0;
    ioctl(fileno(pipe), FIONREAD, &bytes);
    same = bytes == before && bytes > 0 ? same + 1 : 0;
    before = bytes;
    usleep(10'000);
  }
}

/// The program, which gets the signal so many times in the midst of its steps.
int interrupted_run(const ScratchFolder& folder, const std::string& arguments, int signal,
                    int times) {
  const std::string command = "cd '" + folder.path().string() + "' && echo $$ && exec " +
                              runnable(GRADUS_PROGRAM) + " " + arguments + "--json 2>stderr";
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  char line[4096];
  REQUIRE(std::fgets(line, sizeof line, pipe));
  const pid_t program = std::stoi(line);
  wait_until_full(pipe);
  for (int i = 0; i < times; ++i) {
    REQUIRE(kill(program, signal) == 0);
    usleep(50'000);  // or two would count as one
  }
  while (std::fgets(line, sizeof line, pipe)) continue;
  const int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The last line of a run with --json, without what two runs cannot have in common.
nlohmann::json end_of(const ProgramResult& result) {
  REQUIRE(result.exit_code == 0);
  const std::size_t end = result.output.rfind('\n');
  nlohmann::json line =
      nlohmann::json::parse(result.output.substr(result.output.rfind('\n', end - 1) + 1));
  line.erase("seconds");
  line.erase("model");
  return line;
}

}  // namespace

TEST_CASE("a signal stops a run, and the command it prints makes up for it", "[gradus][resume]") {
  const ScratchFolder folder;
  const nlohmann::json wanted = end_of(run_gradus(folder, kRun + "--out whole -q --json"));
  const std::string whole = read_file(folder.path() / "whole/model.safetensors");
  REQUIRE(wanted["steps"] == 1000);

  for (const int signal : {SIGINT, SIGTERM}) {
    INFO("signal " << signal);
    CHECK(interrupted_run(folder, kRun + "--overwrite --out run ", signal, 1) == 130);
    const std::string log = read_file(folder.path() / "stderr");
    CHECK_THAT(log, ContainsSubstring("interrupted after step") &&
                        EndsWith("\nresume: " GRADUS_PROGRAM " train --resume run\n"));
    CHECK(read_file(folder.path() / "run/model.safetensors") != whole);
    CHECK(end_of(run_gradus(folder, "train --resume run -q --json")) == wanted);
    CHECK(read_file(folder.path() / "run/model.safetensors") == whole);
  }

  CHECK(interrupted_run(folder, kRun + "--overwrite --out run ", SIGKILL, 1) == 128 + SIGKILL);
  CHECK(end_of(run_gradus(folder, "train --resume run -q --json")) == wanted);
  CHECK(read_file(folder.path() / "run/model.safetensors") == whole);
}

#ifndef __SANITIZE_THREAD__  // which holds a signal back until the thread calls something

TEST_CASE("a second signal ends a run at once", "[gradus][resume]") {
  const ScratchFolder folder;
  CHECK(interrupted_run(folder, kRun + "--out run ", SIGINT, 2) == 130);
  const std::string log = read_file(folder.path() / "stderr");
  CHECK(log.find("interrupted") == std::string::npos);
  CHECK(run_gradus(folder, "train --resume run -q").exit_code == 0);
}

#endif
