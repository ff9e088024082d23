// A recurrent network, whose sequence is taken apart position by position: how time grows with its
// length.
#include "measure.h"

namespace {

bool add_rows() {
  for (const work::Index length : {16, 64, 256, 1024}) {
    const work::Recurrence work{.batch = 16, .length = length, .width = 64};
    measure::add_row("recurrence/" + std::to_string(length),
                     measure::timed([work] { return work::recurrence_step(work); }));
  }
  return true;
}

[[maybe_unused]] const bool added = add_rows();

}  // namespace
