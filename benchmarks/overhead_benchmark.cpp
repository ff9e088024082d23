// What an op costs beside its arithmetic: a hundred of them on 2x2, one after the other.
#include "measure.h"

namespace {

constexpr work::Index kOps = 100;

void add_rows(const std::string& name, work::TinyOp op) {
  for (const bool with_gradient : {false, true}) {
    measure::add_row(
        "overhead/100_" + name + "_2x2/" + (with_gradient ? "forward_backward" : "forward"),
        measure::timed(
            [=] {
              return work::tiny_chain_step({op, kOps, with_gradient});
            },
            "op/s", static_cast<double>(kOps)));
  }
}

bool add_all_rows() {
  add_rows("add", work::TinyOp::add);
  add_rows("multiply", work::TinyOp::multiply);
  add_rows("matmul", work::TinyOp::matmul);
  add_rows("softmax", work::TinyOp::softmax);
  return true;
}

[[maybe_unused]] const bool added = add_all_rows();

}  // namespace
