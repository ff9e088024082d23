// Checkpoints: one file with everything in it, and a folder that keeps the last and the best.
#include "framework/io/checkpoint.h"

#include <filesystem>
#include <string>
#include <vector>

#include "framework/core/error.h"
#include "framework/io/checkpoint_folder.h"
#include "framework/io/file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace fs = std::filesystem;

namespace {

Checkpoint checkpoint_at(Index step) {
  return {.step = step,
          .model = {{"w", full({2}, static_cast<double>(step))}},
          .optimizer = {{"0.step", full({}, static_cast<double>(step), int64)}},
          .state = {{"generator", Generator(static_cast<std::uint64_t>(step)).state()}}};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(folder)) {
    names.push_back(file.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Index> steps_of(const CheckpointFolder& folder) {
  std::vector<Index> steps;
  for (const SavedCheckpoint& saved : folder.list()) steps.push_back(saved.step);
  return steps;
}

}  // namespace

TEST_CASE("a checkpoint comes back with everything in it", "[checkpoint]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "c.safetensors";
  Checkpoint saved = checkpoint_at(812);
  saved.model["step"] = tensor({1.5}, float64);  // no name is taken
  saved.state["step"] = "text";
  saved.state["score"] = "";
  save_checkpoint(path, saved, 0.1);
  const Checkpoint loaded = load_checkpoint(path);
  CHECK(loaded.step == 812);
  CHECK(loaded.state == saved.state);
  REQUIRE(loaded.model.size() == 2);
  CHECK_THAT(loaded.model.at("w"), HasValues({812, 812}, exactly));
  CHECK_THAT(loaded.model.at("step"), HasValues({1.5}, exactly));
  REQUIRE(loaded.optimizer.size() == 1);
  CHECK_THAT(loaded.optimizer.at("0.step"), IsCloseTo(tensor(812, int64), exactly));
  CHECK(score_of_checkpoint(path) == 0.1);
  save_checkpoint(path, {});
  CHECK(load_checkpoint(path).step == 0);
  CHECK(load_checkpoint(path).model.empty());
  CHECK_FALSE(score_of_checkpoint(path).has_value());

  const Safetensors file = [&] {
    save_checkpoint(path, checkpoint_at(7), -2.5e-300);
    return load_safetensors(path);
  }();
  CHECK(file.tensors.contains("model.w"));
  CHECK(file.tensors.contains("optimizer.0.step"));
  CHECK(file.metadata.at("gradus") == "checkpoint 1");
  CHECK(file.metadata.at("step") == "7");
  CHECK(file.metadata.at("score") == "-2.5e-300");
  CHECK(file.metadata.at("state.generator") == Generator(7).state());
}

TEST_CASE("a file that is no checkpoint is refused", "[checkpoint][errors]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "c.safetensors";
  const auto refused = [&](const StateDict& tensors, const Metadata& metadata) {
    save_safetensors(path, tensors, metadata);
    return error_text<IoError>([&] { load_checkpoint(path); });
  };
  const std::string lead = "load: " + path.string() + " is ";
  CHECK(refused({{"w", ones({1})}}, {{"format", "pt"}}) ==
        lead +
            "no checkpoint\n  got    a safetensors file of another kind\n"
            "  need   gradus checkpoint 1");
  CHECK(refused({}, {{"gradus", "checkpoint 2"}, {"step", "1"}}) ==
        lead + "no checkpoint\n  got    gradus checkpoint 2\n  need   gradus checkpoint 1");
  CHECK(refused({}, {{"gradus", "checkpoint 1"}, {"step", "1.5"}}) ==
        lead + "damaged: its step is '1.5'\n  need   a number");
  CHECK(refused({}, {{"gradus", "checkpoint 1"}, {"step", "-1"}}) ==
        lead + "damaged: its step is -1");
  CHECK(refused({{"w", ones({1})}}, {{"gradus", "checkpoint 1"}, {"step", "1"}}) ==
        lead + "damaged: a tensor is neither the model's nor the optimiser's");
  CHECK(error_text<ValueError>([&] { save_checkpoint(path, {.step = -1}); }) ==
        "save: step -1 is below 0");
}

TEST_CASE("a folder keeps the last checkpoints and the best", "[checkpoint]") {
  const TemporaryFolder parent;
  const fs::path path = parent / "runs" / "first";
  const CheckpointFolder folder(path, {.keep_last = 2, .keep_best = 1});
  CHECK(folder.empty());
  CHECK(folder.list().empty());
  const double scores[] = {0.5, 0.9, 0.7, 0.9, 0.1};
  for (Index step = 1; step <= 5; ++step) {
    CHECK(folder.save(checkpoint_at(step), scores[step - 1]) ==
          path / ("step_00000" + std::to_string(step) + ".safetensors"));
  }
  CHECK_FALSE(folder.empty());
  CHECK(steps_of(folder) == std::vector<Index>{2, 4, 5});  // the earlier of two as good
  CHECK(names_in(path) == std::vector<std::string>{"step_000002.safetensors",
                                                   "step_000004.safetensors",
                                                   "step_000005.safetensors"});
  CHECK(folder.latest().step == 5);
  CHECK(folder.best().step == 2);
  CHECK(folder.list()[0].score == 0.9);
  // Past a million the digits grow, and the order is still that of the numbers.
  folder.save(checkpoint_at(1'234'567));
  CHECK(folder.latest().step == 1'234'567);
  CHECK(steps_of(folder) == std::vector<Index>{2, 5, 1'234'567});
  CHECK_FALSE(folder.list().back().score.has_value());
}

TEST_CASE("a loss is better where it is smaller", "[checkpoint]") {
  const TemporaryFolder path;
  const CheckpointFolder folder(path.path(), {.keep_last = 1, .smaller_is_better = true});
  const double losses[] = {2.0, 0.5, 1.0};
  for (Index step = 1; step <= 3; ++step) folder.save(checkpoint_at(step), losses[step - 1]);
  CHECK(folder.best().step == 2);
  CHECK(folder.latest().step == 3);
}

TEST_CASE("C127: a checkpoint with a score of NaN is never the best", "[checkpoint][cases]") {
  const TemporaryFolder path;
  for (const bool smaller : {false, true}) {
    const CheckpointFolder folder(path.path(), {.keep_last = 1, .smaller_is_better = smaller});
    folder.save(checkpoint_at(1), kNaN);
    CHECK(error_text<IoError>([&] { folder.best(); }) ==
          "load: " + path.path().string() + " holds no checkpoint with a score");
    folder.save(checkpoint_at(2), 0.5);
    folder.save(checkpoint_at(3), kNaN);
    CHECK(folder.best().step == 2);
    CHECK(folder.latest().step == 3);
    CHECK(std::isnan(*folder.list().back().score));
    folder.save(checkpoint_at(4), kInf);
    CHECK(folder.best().step == (smaller ? 2 : 4));
    fs::remove_all(path.path());
  }
}

TEST_CASE("saving an earlier step again keeps what was saved", "[checkpoint]") {
  const TemporaryFolder path;
  const CheckpointFolder folder(path.path(), {.keep_last = 1, .keep_best = 0});
  folder.save(checkpoint_at(5));
  folder.save(checkpoint_at(3));  // a run that began anew
  CHECK(steps_of(folder) == std::vector<Index>{3, 5});
  Checkpoint other = checkpoint_at(5);
  other.state["other"] = "yes";
  folder.save(other);
  CHECK(steps_of(folder) == std::vector<Index>{5});
  CHECK(folder.latest().state.contains("other"));
}

TEST_CASE("what killed programs left is ignored, and swept by the next save", "[checkpoint]") {
  const TemporaryFolder path;
  const CheckpointFolder folder(path.path());
  folder.save(checkpoint_at(1));
  const std::vector<std::string> others{
      "config.json",        "metrics.jsonl.tmp",  "step_000009.safetensors.tmp.txt",
      "step_9.safetensors", "step_x.safetensors", "step_000009.safetensors~"};
  for (const std::string& name : others) write_file(path / name, "not ours");
  write_file(path / "step_000009.safetensors.123-0.tmp", "half a checkpo");
  CHECK(folder.latest().step == 1);
  CHECK(steps_of(folder) == std::vector<Index>{1});
  folder.save(checkpoint_at(2));
  CHECK_FALSE(fs::exists(path / "step_000009.safetensors.123-0.tmp"));
  for (const std::string& name : others) CHECK(fs::exists(path / name));
}

TEST_CASE("a damaged latest checkpoint is refused, and the previous whole one named",
          "[checkpoint][errors]") {
  const TemporaryFolder path;
  const CheckpointFolder folder(path.path(), {.keep_last = 4});
  std::vector<fs::path> saved;
  for (Index step = 1; step <= 3; ++step) saved.push_back(folder.save(checkpoint_at(step)));
  const auto cut = [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) - 5); };
  cut(saved[2]);
  CHECK(error_text<IoError>([&] { folder.latest(); }) ==
        "load: " + saved[2].string() + " is cut short\n  got    " +
            std::to_string(fs::file_size(saved[2])) + " bytes; its header promises " +
            std::to_string(fs::file_size(saved[2]) + 5) +
            "; missing: model.w\n  hint   the previous checkpoint is whole: " + saved[1].string());
  CHECK(steps_of(folder) == std::vector<Index>{1, 2});
  cut(saved[1]);
  CHECK(error_text<IoError>([&] {
          folder.latest();
        }).ends_with("the previous checkpoint is whole: " + saved[0].string()));
  cut(saved[0]);
  CHECK(error_text<IoError>([&] { folder.latest(); }).ends_with("missing: model.w"));
  folder.save(checkpoint_at(4));
  CHECK(folder.latest().step == 4);
  CHECK(fs::exists(saved[2]));  // what cannot be read is not ours to remove
}

TEST_CASE("a folder of checkpoints says what it lacks", "[checkpoint][errors]") {
  const TemporaryFolder path;
  const std::string name = path.path().string();
  const CheckpointFolder folder(path.path());
  CHECK(error_text<IoError>([&] { folder.latest(); }) == "load: " + name + " holds no checkpoint");
  CHECK(error_text<IoError>([&] { folder.best(); }) ==
        "load: " + name + " holds no checkpoint with a score");
  write_file(path / "file", "");
  const CheckpointFolder no_folder(path / "file");
  CHECK(error_text<IoError>([&] { no_folder.list(); }) ==
        "load: cannot read " + name + "/file: Not a directory");
  CHECK(error_text<IoError>([&] { no_folder.save({}); }) ==
        "save: cannot make the folder " + name + "/file: Not a directory");
  CHECK(error_text<ValueError>([&] { CheckpointFolder(path.path(), {.keep_last = 0}); }) ==
        "CheckpointFolder: keep_last 0 and keep_best 1 must be at least 1 and 0");
}
