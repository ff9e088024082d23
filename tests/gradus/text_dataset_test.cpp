#include "examples/gradus/data/text_dataset.h"

#include <set>

#include "examples/gradus/model.h"
#include "examples/support/exit_code.h"
#include "framework/core/error.h"
#include "framework/io/file.h"
#include "tests/gradus/program.h"
#include "tests/support/catch.h"

using namespace gradus;
using namespace examples;

namespace {

/// "abcdefghij" again and again.
std::string letters(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('a' + i % 10);
  return text;
}

std::string message_of(const std::string& text, Index block) {
  try {
    const TextDataset data(text, block, 1);
  } catch (const Failure& failure) {
    CHECK(failure.code() == kData);
    return failure.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a text too short for a window is refused with both numbers", "[gradus][text]") {
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(message_of("", 8), ContainsSubstring("the file is empty"));
  CHECK_THAT(message_of("a", 8), ContainsSubstring("to train on has 0 characters"));
  CHECK_THAT(message_of(letters(8), 8), ContainsSubstring("to train on has 7 characters"));
  CHECK_THAT(message_of(letters(89), 8),
             ContainsSubstring("held out has 9 characters") || ContainsSubstring("no error"));
  CHECK_THAT(message_of(letters(79), 8),
             ContainsSubstring("no error") || ContainsSubstring("a window of block 8 needs 9"));
  CHECK(message_of(letters(90), 8) == "no error");
}

TEST_CASE("windows start everywhere that they fit, and nowhere else", "[gradus][text]") {
  // 18 characters to train on and 2 held out: with a block of 1 there are 17 windows.
  TextDataset data("abcdefghijklmnopqrst", 1, 1);
  CHECK(data.train_size() == 18);
  CHECK(data.held_out_size() == 2);
  std::set<Index> starts;
  for (int i = 0; i < 50; ++i) {
    const Batch batch = data.next_batch(10);
    for (Index row = 0; row < 10; ++row) {
      const auto first = static_cast<Index>(batch.inputs.at({row, 0}));
      CHECK(batch.targets.at({row, 0}) == static_cast<double>(first + 1));
      starts.insert(first);
    }
  }
  CHECK(starts.size() == 17);
  CHECK(*starts.rbegin() == 16);
}

TEST_CASE("a text's place can be gone on from, of the same text only", "[gradus][text]") {
  TextDataset data(letters(200), 8, 1);
  data.next_batch(3);
  TextDataset same(letters(200), 8, 2);
  same.set_state(data.state());
  CHECK(same.next_batch(4).inputs.to_vector<Index>() ==
        data.next_batch(4).inputs.to_vector<Index>());
  TextDataset longer(letters(210), 8, 1);
  CHECK_THROWS_AS(longer.set_state(data.state()), IoError);
}

TEST_CASE("a byte-order mark is dropped, line ends are kept", "[gradus][text]") {
  const testing::ScratchFolder folder;
  write_file(folder.path() / "a.txt", "\xEF\xBB\xBFone\r\ntwo");
  CHECK(read_text(folder.path() / "a.txt") == "one\r\ntwo");
  CHECK_THROWS_AS(read_text(folder.path() / "b.txt"), IoError);
}

TEST_CASE("looking at what is held out leaves model and generators alone", "[gradus][text]") {
  RunSettings settings = default_settings(kTextTask);
  settings.layers = 1;
  settings.width = 8;
  settings.heads = 2;
  settings.dropout = 0.5;
  const TextDataset data(letters(400), 8, 1);
  manual_seed(1);
  GPT model = make_model(settings, data.vocabulary().size(), 8);
  const std::string generator = default_generator().state();
  const std::string place = data.state();
  const double loss = data.evaluate(model, Look::full).loss;
  CHECK(loss == Catch::Approx(std::log(10.0)).margin(0.1));
  CHECK(data.evaluate(model, Look::full).loss == loss);   // no dropout
  CHECK(data.evaluate(model, Look::quick).loss == loss);  // all that there is
  CHECK(model.is_training());
  CHECK(default_generator().state() == generator);
  CHECK(data.state() == place);
}
