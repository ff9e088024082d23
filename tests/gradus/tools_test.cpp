// The commands plot, sample, gradcheck and doctor as their users run them: what they print, where,
// and how they end.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "framework/io/safetensors.h"
#include "tests/gradus/markup_checker.h"
#include "tests/gradus/program.h"
#include "tests/support/catch.h"

using namespace gradus::testing;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// A run that has hardly begun to learn, which will do.
void train(const ScratchFolder& folder) {
  const ProgramResult trained = run_gradus(
      folder,
      "train sort --length 4 --steps 4 --width 8 --heads 2 --layers 1 --batch 4 --out run -q");
  INFO(trained.log);
  REQUIRE(trained.exit_code == 0);
}

std::string contents(const std::filesystem::path& path) { return gradus::read_file(path); }

}  // namespace

TEST_CASE("plot draws a run beside its metrics, or where it is told", "[gradus][tools]") {
  const ScratchFolder folder;
  train(folder);
  const ProgramResult plain = run_gradus(folder, "plot run");
  CHECK(plain.exit_code == 0);
  CHECK_THAT(plain.output, ContainsSubstring("wrote run/curves.svg"));
  CHECK(markup_fault(contents(folder.path() / "run" / "curves.svg")) == "");

  CHECK(run_gradus(folder, "plot run run/metrics.jsonl --log-loss -o both.html").exit_code == 0);
  CHECK(markup_fault(contents(folder.path() / "both.html")) == "");

  std::ofstream(folder.path() / "run" / "metrics.jsonl", std::ios::app) << "{\"step\":5,\"lo";
  const ProgramResult torn = run_gradus(folder, "plot run");
  CHECK(torn.exit_code == 0);
  CHECK_THAT(torn.log, ContainsSubstring("is cut short: passed over"));
}

TEST_CASE("plot names a run after its folder, and other metrics after their file",
          "[gradus][tools]") {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder.path() / "run");
  for (const char* name : {"a.jsonl", "b.jsonl", "run/metrics.jsonl"}) {
    std::ofstream(folder.path() / name) << "{\"step\":1,\"loss\":2}\n";
  }
  const ProgramResult result = run_gradus(folder, "plot a.jsonl b.jsonl run run/metrics.jsonl");
  CHECK_THAT(result.output, StartsWith("a: step 1, loss 2\nb: step 1, loss 2\n"
                                       "run: step 1, loss 2\nrun: step 1, loss 2\n"));
}

TEST_CASE("plot refuses what it cannot draw", "[gradus][tools]") {
  const ScratchFolder folder;
  CHECK(run_gradus(folder, "plot nowhere").exit_code == 3);
  std::ofstream(folder.path() / "empty.jsonl");
  CHECK(run_gradus(folder, "plot empty.jsonl").exit_code == 3);
  const ProgramResult format = run_gradus(folder, "plot empty.jsonl -o picture.png");
  CHECK(format.exit_code == 2);
  CHECK_THAT(format.log, ContainsSubstring("picture.png is neither .svg nor .html"));
}

TEST_CASE("sample answers, goes on, and shows where it looks", "[gradus][tools]") {
  const ScratchFolder folder;
  train(folder);
  const ProgramResult answered = run_gradus(folder, "sample run --input CABB");
  CHECK(answered.exit_code == 0);
  CHECK(answered.output.size() == std::string("CABB -> AABB\n").size());

  const ProgramResult made_up = run_gradus(folder, "sample run");
  CHECK(std::count(made_up.output.begin(), made_up.output.end(), '\n') == 4);

  const std::string drawn =
      "sample run --prompt AB --tokens 5 --temperature 0.7 --top-k 3 --seed 3";
  CHECK(run_gradus(folder, drawn).output == run_gradus(folder, drawn).output);
  CHECK(run_gradus(folder, drawn).output.size() == 8);

  const ProgramResult shown =
      run_gradus(folder, "sample run --input CABB --show attention --ascii -o page.html");
  CHECK_THAT(shown.output, ContainsSubstring("layer 1, head 2"));
  CHECK_THAT(shown.output, ContainsSubstring("query ="));
  CHECK(markup_fault(contents(folder.path() / "page.html")) == "");

  const auto line = nlohmann::json::parse(
      run_gradus(folder, "sample run --input CABB --checkpoint best --json").output);
  CHECK(line["given"] == "CABB=");
}

