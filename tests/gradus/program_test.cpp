// The program as its users meet it: what it prints where, and how it ends.
#include <nlohmann/json.hpp>
#include <sstream>

#include "examples/gradus/records/run_folder.h"
#include "tests/gradus/program.h"
#include "tests/support/catch.h"

using Catch::Matchers::ContainsSubstring;
using gradus::read_file;
using gradus::testing::ProgramResult;
using gradus::testing::run_gradus;
using gradus::testing::ScratchFolder;

namespace {

/// Over in a moment.
const std::string kSmall =
    "train sort --steps 6 --batch 4 --width 8 --heads 2 --layers 1 --train-samples 40 "
    "--held-out 20 --checkpoint-every 2 --evaluate-every 2 ";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("gradus alone shows a short page", "[gradus][program]") {
  const ScratchFolder folder;
  const ProgramResult result = run_gradus(folder, "");
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.output, ContainsSubstring("gradus 0.1.0") && ContainsSubstring("demo") &&
                                ContainsSubstring("train sort"));
  CHECK(result.log.empty());
  CHECK(lines_of(result.output).size() < 12);
}

TEST_CASE("help is a command, too", "[gradus][program]") {
  const ScratchFolder folder;
  const ProgramResult result = run_gradus(folder, "help");
  CHECK(result.exit_code == 0);
  CHECK(result.output == run_gradus(folder, "--help").output);
  CHECK_THAT(result.output, ContainsSubstring("gradcheck"));
}

TEST_CASE("the version names the instruction set", "[gradus][program]") {
  const ScratchFolder folder;
  const ProgramResult result = run_gradus(folder, "--version", "GRADUS_ISA=baseline");
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.output, ContainsSubstring("gradus 0.1.0 (baseline, "));
}

TEST_CASE("what is unknown names what is near", "[gradus][program]") {
  const ScratchFolder folder;
  const ProgramResult command = run_gradus(folder, "trian sort");
  CHECK(command.exit_code == 2);
  CHECK_THAT(command.log,
             ContainsSubstring("gradus: unknown command 'trian'; did you mean train?"));
  CHECK(command.output.empty());
  const ProgramResult option = run_gradus(folder, "train sort --stesp 5");
  CHECK(option.exit_code == 2);
  CHECK_THAT(option.log,
             ContainsSubstring("gradus train: unknown option --stesp; did you mean --steps?"));
  const ProgramResult task = run_gradus(folder, "train srot");
  CHECK(task.exit_code == 2);
  CHECK_THAT(task.log, ContainsSubstring("unknown task 'srot'; did you mean sort?"));
  CHECK(run_gradus(folder, "train sort --steps many").exit_code == 2);
  CHECK(run_gradus(folder, "train sort --steps").exit_code == 2);
}

TEST_CASE("a dry run shows where each setting is from", "[gradus][program]") {
  const ScratchFolder folder;
  const ProgramResult result =
      run_gradus(folder, "train sort --lr 0.5 --dry-run", "GRADUS_TRAIN_STEPS=3");
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.output, ContainsSubstring("lr                0.5             --lr"));
  CHECK_THAT(result.output,
             ContainsSubstring("steps             3               GRADUS_TRAIN_STEPS"));
  CHECK(!std::filesystem::exists(folder.path() / "run"));
}

TEST_CASE("a run leaves all that it promises", "[gradus][program]") {
  const ScratchFolder folder;
  const ProgramResult result = run_gradus(folder, kSmall);
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.output, ContainsSubstring("ln 9 = 2.197") && ContainsSubstring("seed 1") &&
                                ContainsSubstring("done 6 steps") && ContainsSubstring("next:"));
  CHECK_THAT(result.log, ContainsSubstring("train sort seed=1 steps=6"));
  CHECK(result.log.find('\r') == std::string::npos);  // no bar in a log

  const examples::RunFolder run(folder.path() / "run/sort-1");
  CHECK(run.settings().steps == 6);
  CHECK(lines_of(read_file(run.metrics())).size() == 6);
  const examples::TrainedModel trained = examples::load_trained_model(run.path());
  CHECK(trained.vocabulary.size() == 9);
  CHECK(!trained.model.is_training());

  // The same again goes elsewhere; into the same place only when it is said to.
  CHECK_THAT(run_gradus(folder, kSmall).output, ContainsSubstring("writes run/sort-1-2"));
  const ProgramResult refused = run_gradus(folder, kSmall + "--out run/sort-1");
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.log, ContainsSubstring("holds a run"));
  CHECK(run_gradus(folder, kSmall + "--out run/sort-1 --overwrite").exit_code == 0);
}

