// Sampling: logits to probabilities, and draws with them.
#include "layers/sampling.h"

#include <cmath>
#include <vector>

#include "framework/core/error.h"
#include "framework/ops/reduce.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

TEST_CASE("sampling is a softmax where nothing else is asked for", "[sampling]") {
  const Tensor logits = tensor({2, 1, 0, -1});
  CHECK_THAT(sampling_probabilities(logits),
             HasValues({0.64391426, 0.23688282, 0.08714432, 0.03205860}));
  CHECK(sampling_probabilities(logits).dtype() == float32);
  CHECK(sampling_probabilities(logits.to(float64)).dtype() == float64);
  const Tensor large = tensor({1000, 999, -kInf}, float64);
  CHECK_THAT(sampling_probabilities(large), HasValues({0.7310585786, 0.2689414214, 0}));
  CHECK_THAT(sampling_probabilities(tensor({-7})), HasValues({1}, exactly));
}

TEST_CASE("sampling at a temperature", "[sampling]") {
  const Tensor logits = tensor({1, 2}, float64);
  const auto at = [&](double temperature) {
    return sampling_probabilities(logits, {.temperature = temperature});
  };
  CHECK_THAT(at(0.0), HasValues({0, 1}, exactly));
  CHECK_THAT(at(1e-8), HasValues({0, 1}, exactly));
  CHECK_THAT(at(5e-324), HasValues({0, 1}, exactly));
  CHECK_THAT(at(0.5), HasValues({0.1192029220, 0.8807970780}));
  CHECK_THAT(at(kInf), HasValues({0.5, 0.5}, exactly));
  CHECK_THAT(sampling_probabilities(tensor({1e308, -1e308, -kInf}, float64), {.temperature = kInf}),
             HasValues({0.5, 0.5, 0}, exactly));
  CHECK_THAT(sampling_probabilities(tensor({1, 3, 3, 2}), {.temperature = 0.0}),
             HasValues({0, 1, 0, 0}, exactly));  // the first of the likeliest
  CHECK(error_text<ValueError>([&] { at(-1.0); }) == "sampling: temperature -1 must be at least 0");
  CHECK(error_text<ValueError>([&] { at(kNaN); }) ==
        "sampling: temperature nan must be at least 0");
}

TEST_CASE("sampling from the top k", "[sampling]") {
  const Tensor logits = tensor({2, 1, 0, -1}, float64);
  const auto top = [&](Index k) { return sampling_probabilities(logits, {.top_k = k}); };
  CHECK_THAT(top(1), HasValues({1, 0, 0, 0}, exactly));
  CHECK_THAT(top(2), HasValues({0.7310585786, 0.2689414214, 0, 0}));
  for (const Index all : {0, 4, 10})
    CHECK_THAT(top(all), IsCloseTo(sampling_probabilities(logits)));
  // Of equal ones exactly k stay, the lowest ids first.
  CHECK_THAT(sampling_probabilities(tensor({1, 1, 1, 0}), {.top_k = 2}),
             HasValues({0.5, 0.5, 0, 0}, exactly));
  CHECK_THAT(sampling_probabilities(tensor({0, 1, 2, 1}), {.temperature = kInf, .top_k = 2}),
             HasValues({0, 0.5, 0.5, 0}, exactly));
  CHECK(error_text<ValueError>([&] { top(-1); }) ==
        "sampling: top_k -1 must be at least 0\n"
        "  hint   0 keeps all");
}

TEST_CASE("sampling from the top p", "[sampling]") {
  // Probabilities 0.5, 0.25, 0.125, 0.125, out of order.
  const Tensor logits =
      tensor({std::log(0.25), std::log(0.125), std::log(0.5), std::log(0.125)}, float64);
  const auto top = [&](double p) { return sampling_probabilities(logits, {.top_p = p}); };
  CHECK_THAT(top(0.0), HasValues({0, 0, 1, 0}));
  CHECK_THAT(top(0.4), HasValues({0, 0, 1, 0}));
  CHECK_THAT(top(0.6), HasValues({1.0 / 3, 0, 2.0 / 3, 0}));
  CHECK_THAT(top(0.8), HasValues({2.0 / 7, 1.0 / 7, 4.0 / 7, 0}));  // the first of the two equal
  CHECK_THAT(top(0.9), HasValues({0.25, 0.125, 0.5, 0.125}));
  CHECK_THAT(top(1.0), HasValues({0.25, 0.125, 0.5, 0.125}));
  // A mass that is reached exactly is reached.
  CHECK_THAT(sampling_probabilities(tensor({0, 0}), {.top_p = 0.5}), HasValues({1, 0}, exactly));
  // The mass counts after top_k: of 2/3 and 1/3 the first reaches 0.6 alone.
  CHECK_THAT(sampling_probabilities(logits, {.top_k = 2, .top_p = 0.6}), HasValues({0, 0, 1, 0}));
  for (const double p : {-0.1, 1.1, kNaN}) CHECK_THROWS_AS(top(p), ValueError);
}

TEST_CASE("sampling refuses logits that say nothing", "[sampling][errors]") {
  CHECK(error_text<ValueError>([] {
          sampling_probabilities(tensor({0, kNaN}));
        }) ==
        "sampling: logit 1 is nan\n"
        "  need   numbers, or -inf for a token that may not come");
  CHECK_THROWS_AS(sampling_probabilities(tensor({kInf, 0})), ValueError);
  CHECK(error_text<ValueError>([] {
          sampling_probabilities(tensor({-kInf, -kInf}));
        }) == "sampling: all 2 logits are -inf");
  CHECK(error_text<ShapeError>([] {
          sampling_probabilities(zeros({1, 4}));
        }) ==
        "sampling: needs the logits of one position\n"
        "  got    logits (1, 4) float32\n"
        "  need   (V,)");
  CHECK_THROWS_AS(sampling_probabilities(zeros({0})), ShapeError);
  CHECK_THROWS_AS(sampling_probabilities(zeros({3}, int64)), DTypeError);
}

TEST_CASE("sample draws tokens as often as they are likely", "[sampling]") {
  Generator generator(5);
  const Tensor logits = tensor({2, -kInf, 0, 1});
  const std::vector<double> want = sampling_probabilities(logits).to_vector<double>();
  std::vector<int> drawn(4);
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    ++drawn[static_cast<std::size_t>(sample(logits, {}, generator))];
  }
  CHECK(drawn[1] == 0);
  for (std::size_t id = 0; id < 4; ++id) {
    CHECK(drawn[id] == Catch::Approx(kDraws * want[id]).margin(4 * std::sqrt(kDraws * 0.25)));
  }
}

TEST_CASE("sample takes one number from its generator, whatever the options", "[sampling]") {
  const Tensor logits = tensor({2, 1, 0, -1});
  manual_seed(1);
  const std::string untouched = default_generator().state();
  Generator expected(3);
  double number = 0.0;
  expected.fill_uniform(std::span<double>(&number, 1));
  for (const SamplingOptions& options :
       {SamplingOptions{}, SamplingOptions{.temperature = 0.0}, SamplingOptions{.top_k = 1}}) {
    Generator generator(3);
    const Index id = sample(logits, options, generator);
    CHECK(generator == expected);
    if (options.temperature == 0 || options.top_k == 1) CHECK(id == 0);
  }
  CHECK(default_generator().state() == untouched);
}
