// Ops that move memory: from one that fits the first cache to one that fits none.
#include "measure.h"

namespace {

using work::Index;
using work::Op;

/// `tensors`: how many of the size are read and written.
void add_rows(const std::string& name, Op op, int tensors) {
  for (const auto& [rows, columns] :
       {std::pair<Index, Index>{64, 32}, {768, 128}, {2048, 384}, {16384, 1024}}) {
    const auto bytes = static_cast<double>(rows * columns * tensors) * sizeof(float);
    measure::add_row(
        "op/" + name + "/" + std::to_string(rows) + "x" + std::to_string(columns),
        measure::timed(
            [=, rows = rows, columns = columns] { return work::op_step(op, rows, columns); }, "B/s",
            bytes));
  }
}

bool add_all_rows() {
  add_rows("add", Op::add, 3);
  add_rows("multiply", Op::multiply, 3);
  add_rows("exp", Op::exp, 2);
  add_rows("gelu", Op::gelu, 2);
  add_rows("softmax", Op::softmax, 2);
  add_rows("layer_norm", Op::layer_norm, 2);
  return true;
}

[[maybe_unused]] const bool added = add_all_rows();

}  // namespace
