// What holds for every op, checked for every row of the op table.
#include <set>
#include <string>

#include "framework/autograd/backward.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "tests/support/gradcheck.h"
#include "tests/support/op_table.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

using Inputs = std::vector<Tensor>;

/// Calls check(row) for every row; what one row throws does not keep the others from being checked.
template <class Check>
void for_each_row(Check check) {
  for (const OpRow& row : op_table()) {
    INFO(row.name << (row.how.empty() ? "" : ", ") << row.how);
    try {
      check(row);
    } catch (const std::exception& error) {
      FAIL_CHECK("threw: " << error.what());
    }
  }
}

Inputs map(const Inputs& inputs, Tensor (*change)(const Tensor&)) {
  Inputs changed;
  for (const Tensor& input : inputs) changed.push_back(change(input));
  return changed;
}

/// The same numbers as every second element of a wider tensor, from its second on.
Tensor stored_apart(const Tensor& x) {
  if (x.dim() == 0) return x;
  Shape wide = x.shape();
  wide[x.dim() - 1] = 2 * wide.back() + 1;
  const Tensor memory = full(wide, kNaN, x.dtype());
  Tensor part = memory.slice(-1, 1, std::nullopt, 2);
  return part.copy_(x);
}

Tensor first_slice(const Tensor& x) { return x.dim() == 0 ? x : x.slice(0, 0, 1).contiguous(); }

Tensor on_tape(const Tensor& x) { return x.clone().requires_grad_(); }

/// A cotangent for `output`, the same at every call.
Tensor cotangent(const Tensor& output) {
  return random_normal(output.shape(), 77).to(output.dtype());
}

/// The first gradients of a row, as tensors that can be differentiated again.
Inputs first_gradients(const Tensor& output, const Inputs& inputs) {
  return gradients(
      {output}, inputs,
      {.grad_outputs = {cotangent(output)}, .create_graph = true, .allow_unused = true});
}

/// The sum of squares of all gradients that depend on something, or an undefined tensor.
Tensor sum_of_squares(const Inputs& tensors) {
  Tensor total;
  for (const Tensor& tensor : tensors) {
    if (!tensor.requires_grad()) continue;
    const Tensor squares = (tensor * tensor).sum();
    total = total.defined() ? total + squares : squares;
  }
  return total;
}

}  // namespace

TEST_CASE("op table: gradients agree with finite differences, to second order") {
  for_each_row([](const OpRow& row) {
    if (row.smooth) CHECK_GRADIENTS(row.function, sample_inputs(row), {.order = 2});
  });
}

TEST_CASE("op table: transposed inputs") {
  for_each_row([](const OpRow& row) {
    const Inputs packed = sample_inputs(row);
    const Inputs inputs = map(packed, stored_transposed);
    CHECK_THAT(row.function(inputs), IsCloseTo(row.function(packed)));
    if (row.smooth) CHECK_GRADIENTS(row.function, inputs, {.order = 2});
  });
}

TEST_CASE("op table: inputs cut out of something larger") {
  for_each_row([](const OpRow& row) {
    const Inputs packed = sample_inputs(row);
    const Inputs inputs = map(packed, stored_apart);
    CHECK_THAT(row.function(inputs), IsCloseTo(row.function(packed)));
    if (row.smooth) CHECK_GRADIENTS(row.function, inputs, {.order = 2});
  });
}

TEST_CASE("op table: expanded inputs") {
  for_each_row([](const OpRow& row) {
    const Inputs slices = map(sample_inputs(row), first_slice);
    const auto expanded = [&row](const Inputs& inputs) {
      Inputs wide;
      for (std::size_t i = 0; i < inputs.size(); ++i)
        wide.push_back(inputs[i].expand(row.inputs[i].shape));
      return wide;
    };
    CHECK_THAT(row.function(expanded(slices)),
               IsCloseTo(row.function(map(expanded(slices), on_tape))));
    if (!row.smooth || !row.expandable) return;
    const auto function = [&](const Inputs& inputs) { return row.function(expanded(inputs)); };
    CHECK_GRADIENTS(function, slices, {.order = 2});
  });
}

