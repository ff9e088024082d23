// How time grows: a GPT training step as one of its sizes grows, attention in a long sequence, and
// what threads make of both.
#include "measure.h"

namespace {

using work::Attention;
using work::Gpt;
using work::Index;

void add_row(const std::string& name, Index size, const std::function<work::Step()>& make) {
  measure::add_row("scaling/" + name + "/" + std::to_string(size), measure::timed(make));
}

/// GPT nano with another value of one of its sizes.
void add_gpt_rows(const std::string& name, Index Gpt::*size, std::initializer_list<Index> values) {
  for (const Index value : values) {
    Gpt work = work::kNano;
    work.*size = value;
    add_row(name, value, [work] { return work::gpt_step(work); });
  }
}

void add_length_rows() {
  for (const Index length : {128, 256, 512, 1024, 2048, 4096}) {
    const Attention work{
        .batch = 1, .length = length, .width = 256, .heads = 4, .need_weights = false};
    add_row("attention_length", length, [work] { return work::attention_step(work); });
  }
}

void add_thread_rows(const std::string& name, const std::function<work::Step()>& make) {
  for (const int threads : {1, 2, 4}) {
    measure::add_row("scaling/threads/" + name + "/" + std::to_string(threads),
                     [=](benchmark::State& state) {
                       work::set_threads(threads);
                       measure::run(state, make());
                       work::set_threads(measure::threads());
                     });
  }
}

bool add_rows() {
  add_gpt_rows("length", &Gpt::block, {16, 64, 256, 512});
  add_gpt_rows("width", &Gpt::width, {32, 64, 128, 256, 512});
  add_gpt_rows("batch", &Gpt::batch, {1, 4, 16, 64});
  add_length_rows();
  add_thread_rows("gpt/toy", [] { return work::gpt_step(work::kToy); });
  add_thread_rows("gpt/nano", [] { return work::gpt_step(work::kNano); });
  add_thread_rows("attention/8x256x384x6", [] { return work::attention_step({8, 256, 384, 6}); });
  return true;
}

[[maybe_unused]] const bool added = add_rows();

}  // namespace
