// Strict loading (C115): everything that does not match in one error, with likely renames side by
// side, and nothing changed by it.
#include "framework/io/state_match.h"

#include <string>

#include "framework/core/error.h"
#include "framework/io/state_dict.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

std::string report(const StateList& targets, const StateDict& state,
                   const LoadOptions& options = {}) {
  return StateMatch(targets, state, options).report("file", "model");
}

/// Two blocks of a weight and a bias each, under this name.
StateDict blocks(const std::string& name) {
  StateDict state;
  for (const char* number : {"0", "1"}) {
    state[name + number + ".up.weight"] = ones({4, 4});
    state[name + number + ".up.bias"] = ones({4});
  }
  return state;
}

StateList in_order(const StateDict& state) { return {state.begin(), state.end()}; }

}  // namespace

TEST_CASE("renames take whole parts of a name, and the first that fits counts", "[state]") {
  const auto name = [](const std::string& before, const LoadOptions& options) {
    return renamed(before, options);
  };
  CHECK(name("blocks.0.w", {.rename = {{"blocks.", "layers."}}}) == "layers.0.w");
  CHECK(name("blocks.0.w", {.rename = {{"blocks", "layers"}}}) == "layers.0.w");
  CHECK(name("layer10.w", {.rename = {{"layer1", "x"}}}) == "layer10.w");
  CHECK(name("layer10.w", {.rename = {{"layer1.", "x"}}}) == "layer10.w");
  CHECK(name("layer1.w", {.rename = {{"layer1.", "x.y."}}}) == "x.y.w");
  CHECK(name("a.bias", {.rename = {{"a.bias", "a.b"}}}) == "a.b");
  CHECK(name("w", {.rename = {{"", "model."}}}) == "model.w");
  CHECK(name("model.w", {.rename = {{"model.", ""}}}) == "w");
  CHECK(name("a.w", {.rename = {{"b", "c"}, {"a", "b"}, {"", "d"}}}) == "b.w");
  CHECK(name("e.w", {.rename = {{"b", "c"}, {"a", "b"}, {"", "d"}}}) == "d.e.w");
  CHECK(name("a.w", {}) == "a.w");
}

TEST_CASE("C115: what lies under layer1 is not what lies under layer10", "[state][cases]") {
  const Tensor one = ones({1});
  const StateDict state{{"layer1", one}, {"layer1.w", one}, {"layer10.w", one}, {"w", one}};
  CHECK(state_under(state, "layer1").size() == 1);
  CHECK(state_under(state, "layer1").contains("w"));
  CHECK(state_under(state, "layer").empty());
  const StateDict moved = state_as("model", state);
  CHECK(moved.size() == 4);
  CHECK(moved.contains("model.layer10.w"));
  CHECK(state_under(moved, "model").size() == 4);
}

TEST_CASE("C115: names missing, unexpected and of other shapes come in one error",
          "[state][cases]") {
  const StateList model{{"a.w", zeros({2, 2})}, {"a.b", zeros({2})}};
  CHECK(report(model, {{"a.w", ones({2, 2})}, {"a.bias", ones({2})}}) ==
        ": 1 missing, 1 unexpected\n"
        "  missing       unexpected, same shape\n"
        "  a.b       <-  a.bias (2,) float32\n"
        "  hint   {.rename = {{\"a.bias\", \"a.b\"}}}");
  CHECK(report(model, {{"a.w", ones({2, 3})}, {"c", ones({3})}, {"d", zeros({1})}}) ==
        ": 1 missing, 2 unexpected, 1 of another shape\n"
        "  a.b   missing (2,) float32\n"
        "  c     unexpected (3,) float32\n"
        "  d     unexpected (1,) float32\n"
        "  a.w   file (2, 3), model (2, 2)");
  CHECK(report(model, {{"a.w", ones({2, 2}, float64)}, {"a.b", Tensor()}}) ==
        ": 1 missing, 1 of another dtype\n"
        "  a.b   missing (2,) float32\n"
        "  a.w   file float64, model float32");
}