TEST_CASE("quiet leaves the log empty", "[gradus][program]") {
  const ScratchFolder folder;
  const ProgramResult result = run_gradus(folder, kSmall + "--quiet");
  CHECK(result.exit_code == 0);
  CHECK(result.log.empty());
}

TEST_CASE("with --json every line of the output is JSON", "[gradus][program]") {
  const ScratchFolder folder;
  const ProgramResult result = run_gradus(folder, kSmall + "--json");
  CHECK(result.exit_code == 0);
  const std::vector<std::string> lines = lines_of(result.output);
  REQUIRE(lines.size() == 8);
  CHECK(nlohmann::json::parse(lines.front())["event"] == "start");
  CHECK(nlohmann::json::parse(lines[2])["step"] == 2);
  CHECK(nlohmann::json::parse(lines[2]).contains("exact"));
  CHECK(nlohmann::json::parse(lines.back())["event"] == "end");
}

TEST_CASE("a run can be made longer", "[gradus][program]") {
  const ScratchFolder folder;
  run_gradus(folder, kSmall);
  const ProgramResult done = run_gradus(folder, "train --resume run/sort-1");
  CHECK(done.exit_code == 2);
  CHECK_THAT(done.log, ContainsSubstring("is done: 6 of 6 steps"));
  const ProgramResult other = run_gradus(folder, "train --resume run/sort-1 --lr 1");
  CHECK(other.exit_code == 2);
  CHECK_THAT(other.log, ContainsSubstring("--lr cannot be changed when a run is resumed"));
  const ProgramResult task = run_gradus(folder, "train copy --resume run/sort-1");
  CHECK(task.exit_code == 2);
  CHECK_THAT(task.log, ContainsSubstring("the task cannot be changed when a run is resumed\n"
                                         "  got    copy; the run has sort"));
  for (const char* senseless : {"--config a.toml", "--overwrite"}) {
    const std::string arguments = "train --resume run/sort-1 --steps 8 ";
    CHECK(run_gradus(folder, arguments + senseless).exit_code == 2);
  }
  const ProgramResult more = run_gradus(folder, "train sort --resume run/sort-1 --steps 8");
  CHECK(more.exit_code == 0);
  CHECK_THAT(more.output, ContainsSubstring("done 8 steps"));
  CHECK(lines_of(read_file(folder.path() / "run/sort-1/metrics.jsonl")).size() == 8);
}

TEST_CASE("a target that is missed, data that is missing: each its own code", "[gradus][program]") {
  const ScratchFolder folder;
  const ProgramResult missed = run_gradus(folder, kSmall + "--target 99");
  CHECK(missed.exit_code == 1);
  CHECK_THAT(missed.log, ContainsSubstring("below the target of 99 %"));
  CHECK(run_gradus(folder, "train text --file nowhere.txt").exit_code == 3);
  CHECK(run_gradus(folder, "train --resume nowhere").exit_code == 3);
  gradus::write_file(folder.path() / "short.txt", "too short");
  CHECK(run_gradus(folder, "train text --file short.txt").exit_code == 3);
}

TEST_CASE("a loss that is no number ends the run, and is explained", "[gradus][program]") {
  const ScratchFolder folder;
  const ProgramResult result = run_gradus(folder, kSmall + "--steps 50 --lr 1e20 --warmup 40");
  CHECK(result.exit_code == 4);
  CHECK_THAT(result.log, ContainsSubstring("at step") && ContainsSubstring("first") &&
                             ContainsSubstring("post_mortem.safetensors") &&
                             ContainsSubstring("a smaller --lr"));
  CHECK(std::filesystem::exists(folder.path() / "run/sort-1/post_mortem.safetensors"));
}
