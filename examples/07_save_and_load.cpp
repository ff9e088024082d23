// Lesson 7: files. The weights of a model travel as a safetensors file, under the names that
// PyTorch gives them; a checkpoint holds all that a training run needs to go on as if it had never
// stopped, to the last bit.
//
//     before: 06_attention_by_hand    next: 08_character_model
#include <gradus/gradus.h>

#include <filesystem>
#include <iostream>
#include <random>

#include "examples/support/exit_code.h"

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

namespace files = std::filesystem;

/// A folder that is gone when the lesson is over.
class ScratchFolder {
 public:
  ScratchFolder() { files::create_directories(path_); }
  ~ScratchFolder() { files::remove_all(path_); }
  files::path operator/(const char* name) const { return path_ / name; }

 private:
  files::path path_ = files::temp_directory_path() / text("gradus_lesson_", std::random_device()());
};

Sequential new_model() { return Sequential{Linear(2, 16), Tanh(), Linear(16, 1)}; }

/// Learns x0 * x1 from random points.
class Run {
 public:
  Run() : adam_(model.parameters(), {.lr = 1e-2}) {}

  Sequential model = new_model();

  /// Trains for some steps, and gives the last loss.
  double train(Index steps) {
    Tensor loss;
    for (Index i = 0; i < steps; ++i) {
      const Tensor x = uniform({32, 2}, -1.0, 1.0, float32, &data_);
      loss = mse_loss(model(x), (x.select(1, 0) * x.select(1, 1)).unsqueeze(1));
      adam_.zero_grad();
      loss.backward();
      adam_.step();
      ++step_;
    }
    return loss.item();
  }

  void save(const files::path& path) const {
    save_checkpoint(path, {.step = step_,
                           .model = model.state_dict(),
                           .optimizer = adam_.state_dict(),
                           .state = {{"data", data_.state()}}});
  }

  void load(const files::path& path) {
    const Checkpoint checkpoint = load_checkpoint(path);
    step_ = checkpoint.step;
    model.load_state_dict(checkpoint.model);
    adam_.load_state_dict(checkpoint.optimizer);
    data_.set_state(checkpoint.state.at("data"));
  }

 private:
  Adam adam_;
  Generator data_{7};
  Index step_ = 0;
};

void weights(const ScratchFolder& folder) {
  const Sequential model = new_model();
  save_weights(folder / "weights.safetensors", model, {{"made_by", "lesson 7"}});

  Sequential other = new_model();  // starts with other numbers
  const Metadata notes = load_weights(folder / "weights.safetensors", other);
  std::cout << "1. weights travel by name:\n";
  for (const auto& [name, parameter] : other.named_parameters()) {
    std::cout << "   " << name << " " << parameter.shape() << "\n";
  }
  const Tensor x = randn({4, 2});
  examples::require(all(eq(model(x), other(x))), "both models now compute the same");
  examples::require(notes.at("made_by") == "lesson 7", "text beside the weights is kept");
}

void going_on(const ScratchFolder& folder) {
  Run whole;
  whole.train(50);
  whole.save(folder / "step_50.safetensors");
  const double wanted = whole.train(50);

  Run resumed;  // another model, another place in the data
  resumed.load(folder / "step_50.safetensors");
  const double found = resumed.train(50);
  std::cout << "\n2. the loss after 100 steps is " << wanted << ", and " << found
            << " when step 50 was loaded from a file\n";
  examples::require(wanted == found, "a resumed run gives the same loss, to the last bit");
}

void the_wrong_file(const ScratchFolder& folder) {
  Sequential wider{Linear(2, 32), Tanh(), Linear(32, 1)};
  std::cout << "\n3. a file of another model changes nothing, and says all that is wrong:\n\n";
  try {
    load_weights(folder / "weights.safetensors", wider);
  } catch (const IoError& error) {
    std::cout << error.what() << "\n";
    return;
  }
  examples::require(false, "weights that do not fit are refused");
}

void show() {
  manual_seed(1);
  const ScratchFolder folder;
  weights(folder);
  going_on(folder);
  the_wrong_file(folder);
}

}  // namespace

int main() { return examples::run(show); }
