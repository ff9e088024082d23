// Training steps of three small GPTs.
#include "measure.h"

namespace {

void add_row(const std::string& name, const work::Gpt& work) {
  measure::add_row("gpt/" + name, measure::timed([work] { return work::gpt_step(work); }));
}

bool add_rows() {
  add_row("toy", work::kToy);
  add_row("nano", work::kNano);
  add_row("baby", work::kBaby);
  return true;
}

[[maybe_unused]] const bool added = add_rows();

}  // namespace
