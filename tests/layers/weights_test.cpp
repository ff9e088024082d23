// Weights of a module as a file, and the whole of a model, its optimiser and its random streams as
// a checkpoint (C105, C111, C115).
#include "layers/weights.h"

#include <filesystem>
#include <string>
#include <vector>

#include "framework/core/error.h"
#include "framework/io/file.h"
#include "layers/embedding.h"
#include "layers/linear.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

class Net : public Module {
 public:
  Embedding symbols{5, 4};
  std::vector<Linear> layers{};
  Linear head{4, 5, false};

  explicit Net(Index depth = 2) {
    for (Index i = 0; i < depth; ++i) layers.emplace_back(4, 4);
  }
  Tensor operator()(const Tensor& indices) const {
    Tensor x = symbols(indices);
    for (const Linear& layer : layers) x = layer(x).relu();
    return head(x);
  }
  void visit(Visitor& v) override {
    v("symbols", symbols);
    v("layers", layers);
    v("head", head);
  }
  std::string description() const override { return "Net"; }
};

/// The head reads what the table of symbols writes.
class TiedNet : public Net {
 public:
  TiedNet() { head.weight = symbols.weight; }
};

std::vector<std::vector<double>> numbers_of(const Module& module) {
  std::vector<std::vector<double>> all;
  for (const Tensor& parameter : module.parameters()) all.push_back(parameter.to_vector<double>());
  return all;
}

const Tensor& indices() {
  static const Tensor all = tensor({{0, 1, 2}, {4, 3, 0}}, int64);
  return all;
}

}  // namespace

TEST_CASE("a model with loaded weights computes what the saved one does", "[weights]") {
  const TemporaryFolder folder;
  const auto path = folder / "net.safetensors";
  const Net saved;
  save_weights(path, saved, {{"format", "pt"}});
  Net loaded;
  CHECK(difference(loaded(indices()), saved(indices())) != "");
  CHECK(load_weights(path, loaded) == Metadata{{"format", "pt"}});
  CHECK_THAT(loaded(indices()), IsCloseTo(saved(indices()), exactly));
  CHECK(loaded.head.weight.requires_grad());
}

TEST_CASE("a tied parameter is saved once, and loaded from a file that has it twice", "[weights]") {
  const TemporaryFolder folder;
  const auto path = folder / "net.safetensors";
  const TiedNet saved;
  save_weights(path, saved);
  const StateDict once = load_safetensors(path).tensors;
  CHECK(once.contains("symbols.weight"));
  CHECK_FALSE(once.contains("head.weight"));
  TiedNet loaded;
  load_weights(path, loaded);
  CHECK_THAT(loaded(indices()), IsCloseTo(saved(indices()), exactly));
  CHECK(loaded.head.weight.is_same(loaded.symbols.weight));

  StateDict twice = once;  // as torch.save(model.state_dict()) has it
  twice["head.weight"] = once.at("symbols.weight");
  save_safetensors(path, twice);
  TiedNet from_both;
  load_weights(path, from_both);
  CHECK_THAT(from_both(indices()), IsCloseTo(saved(indices()), exactly));
  twice["head.weight"] = zeros({5, 4});
  save_safetensors(path, twice);
  CHECK(error_text<IoError>([&] { load_weights(path, from_both); }) ==
        "load: " + path.string() +
            " does not match the model: 1 in conflict\n"
            "  head.weight   other numbers than symbols.weight, the same parameter");
}

TEST_CASE("C115: a file of another model is refused with every fault, and nothing changes",
          "[weights][cases]") {
  const TemporaryFolder folder;
  const auto path = folder / "net.safetensors";
  Net model;
  const auto before = numbers_of(model);
  StateDict state = state_as("net", Net(3).state_dict());
  state["net.head.weight"] = zeros({6, 4});
  save_safetensors(path, state);
  CHECK(error_text<IoError>([&] { load_weights(path, model); })
            .starts_with("load: " + path.string() +
                         " does not match the model: 6 missing, 8 unexpected\n"));
  CHECK(error_text<IoError>([&] {
          load_weights(path, model, {.rename = {{"net.", ""}}});
        }) == "load: " + path.string() +
                  " does not match the model: 2 unexpected, 1 of another shape\n"
                  "  layers.2.bias     unexpected (4,) float32\n"
                  "  layers.2.weight   unexpected (4, 4) float32\n"
                  "  head.weight       file (6, 4), model (5, 4)");
  CHECK(numbers_of(model) == before);
  save_safetensors(path, state_as("net", Net().state_dict()));
  CHECK(error_text<IoError>([&] {
          load_weights(path, model);
        }).ends_with("\n  hint   {.rename = {{\"net.\", \"\"}}}"));
  load_weights(path, model, {.rename = {{"net.", ""}}});
  CHECK(numbers_of(model) != before);
}

TEST_CASE("C111: a damaged file changes nothing in the model", "[weights][cases]") {
  const TemporaryFolder folder;
  const auto path = folder / "net.safetensors";
  save_weights(path, Net());
  Net model;
  const auto before = numbers_of(model);
  const std::string whole = read_file(path);
  for (const std::size_t length : {whole.size() - 1, whole.size() - 100, whole.size() / 2}) {
    write_file(path, whole.substr(0, length));
    CHECK(error_text<IoError>([&] {
            load_weights(path, model);
          }).starts_with("load: " + path.string() + " is cut short"));
  }
  CHECK(numbers_of(model) == before);
}
