// A program that is killed while it saves, at any moment, leaves a checkpoint that loads. 20 kills;
// GRADUS_TEST_KILLS=200 makes it as many.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "framework/core/random.h"
#include "framework/io/checkpoint_folder.h"
#include "framework/ops/compare.h"
#include "tests/support/catch.h"
#include "tests/support/child.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// Every number in it is its step: of two checkpoints no mixture can pass for one.
Checkpoint filled(Index step) {
  const auto number = static_cast<double>(step);
  return {.step = step,
          .model = {{"a", full({200, 200}, number)}, {"b", full({3, 40'000}, number)}},
          .optimizer = {{"0.step", full({}, number, int64)}},
          .state = {{"text", std::string(10'000, static_cast<char>('a' + step % 26))}}};
}

bool is_filled(const Checkpoint& checkpoint) {
  const Checkpoint want = filled(checkpoint.step);
  return allclose(checkpoint.model.at("a"), want.model.at("a"), 0, 0) &&
         allclose(checkpoint.model.at("b"), want.model.at("b"), 0, 0) &&
         checkpoint.optimizer.at("0.step").item() == static_cast<double>(checkpoint.step) &&
         checkpoint.state == want.state;
}

int number_of_kills() {
  const char* const wanted = std::getenv("GRADUS_TEST_KILLS");
  return wanted ? std::atoi(wanted) : 20;
}

void wait_for_step(const CheckpointFolder& folder, Index step) {
  for (int i = 0; i < 60'000; ++i) {
    if (!folder.empty() && folder.latest().step >= step) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

TEST_CASE("child: saves one checkpoint after the other", "[.killed_writer]") {
  if (!is_child()) return;
  const CheckpointFolder folder(std::getenv("GRADUS_TEST_FOLDER"));
  const Index first = folder.empty() ? 0 : folder.latest().step;
  for (Index step = first + 1;; ++step) folder.save(filled(step), static_cast<double>(step % 7));
}

TEST_CASE("a checkpoint is there and whole, whenever its writer is killed", "[checkpoint]") {
  const TemporaryFolder path;
  const CheckpointFolder folder(path.path());
  Generator generator(1);
  Index last = 0;
  for (int kill = 0; kill < number_of_kills(); ++kill) {
    INFO("kill " << kill << ", after step " << last);
    RunningChild child("GRADUS_TEST_FOLDER=" + path.path().string(), "[.killed_writer]");
    wait_for_step(folder, last + 1);
    std::this_thread::sleep_for(std::chrono::microseconds(generator.randint(0, 20'000)));
    REQUIRE(child.kill());
    const Checkpoint latest = folder.latest();
    CHECK(latest.step > last);
    CHECK(is_filled(latest));
    CHECK(is_filled(folder.best()));
    last = latest.step;
  }
  folder.save(filled(last + 1));
  CHECK(folder.list().size() <= 3);  // two last and the best
  for (const auto& file : std::filesystem::directory_iterator(path.path())) {
    CHECK(file.path().extension() == ".safetensors");
  }
}
