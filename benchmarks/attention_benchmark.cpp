// Multi-head attention, forward and backward, from a toy, where overhead is all, to sizes bound by
// matrix products and at last by memory.
#include "measure.h"

namespace {

constexpr work::Attention kSizes[] = {
    {2, 4, 8, 2},     {8, 16, 32, 4},   {32, 32, 64, 4},
    {12, 64, 128, 4}, {8, 256, 384, 6}, {4, 2048, 256, 4},
};

std::string row_name(const work::Attention& work) {
  std::string name = "attention";
  char separator = '/';
  for (const work::Index size : {work.batch, work.length, work.width, work.heads}) {
    name += separator + std::to_string(size);
    separator = 'x';
  }
  if (!work.need_weights) name += "/no_weights";
  if (work.dropout > 0) name += "/dropout";
  if (work.float64) name += "/float64";
  return name;
}

bool add_rows() {
  for (const bool need_weights : {true, false}) {
    for (const bool float64 : {false, true}) {
      for (const double dropout : {0.0, 0.1}) {
        for (work::Attention work : kSizes) {
          work.need_weights = need_weights;
          work.float64 = float64;
          work.dropout = dropout;
          measure::add_row(row_name(work),
                           measure::timed([work] { return work::attention_step(work); }));
        }
      }
    }
  }
  return true;
}

[[maybe_unused]] const bool added = add_rows();

}  // namespace
