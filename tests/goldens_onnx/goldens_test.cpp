// What the ONNX project's own tests expect (../shared/goldens/onnx, which is read in place and may
// be absent): every case passes by Gradus' public ops, but for those left out by name.
#include <algorithm>
#include <exception>
#include <iostream>

#include "tests/goldens_onnx/onnx_case.h"
#include "tests/support/catch.h"
#include "tests/support/tensor_matchers.h"

#ifndef GRADUS_TEST_ONNX
#error "GRADUS_TEST_ONNX must name the folder goldens/onnx"
#endif

namespace gradus::testing {
namespace {

const OnnxOps& onnx_ops() {
  static const OnnxOps all = [] {
    OnnxOps ops;
    for (const auto family : {onnx_elementwise, onnx_reductions, onnx_shapes, onnx_indexing,
                              onnx_layers, onnx_training, onnx_attention}) {
      ops.merge(family());
    }
    return ops;
  }();
  return all;
}

/// The cases that are left out, and why.
const std::map<std::string, std::string>& skipped_cases() {
  static const std::string float16 = "float16 is not a dtype of Gradus";
  static const std::map<std::string, std::string> reasons = {
      {"swiglu_float16", float16},
      {"attention_24_qk_matmul_output_mode3_softmax_precision", float16},
      {"attention_4d_fp16", float16},
      {"max_float16", float16},
      {"linear_attention_fp16", float16},
      {"isinf_float16", float16},
      {"isnan_float16", float16},
      {"range_float16_type_positive_delta", float16},
  };
  return reasons;
}

/// Runs the case and compares every output that it asks for; what is wrong with them, or "".
std::string fault_of(const GoldenCase& golden) {
  const auto op = onnx_ops().find(golden.op);
  if (op == onnx_ops().end()) return "the operator " + golden.op + " is not in the table";
  try {
    const Outputs outputs = op->second(OnnxCase(golden));
    if (outputs.size() < golden.output_names.size()) return "too few outputs";
    std::string faults;
    for (std::size_t i = 0; i < golden.output_names.size(); ++i) {
      const std::string& name = golden.output_names[i];
      if (name.empty()) continue;
      const std::string fault = difference(outputs[i], golden.outputs.at(name), golden.tolerance);
      if (!fault.empty()) faults += name + ": " + fault + "\n";
    }
    return faults;
  } catch (const std::exception& error) {
    return std::string("threw: ") + error.what();
  }
}

struct Count {
  int passed = 0;
  int skipped = 0;
};

std::ostream& operator<<(std::ostream& out, const Count& count) {
  out << count.passed << " passed";
  return count.skipped == 0 ? out : out << " and " << count.skipped << " skipped";
}

}  // namespace

std::vector<GoldenCase> onnx_goldens() {
  if (std::filesystem::exists(GRADUS_TEST_ONNX)) return read_goldens(GRADUS_TEST_ONNX);
  std::cout << "goldens/onnx: skipped, for there is no " << GRADUS_TEST_ONNX << "\n";
  return {};
}

}  // namespace gradus::testing

using namespace gradus::testing;

TEST_CASE("goldens: Gradus' ops compute what ONNX's operators do") {
  const std::vector<GoldenCase> goldens = onnx_goldens();
  if (goldens.empty()) return;
  std::map<std::string, Count> families;
  Count total;
  for (const GoldenCase& golden : goldens) {
    INFO(golden.name << (golden.note.empty() ? "" : ": ") << golden.note);
    Count& family = families[golden.family];
    const bool skip = skipped_cases().contains(golden.name);
    // Only what cannot be read may be skipped, and all of that is skipped by name.
    CHECK(skip == !golden.unsupported.empty());
    if (skip) {
      ++family.skipped;
      ++total.skipped;
      continue;
    }
    const std::string fault = fault_of(golden);
    if (!fault.empty()) {
      FAIL_CHECK(fault);
      continue;
    }
    ++family.passed;
    ++total.passed;
  }
  std::cout << "goldens/onnx: " << total << " of " << goldens.size();
  for (const auto& [name, count] : families) std::cout << "; " << name << " " << count;
  std::cout << "\n";
  CHECK(total.passed == 384);
  CHECK(total.skipped == 8);
  CHECK(goldens.size() == 392);
}