TEST_CASE("op table: inputs without elements") {
  for_each_row([](const OpRow& row) {
    if (row.empty_inputs.empty()) return;
    const Inputs inputs = map(empty_inputs(row), on_tape);
    const Tensor output = row.function(inputs);
    CHECK(output.shape() == row.empty_result);
    CHECK(output.dtype() == float64);
    const Inputs first = first_gradients(output, inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) CHECK(first[i].shape() == inputs[i].shape());
    const Tensor total = sum_of_squares(first);
    if (!total.defined()) return;
    const Inputs second = gradients({total}, inputs, {.allow_unused = true});
    for (std::size_t i = 0; i < inputs.size(); ++i) CHECK(second[i].shape() == inputs[i].shape());
  });
}

TEST_CASE("op table: float32 agrees with float64") {
  for_each_row([](const OpRow& row) {
    const auto as_float32 = [](const Tensor& x) { return x.to(float32); };
    const auto back = [](const Tensor& x) { return x.to(float64); };
    const Inputs singles = map(map(sample_inputs(row), as_float32), on_tape);
    const Inputs doubles = map(map(singles, [](const Tensor& x) { return x.detach(); }), back);
    const Inputs wide = map(doubles, on_tape);
    const Tensor got = row.function(singles);
    const Tensor want = row.function(wide);
    CHECK(got.dtype() == float32);
    CHECK_THAT(got.to(float64), IsCloseTo(want.detach(), Tolerance{1e-5, 1e-6}));
    const Inputs got_gradients = first_gradients(got, singles);
    const Inputs want_gradients = first_gradients(want, wide);
    for (std::size_t i = 0; i < singles.size(); ++i) {
      CHECK_THAT(got_gradients[i].detach().to(float64),
                 IsCloseTo(want_gradients[i].detach(), Tolerance{1e-5, 1e-6}));
    }
  });
}

TEST_CASE("op table: two runs give the same bits") {
  for_each_row([](const OpRow& row) {
    const auto run = [&row] {
      const Inputs inputs = map(sample_inputs(row), on_tape);
      Inputs results = first_gradients(row.function(inputs), inputs);
      results.push_back(row.function(inputs));
      return results;
    };
    const Inputs once = run();
    const Inputs again = run();
    for (std::size_t i = 0; i < once.size(); ++i) CHECK_THAT(again[i], IsCloseTo(once[i], exactly));
  });
}

TEST_CASE("op table: inputs are left as they were") {
  for_each_row([](const OpRow& row) {
    const Inputs inputs = map(sample_inputs(row), on_tape);
    std::vector<std::uint32_t> versions;
    for (const Tensor& input : inputs) versions.push_back(input.impl().storage->version());
    const Tensor total = sum_of_squares(first_gradients(row.function(inputs), inputs));
    if (total.defined()) total.backward();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      CHECK(inputs[i].impl().storage->version() == versions[i]);
      CHECK_THAT(inputs[i].detach(), IsCloseTo(sample_inputs(row)[i], exactly));
    }
  });
}

// An op that no row records has gradients that nobody has checked.
TEST_CASE("op table: every op that can appear on a tape has its row") {
  std::set<std::string> forward;
  std::set<std::string> anywhere;
  for_each_row([&](const OpRow& row) {
    const Inputs inputs = map(sample_inputs(row), on_tape);
    const Tensor output = row.function(inputs);
    collect_steps(output, forward);
    const Tensor total = sum_of_squares(first_gradients(output, inputs));
    if (!total.defined()) return;
    collect_steps(total, anywhere);
    for (const Tensor& second :
         gradients({total}, inputs, {.create_graph = true, .allow_unused = true})) {
      collect_steps(second, anywhere);
    }
  });
  anywhere.insert(forward.begin(), forward.end());

  const std::set<std::string> recorded = recorded_names();
  CHECK(recorded.size() >= 35);  // the sources were found
  for (const std::string& name : recorded) {
    INFO("framework records a step \"" << name
                                       << "\": give it a row in tests/support/op_table.cpp");
    const bool is_backward = name.ends_with("_backward");  // it may be reached by gradients alone
    CHECK((is_backward ? anywhere : forward).contains(name));
  }
  for (const std::string& name : anywhere) {
    INFO("a step \"" << name << "\" is on a tape, but no source has record(\"" << name << "\"");
    CHECK(recorded.contains(name));
  }
}