TEST_CASE("C115: a prefix that would mend all names is given as a hint", "[state][cases]") {
  StateList model = in_order(blocks("layers."));
  model.emplace_back("head.weight", zeros({66, 64}));
  StateDict file = blocks("blocks.");
  file["head.weight"] = zeros({65, 64});
  CHECK(report(model, file) ==
        ": 4 missing, 4 unexpected, 1 of another shape\n"
        "  missing                  unexpected, same shape\n"
        "  layers.0.up.bias     <-  blocks.0.up.bias (4,) float32\n"
        "  layers.0.up.weight   <-  blocks.0.up.weight (4, 4) float32\n"
        "  layers.1.up.bias     <-  blocks.1.up.bias (4,) float32\n"
        "  layers.1.up.weight   <-  blocks.1.up.weight (4, 4) float32\n"
        "  head.weight          file (65, 64), model (66, 64)\n"
        "  hint   {.rename = {{\"blocks.\", \"layers.\"}}}");
  file["head.weight"] = zeros({66, 64});
  CHECK(StateMatch(model, file, {.rename = {{"blocks.", "layers."}}}).is_complete());

  const auto hint = [](const StateList& targets, const StateDict& state) {
    const std::string said = report(targets, state);
    const std::size_t at = said.find("\n  hint   ");
    return at == std::string::npos ? "" : said.substr(at + 10);
  };
  CHECK(hint(in_order(blocks("model.layers.")), blocks("layers.")) ==
        "{.rename = {{\"\", \"model.\"}}}");
  CHECK(hint(in_order(blocks("layers.")), blocks("model.layers.")) ==
        "{.rename = {{\"model.\", \"\"}}}");
  // Two prefixes at once.
  StateDict both = blocks("encoder.");
  both.merge(blocks("decoder."));
  StateDict other = blocks("enc.");
  other.merge(blocks("dec."));
  CHECK(hint(in_order(both), other) ==
        "{.rename = {{\"dec.\", \"decoder.\"}, {\"enc.\", \"encoder.\"}}}");
  // Not where it would leave names over, or there are many.
  StateDict more = blocks("blocks.");
  more["blocks.2.up.bias"] = zeros({3});
  CHECK(hint(in_order(blocks("layers.")), more) == "");
}

TEST_CASE("C115: of many lines the first are shown, and the others counted", "[state][cases]") {
  StateList model;
  for (int i = 10; i < 30; ++i) model.emplace_back("w" + std::to_string(i), zeros({1}));
  const std::string said = report(model, {{"x", zeros({2})}});
  CHECK(said.starts_with(": 20 missing, 1 unexpected\n  w10"));
  CHECK(said.find("w17") != std::string::npos);
  CHECK(said.find("w18") == std::string::npos);
  CHECK(said.find("\n  ... and 12 more\n  x ") != std::string::npos);
}

TEST_CASE("two names of a state must not become one", "[state]") {
  CHECK(report({{"a.w", zeros({1})}}, {{"a.w", ones({1})}, {"b.w", ones({1})}},
               {.rename = {{"b", "a"}}}) == ": 1 in conflict\n  a.w   both a.w and b.w become it");
}

TEST_CASE("a tensor with two names is filled under either, or both, if they agree", "[state]") {
  const Tensor tied = zeros({2});
  const StateList model{{"in", tied}, {"out", tied}};
  const auto filled = [&](const StateDict& state) {
    Tensor(tied).zero_();
    const StateMatch match(model, state);
    REQUIRE(match.is_complete());
    match.copy();
    return tied.to_vector<double>();
  };
  const std::vector<double> want{1, 2};
  CHECK(filled({{"in", tensor({1, 2})}}) == want);
  CHECK(filled({{"out", tensor({1, 2})}}) == want);
  CHECK(filled({{"in", tensor({1, 2})}, {"out", tensor({1, 2})}}) == want);
  CHECK(report(model, {}) == ": 1 missing\n  in   missing (2,) float32");
  CHECK(report(model, {{"in", tensor({1, 2})}, {"out", tensor({1, 3})}}) ==
        ": 1 in conflict\n  out   other numbers than in, the same parameter");
  CHECK(report(model, {{"in", tensor({1, 2})}, {"out", ones({3})}}) ==
        ": 1 of another shape\n  out   file (3,), model (2,)");
}

TEST_CASE("a match is filled in place, off the tape, from any strides", "[state]") {
  Tensor w = leaf({{1, 2}, {3, 4}});
  const StateDict state{{"w", stored_transposed(tensor({{5, 6}, {7, 8}}, float64))}};
  StateMatch({{"w", w}}, state).copy();
  CHECK_THAT(w, HasValues({{5, 6}, {7, 8}}, exactly));
  CHECK(w.is_leaf());
  CHECK(w.requires_grad());
}
