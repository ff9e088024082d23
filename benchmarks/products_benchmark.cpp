// Matrix products alone: square ones, batches of small ones, and those of a transformer's layers.
#include "measure.h"

namespace {

std::string row_name(const work::Product& work) {
  std::string name = "product/" + std::to_string(work.m) + "x" + std::to_string(work.n) + "x" +
                     std::to_string(work.k);
  if (work.batch > 1) name += "/batch_" + std::to_string(work.batch);
  return work.float64 ? name + "/float64" : name;
}

void add_row(const work::Product& work) {
  const auto flops = 2.0 * static_cast<double>(work.batch * work.m * work.n * work.k);
  measure::add_row(row_name(work),
                   measure::timed([work] { return work::product_step(work); }, "FLOP/s", flops));
}

bool add_rows() {
  for (const work::Index n : {16, 32, 64, 128, 256, 512, 1024}) {
    add_row({1, n, n, n});
  }
  add_row({.batch = 1, .m = 256, .n = 256, .k = 256, .float64 = true});
  add_row({.batch = 48, .m = 64, .n = 64, .k = 32, .b_transposed = true});    // nano: scores
  add_row({.batch = 1, .m = 768, .n = 512, .k = 128, .b_transposed = true});  // nano: feed forward
  add_row({.batch = 1, .m = 2048, .n = 1536, .k = 384, .b_transposed = true});  // baby
  return true;
}

[[maybe_unused]] const bool added = add_rows();

}  // namespace
