// C105: a run that is stopped and goes on from its checkpoint is the run that was not, bit for bit:
// weights, moments, rate, order of the data and dropout.
#include <string>
#include <vector>

#include "framework/core/random.h"
#include "framework/io/checkpoint_folder.h"
#include "framework/ops/loss.h"
#include "framework/ops/random.h"
#include "framework/optim/adam.h"
#include "framework/optim/clip.h"
#include "framework/optim/schedule.h"
#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/transformer.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"
#include "tests/support/thread_count.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

class Copier : public Module {
 public:
  Embedding symbols{11, 16};
  TransformerEncoderLayer block{
      {.d_model = 16, .n_heads = 2, .dim_feedforward = 32, .dropout = 0.2}};
  Linear logits{16, 11};

  Tensor operator()(const Tensor& indices) const { return logits(block(symbols(indices)).output); }
  void visit(Visitor& v) override {
    v("symbols", symbols);
    v("block", block);
    v("logits", logits);
  }
  std::string description() const override { return "Copier"; }
};

/// Rows of a data set in an order that is drawn anew for every epoch.
class Sampler {
 public:
  explicit Sampler(std::uint64_t seed) : generator_(seed) { begin_epoch(); }

  Index next() {
    if (place_ == order_.size()) begin_epoch();
    return order_[place_++];
  }

  /// The stream as it was before the epoch, and how far the epoch got.
  Metadata state() const {
    return {{"sampler.stream", before_epoch_}, {"sampler.place", std::to_string(place_)}};
  }
  void set_state(const Metadata& state) {
    generator_.set_state(state.at("sampler.stream"));
    begin_epoch();
    place_ = std::stoul(state.at("sampler.place"));
  }

 private:
  void begin_epoch() {
    before_epoch_ = generator_.state();
    order_ = generator_.permutation(20);
    place_ = 0;
  }

  Generator generator_;
  std::string before_epoch_;
  std::vector<Index> order_;
  std::size_t place_ = 0;
};

/// Everything that a run consists of.
struct Run {
  Copier model;
  AdamW optimizer{decay_groups(model.parameters()), {.weight_decay = 0.1}};
  Sampler sampler{7};
  Tensor rows = [] {
    Generator generator(3);
    return randint(0, 11, {20, 8}, &generator);
  }();
  Index step = 0;

  void train(Index steps) {
    const Schedule factor = schedule::then(schedule::linear_warmup(4), 4, schedule::cosine(16));
    for (const Index end = step + steps; step < end; ++step) {
      optimizer.set_lr(0.01 * factor(step));
      const Tensor batch = rows.slice(0, 0, 4).clone();
      for (Index i = 0; i < 4; ++i) batch[i].copy_(rows[sampler.next()]);
      optimizer.zero_grad();
      cross_entropy(model(batch).view({32, 11}), batch.view({32})).backward();
      clip_grad_norm_(model.parameters(), 1.0);
      optimizer.step();
    }
  }

  Checkpoint checkpoint() const {
    Checkpoint all{.step = step,
                   .model = model.state_dict(),
                   .optimizer = optimizer.state_dict(),
                   .state = sampler.state()};
    all.state["generator"] = default_generator().state();
    return all;
  }
  void go_on_from(const Checkpoint& checkpoint) {
    step = checkpoint.step;
    model.load_state_dict(checkpoint.model);
    optimizer.load_state_dict(checkpoint.optimizer);
    sampler.set_state(checkpoint.state);
    default_generator().set_state(checkpoint.state.at("generator"));
  }
};

/// Two tensors of state that are not the same, bit for bit, or "".
std::string first_difference(const StateDict& got, const StateDict& want) {
  for (const auto& [name, tensor] : want) {
    const std::string found = difference(got.at(name), tensor, exactly);
    if (!found.empty()) return name + ": " + found;
  }
  return "";
}

}  // namespace

TEST_CASE("C105: a resumed run is the run that never stopped, bit for bit", "[training][cases]") {
  const ThreadCount threads(GENERATE(1, 2));
  const Index half = GENERATE(5, 7);  // at the end of an epoch, and within one
  const TemporaryFolder path;
  const CheckpointFolder folder(path.path());

  manual_seed(1);
  Run through;
  through.train(2 * half);
  const Checkpoint want = through.checkpoint();

  manual_seed(1);
  {
    Run stopped;
    stopped.train(half);
    folder.save(stopped.checkpoint());
  }
  manual_seed(99);  // a new process knows nothing of the old one
  Run resumed;
  const Checkpoint checkpoint = folder.latest();
  resumed.go_on_from(checkpoint);
  resumed.train(half);
  const Checkpoint got = resumed.checkpoint();
  CHECK(first_difference(got.model, want.model) == "");
  CHECK(first_difference(got.optimizer, want.optimizer) == "");
  CHECK(got.state == want.state);
  CHECK(got.step == want.step);

  // Each part is needed: without one the run is another.
  const auto without = [&](auto forget) {
    Run run;
    run.go_on_from(checkpoint);
    forget(run);
    run.train(half);
    return first_difference(run.model.state_dict(), want.model);
  };
  CHECK(without([](Run&) {}) == "");
  CHECK(without([](Run& run) { run.optimizer.load_state_dict(Run().optimizer.state_dict()); }) !=
        "");
  CHECK(without([](Run&) { manual_seed(99); }) != "");
  CHECK(without([](Run& run) { run.sampler = Sampler(7); }) != "");
  CHECK(without([](Run& run) { run.step = 0; }) != "");
}
