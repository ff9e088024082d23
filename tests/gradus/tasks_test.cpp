#include "examples/gradus/tasks/task.h"

#include <algorithm>
#include <set>

#include "examples/gradus/data/sample_dataset.h"
#include "examples/support/exit_code.h"
#include "framework/core/error.h"
#include "tests/support/catch.h"

using namespace gradus;
using namespace examples;

namespace {

Sample drawn(const std::string& name, const TaskSize& size, Index number, std::uint64_t seed) {
  Generator generator(seed);
  return find_task(name)->draw(size, number, generator);
}

RunSettings settings_for(const Task& task) {
  RunSettings settings = default_settings(task.name);
  settings.train_samples = 2000;
  settings.held_out = 200;
  return settings;
}

}  // namespace

TEST_CASE("every task draws samples of one length, from its alphabet", "[gradus][tasks]") {
  for (const Task& task : all_tasks()) {
    INFO(task.name);
    const TaskSize size{task.length.usual, task.symbols.usual};
    const std::string alphabet = task.alphabet(size);
    Generator generator(3);
    const Sample first = task.draw(size, 0, generator);
    for (Index number = 1; number < 50; ++number) {
      const Sample sample = task.draw(size, number, generator);
      CHECK(sample.question.size() == first.question.size());
      CHECK(sample.answer.size() == first.answer.size());
      CHECK((sample.question + sample.answer).find_first_not_of(alphabet) == std::string::npos);
    }
    CHECK(alphabet.find(kEquals) == std::string::npos);
  }
}

TEST_CASE("answers are right", "[gradus][tasks]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Sample copy = drawn("copy", {12, 10}, 0, seed);
    CHECK(copy.answer == copy.question);

    const Sample reverse = drawn("reverse", {12, 10}, 0, seed);
    CHECK(std::string(reverse.answer.rbegin(), reverse.answer.rend()) == reverse.question);

    const Sample sort = drawn("sort", {6, 8}, 0, seed);
    CHECK(std::is_sorted(sort.answer.begin(), sort.answer.end()));
    CHECK(std::is_permutation(sort.answer.begin(), sort.answer.end(), sort.question.begin()));

    const Sample add = drawn("add", {3, 0}, 0, seed);
    const std::string sum(add.answer.rbegin(), add.answer.rend());
    CHECK(std::stoi(add.question.substr(0, 3)) + std::stoi(add.question.substr(4)) ==
          std::stoi(sum));

    const Sample recall = drawn("recall", {4, 8}, 0, seed);
    const std::string pairs = recall.question.substr(0, 8);
    CHECK(recall.question[8] == '?');
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(recall.answer[2 * i] == recall.question[9 + i]);
      CHECK(pairs.find(recall.answer.substr(2 * i, 2)) % 2 == 0);
    }
  }
}

TEST_CASE("half of the parentheses are balanced", "[gradus][tasks]") {
  for (Index number = 0; number < 20; ++number) {
    const Sample sample = drawn("parentheses", {20, 0}, number, 5);
    int open = 0;
    int least = 0;
    for (const char c : sample.question) {
      open += c == '(' ? 1 : -1;
      least = std::min(least, open);
    }
    CHECK(open == 0);
    CHECK(sample.answer == (least < 0 ? "n" : "y"));
    CHECK(sample.answer == (number % 2 == 0 ? "y" : "n"));
  }
}

TEST_CASE("no sample is trained on and held out at once", "[gradus][tasks]") {
  for (const Task& task : all_tasks()) {
    INFO(task.name);
    const SampleSplit split = draw_samples(task, settings_for(task));
    std::set<std::string> questions;
    for (const Sample& sample : split.train) questions.insert(sample.question);
    CHECK(questions.size() == split.train.size());
    for (const Sample& sample : split.held_out) CHECK(questions.insert(sample.question).second);
    CHECK(split.train.size() == 2000);
    CHECK(split.held_out.size() == 200);
  }
}

TEST_CASE("where few samples exist they are split in the same proportion", "[gradus][tasks]") {
  RunSettings settings = settings_for(*find_task("copy"));
  settings.length = 2;
  settings.symbols = 4;
  settings.train_samples = 90;
  settings.held_out = 30;
  const SampleSplit split = draw_samples(*find_task("copy"), settings);
  CHECK(split.train.size() == 12);
  CHECK(split.held_out.size() == 4);

  settings.length = 1;
  settings.symbols = 2;
  CHECK_THROWS_AS(draw_samples(*find_task("copy"), settings), Failure);
}

TEST_CASE("the same seed draws the same samples", "[gradus][tasks]") {
  const Task& task = *find_task("recall");
  const SampleSplit a = draw_samples(task, settings_for(task));
  const SampleSplit b = draw_samples(task, settings_for(task));
  REQUIRE(a.train.size() == b.train.size());
  CHECK(a.train.back().question == b.train.back().question);
  RunSettings other = settings_for(task);
  other.seed = 2;
  CHECK(draw_samples(task, other).train.back().question != a.train.back().question);
}

TEST_CASE("only the answer has targets", "[gradus][tasks]") {
  RunSettings settings = settings_for(*find_task("sort"));
  settings.length = 3;
  SampleDataset data(*find_task("sort"), settings);
  const Sample sample{"CAB", "ABC"};
  const Batch batch = data.batch_of({&sample});
  const Vocabulary& vocabulary = data.vocabulary();
  CHECK(batch.inputs[0].to_vector<Index>() == vocabulary.encode("CAB=AB"));
  std::vector<Index> targets(3, kNoTarget);
  for (const Index token : vocabulary.encode("ABC")) targets.push_back(token);
  CHECK(batch.targets[0].to_vector<Index>() == targets);
  CHECK(data.block_size() == 6);
}

TEST_CASE("an epoch has every number once, and can be gone on with", "[gradus][tasks]") {
  EpochSampler sampler(5, 7);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::set<std::int64_t> seen;
    for (int i = 0; i < 5; ++i) seen.insert(sampler.next());
    CHECK(seen.size() == 5);
  }
  sampler.next();
  EpochSampler other(5, 8);
  other.set_state(sampler.state());
  for (int i = 0; i < 12; ++i) CHECK(other.next() == sampler.next());
  CHECK_THROWS_AS(other.set_state("6 nonsense"), IoError);
  CHECK_THROWS_AS(other.set_state(""), IoError);
}