TEST_CASE("sample refuses what the model cannot read", "[gradus][tools]") {
  const ScratchFolder folder;
  train(folder);
  const ProgramResult unknown = run_gradus(folder, "sample run --input CAxB");
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.log, ContainsSubstring("'x' at position 2"));
  for (const char* wrong :
       {"--input ''", "--prompt ''", "--input ABCDABCDABCD", "--input A --prompt B",
        "--output page.txt", "--temperature=-1", "--top-p 2"}) {
    INFO(wrong);
    CHECK(run_gradus(folder, std::string("sample run ") + wrong).exit_code == 2);
  }
  CHECK(run_gradus(folder, "sample nowhere --input A").exit_code == 3);
}

TEST_CASE("sample refuses a model whose description is not of its tensors", "[gradus][tools]") {
  const ScratchFolder folder;
  train(folder);
  const gradus::Safetensors whole =
      gradus::load_safetensors(folder.path() / "run/model.safetensors");
  const auto sampled = [&](const char* name, const std::string& from, const std::string& to) {
    gradus::Metadata metadata = whole.metadata;
    std::string& text = metadata.at(name);
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    gradus::save_safetensors(folder.path() / "other.safetensors", whole.tensors, metadata);
    const ProgramResult result = run_gradus(folder, "sample other.safetensors");
    INFO(result.log);
    CHECK(result.exit_code == 3);
    CHECK(result.output.empty());
    return result.log;
  };
  // Such a model would take 40 GB, and minutes to be drawn.
  CHECK_THAT(sampled("config", "layers = 1\nheads = 2\nwidth = 8", "layers = 48\nwidth = 4096"),
             ContainsSubstring("other.safetensors is too small for the model that it describes"));
  CHECK_THAT(sampled("block", whole.metadata.at("block"), "1000000"),
             ContainsSubstring("is too small"));
  CHECK_THAT(sampled("config", "\"sort\"", "\"srot\""),
             StartsWith("other.safetensors: config: train: unknown task 'srot'"));
  CHECK_THAT(sampled("config", "width = 8", "width = 7"), StartsWith("other.safetensors: config"));
  CHECK_THAT(sampled("config", "width = 8", "wide = 8"), StartsWith("other.safetensors: config"));
  CHECK_THAT(sampled("vocabulary", whole.metadata.at("vocabulary"), "[]"),
             ContainsSubstring("vocabulary: needs"));
}

TEST_CASE("gradcheck ends with 0 where all is right and with 1 where it is not",
          "[gradus][tools]") {
  const ScratchFolder folder;
  const ProgramResult right = run_gradus(
      folder, "gradcheck attention linear --heads 2 --dim 4 --len 3 --batch 1 --causal --order 2");
  CHECK(right.exit_code == 0);
  CHECK_THAT(right.output, ContainsSubstring("q_linear.weight"));
  CHECK_THAT(right.output, ContainsSubstring("grad_output"));

  const ProgramResult wrong = run_gradus(folder, "gradcheck broken --dim 4 --only key --verbose");
  CHECK(wrong.exit_code == 1);
  CHECK_THAT(wrong.output, ContainsSubstring("FAIL") && ContainsSubstring("key[") &&
                               !ContainsSubstring(" query   "));

  const ProgramResult lines = run_gradus(folder, "gradcheck exp broken --dim 4 --format json");
  std::istringstream stream(lines.output);
  std::string first, second;
  std::getline(stream, first);
  std::getline(stream, second);
  CHECK(nlohmann::json::parse(first)["passed"] == true);
  CHECK(nlohmann::json::parse(second)["passed"] == false);

  CHECK(markup_fault(run_gradus(folder, "gradcheck broken --format junit").output) == "");
  CHECK_THAT(run_gradus(folder, "gradcheck --list").output, ContainsSubstring("softmax"));
  CHECK(run_gradus(folder, "gradcheck").exit_code == 2);
  CHECK(run_gradus(folder, "gradcheck nothing").exit_code == 2);
  CHECK(run_gradus(folder, "gradcheck attention --heads 3").exit_code == 2);
}

TEST_CASE("the doctor reports in words and in JSON", "[gradus][tools]") {
  const ScratchFolder folder;
  const ProgramResult words = run_gradus(folder, "doctor");
  CHECK(words.exit_code == 0);
  CHECK_THAT(words.output, ContainsSubstring("GFLOP/s") && ContainsSubstring("all is well") &&
                               ContainsSubstring("export LC_ALL=C.UTF-8"));
  const ProgramResult slow = run_gradus(folder, "doctor --json", "GRADUS_ISA=baseline");
  std::istringstream stream(slow.output);
  for (std::string line; std::getline(stream, line);) {
    CHECK(nlohmann::json::parse(line)["verdict"] != "FAULT");
  }
}
