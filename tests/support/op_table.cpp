#include "tests/support/op_table.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <unordered_set>

#include "framework/autograd/backward.h"
#include "framework/autograd/node.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/dropout.h"
#include "framework/ops/indexing.h"
#include "framework/ops/loss.h"
#include "framework/ops/masking.h"
#include "framework/ops/matmul.h"
#include "framework/ops/normalization.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/ops/views.h"
#include "tests/support/tensors.h"

namespace gradus::testing {
namespace {

using Inputs = std::vector<Tensor>;
using Function = std::function<Tensor(const Inputs&)>;

/// True in a pattern without symmetry.
Tensor mask_of(const Shape& shape) {
  std::vector<bool> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i * i % 7 < 3;
  return from_vector(values, shape);
}

/// Numbers below `bound`, some of them twice.
Tensor indices_of(const Shape& shape, Index bound) {
  std::vector<Index> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Index>(i * i + 1) % bound;
  return from_vector(values, shape);
}

/// The gradient that embedding gives its weight, as a function of the gradient of its output.
Tensor gradient_of_embedding(const Tensor& gradient, Index padding_idx) {
  const EnableGrad on;
  const Shape& shape = gradient.shape();
  const Tensor weight = zeros({4, shape[shape.size() - 1]}, gradient.dtype()).requires_grad_();
  Shape of_indices = shape;
  of_indices.erase(shape.size() - 1);
  const Tensor y = embedding(indices_of(of_indices, 4), weight, padding_idx);
  return gradients({y}, {weight}, {.grad_outputs = {gradient}, .create_graph = true})[0];
}

// Sizes are those of attention: batch 2, heads 2, queries 3, keys 4, width 5, as far as a row needs
// them; no two axes of one tensor are equal by accident where an exchange should be noticed.
std::vector<OpRow> rows() {
  const OpInput x234{{2, 3, 4}};
  const OpInput x34{{3, 4}};
  const std::vector<Shape> none{{0, 3, 4}};
  std::vector<OpRow> all;
  const auto row = [&all](const char* name, const char* how, const Function& function,
                          const std::vector<OpInput>& inputs, const std::vector<Shape>& empty,
                          const Shape& empty_result) -> OpRow& {
    all.push_back({name, how, function, inputs, empty, empty_result});
    return all.back();
  };

  // ---- arithmetic ----
  const std::vector<Shape> two{{0, 3}, {0, 3}};
  const std::vector<OpInput> pair{x34, x34};
  const std::vector<OpInput> stretched{{{2, 1, 3}}, {{4, 1}}};
  const std::vector<Shape> stretched_empty{{0, 1, 3}, {4, 1}};
  row("add", "", [](const Inputs& in) { return in[0] + in[1]; }, pair, two, {0, 3});
  row("add", "broadcast", [](const Inputs& in) { return in[0] + in[1]; }, stretched,
      stretched_empty, {0, 4, 3});
  row("add", "a tensor without axes", [](const Inputs& in) { return in[0] + in[1]; }, {x34, {{}}},
      {{0, 3}, {}}, {0, 3});
  row("add", "itself", [](const Inputs& in) { return in[0] + in[0]; }, {x34}, {{0, 3}}, {0, 3});
  row("add", "a number", [](const Inputs& in) { return in[0] + 1.5; }, {x34}, {{0, 3}}, {0, 3});
  row("sub", "", [](const Inputs& in) { return in[0] - in[1]; }, pair, two, {0, 3});
  row("sub", "broadcast", [](const Inputs& in) { return in[0] - in[1]; }, stretched,
      stretched_empty, {0, 4, 3});
  row("sub", "a number", [](const Inputs& in) { return in[0] - 1.5; }, {x34}, {{0, 3}}, {0, 3});
  row("sub", "from a number", [](const Inputs& in) { return 1.5 - in[0]; }, {x34}, {{0, 3}},
      {0, 3});
  row("mul", "", [](const Inputs& in) { return in[0] * in[1]; }, pair, two, {0, 3});
  row("mul", "broadcast", [](const Inputs& in) { return in[0] * in[1]; }, stretched,
      stretched_empty, {0, 4, 3});
  row("mul", "itself", [](const Inputs& in) { return in[0] * in[0] * in[0]; }, {x34}, {{0, 3}},
      {0, 3});
  row("mul", "a number", [](const Inputs& in) { return in[0] * -2.5; }, {x34}, {{0, 3}}, {0, 3});
  row("div", "", [](const Inputs& in) { return in[0] / in[1]; },
      {x34, {{3, 4}, Draw::away_from_zero}}, two, {0, 3});
  row("div", "broadcast", [](const Inputs& in) { return in[0] / in[1]; },
      {{{2, 1, 3}}, {{4, 1}, Draw::positive}}, stretched_empty, {0, 4, 3});
  row("div", "by a number", [](const Inputs& in) { return in[0] / -2.5; }, {x34}, {{0, 3}}, {0, 3});
  row("div", "of a number", [](const Inputs& in) { return 2.5 / in[0]; },
      {{{3, 4}, Draw::away_from_zero}}, {{0, 3}}, {0, 3});
  row("neg", "", [](const Inputs& in) { return -in[0]; }, {x34}, {{0, 3}}, {0, 3});

  row("maximum", "", [](const Inputs& in) { return maximum(in[0], in[1]); }, pair, two, {0, 3});
  row("maximum", "broadcast", [](const Inputs& in) { return maximum(in[0], in[1]); }, stretched,
      stretched_empty, {0, 4, 3});
  row("minimum", "", [](const Inputs& in) { return minimum(in[0], in[1]); }, pair, two, {0, 3});

  // ---- unary ----
  const std::vector<OpInput> positive{{{3, 4}, Draw::positive}};
  row("exp", "", [](const Inputs& in) { return exp(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("log", "", [](const Inputs& in) { return log(in[0]); }, positive, {{0, 3}}, {0, 3});
  row("sqrt", "", [](const Inputs& in) { return sqrt(in[0]); }, positive, {{0, 3}}, {0, 3});
  row("tanh", "", [](const Inputs& in) { return tanh(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("sigmoid", "", [](const Inputs& in) { return sigmoid(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("relu", "", [](const Inputs& in) { return relu(in[0]); }, {{{3, 4}, Draw::away_from_zero}},
      {{0, 3}}, {0, 3});
  row("erf", "", [](const Inputs& in) { return erf(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("abs", "", [](const Inputs& in) { return abs(in[0]); }, {{{3, 4}, Draw::away_from_zero}},
      {{0, 3}}, {0, 3});
  row("sin", "", [](const Inputs& in) { return sin(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("cos", "", [](const Inputs& in) { return cos(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("gelu", "exact", [](const Inputs& in) { return gelu(in[0]); }, {x34}, {{0, 3}}, {0, 3});
  row("gelu", "tanh", [](const Inputs& in) { return gelu(in[0], GeluForm::tanh); }, {x34}, {{0, 3}},
      {0, 3});

  // ---- masking ----
  row("masked_fill", "",
      [](const Inputs& in) { return masked_fill(in[0], mask_of(in[0].shape()), -1.5); }, {x234},
      none, {0, 3, 4});
  row("masked_fill", "one mask for all",
      [](const Inputs& in) {
        return masked_fill(in[0], mask_of({3, 4}), 0);
      },
      {x234}, none, {0, 3, 4});
  row("masked_fill", "x stretched to the mask",
      [](const Inputs& in) {
        return masked_fill(in[0], mask_of({2, 3, 4}), 0);
      },
      {{{3, 1}}}, {}, {});
  row("where", "", [](const Inputs& in) { return where(mask_of(in[0].shape()), in[0], in[1]); },
      pair, two, {0, 3});
  row("where", "broadcast",
      [](const Inputs& in) {
        return where(mask_of({4, 1}), in[0], in[1]);
      },
      {{{2, 1, 3}}, {{4, 3}}}, {{0, 1, 3}, {4, 3}}, {0, 4, 3});

  // ---- views ----
  row("view", "",
      [](const Inputs& in) {
        return in[0].contiguous().view({in[0].size(0) * 3, 4});
      },
      {x234}, none, {0, 4});
  row("reshape", "of what lies transposed",
      [](const Inputs& in) { return in[0].transpose(0, 2).reshape({4 * 3 * in[0].size(0)}); },
      {x234}, none, {0});
  row("flatten", "", [](const Inputs& in) { return in[0].flatten(1); }, {x234}, none, {0, 12});
  row("permute", "",
      [](const Inputs& in) {
        return in[0].permute({2, 0, 1});
      },
      {x234}, none, {4, 0, 3});
  row("transpose", "", [](const Inputs& in) { return in[0].transpose(0, -1); }, {x234}, none,
      {4, 3, 0});
  row("expand", "", [](const Inputs& in) { return in[0].expand({2, 3, 5}); }, {{{3, 1}}}, {}, {});
  row("expand", "to nothing",
      [](const Inputs& in) {
        return in[0].expand({-1, 4, -1});
      },
      {{{3, 1, 2}}}, {{0, 1, 2}}, {0, 4, 2});
  row("squeeze", "", [](const Inputs& in) { return in[0].squeeze(1); }, {{{3, 1, 4}}}, {{0, 1, 4}},
      {0, 4});
  row("unsqueeze", "", [](const Inputs& in) { return in[0].unsqueeze(1); }, {x34}, {{0, 4}},
      {0, 1, 4});
  row("slice", "", [](const Inputs& in) { return in[0].slice(1, 1, 4); }, {{{3, 5}}}, {{0, 5}},
      {0, 3});
  row("slice", "with steps", [](const Inputs& in) { return in[0].slice(1, 1, 7, 3); }, {{{3, 8}}},
      {{0, 8}}, {0, 2});
  row("slice_backward", "",
      [](const Inputs& in) {
        return slice_backward(in[0], {in[0].size(0), 8}, 1, 1, 3);
      },
      {{{3, 2}}}, {{0, 2}}, {0, 8});
  row("select", "", [](const Inputs& in) { return in[0].select(1, -2); }, {x234}, none, {0, 4});
  row("clone", "", [](const Inputs& in) { return in[0].clone(); }, {x34}, {{0, 3}}, {0, 3});
  row("to", "",
      [](const Inputs& in) { return in[0].to(float32).to(float64).to(float32).to(in[0].dtype()); },
      {x34}, {{0, 3}}, {0, 3})
      .smooth = false;
  row("cat", "",
      [](const Inputs& in) {
        return cat({in[0], in[1], in[0]}, 1);
      },
      {{{3, 2}}, {{3, 4}}}, {{3, 0}, {3, 0}}, {3, 0});
  row("cat", "along the first axis",
      [](const Inputs& in) {
        return cat({in[0], in[1]});
      },
      {{{2, 3}}, {{1, 3}}}, {{0, 3}, {0, 3}}, {0, 3});

  // ---- reductions ----
  row("sum", "over all", [](const Inputs& in) { return sum(in[0]); }, {x234}, none, {});
  row("sum", "over the last axis", [](const Inputs& in) { return sum(in[0], {-1}); }, {x234},
      {{2, 3, 0}}, {2, 3});
  row("sum", "over axes apart",
      [](const Inputs& in) {
        return sum(in[0], {0, 2}, true);
      },
      {x234}, none, {1, 3, 1});
  row("mean", "over all", [](const Inputs& in) { return mean(in[0]); }, {x234}, none, {});
  row("mean", "over the middle axis", [](const Inputs& in) { return mean(in[0], {1}); }, {x234},
      {{2, 0, 4}}, {2, 4});
  row("mean", "over axes apart",
      [](const Inputs& in) {
        return mean(in[0], {0, 2});
      },
      {x234}, none, {3});
  row("sum_to", "", [](const Inputs& in) { return sum_to(in[0], {3, 1}); }, {x234}, none, {3, 1});
  const std::vector<OpInput> apart{{{2, 3, 4}, Draw::apart}};
  row("amax", "over all", [](const Inputs& in) { return amax(in[0]); }, apart, {}, {});
  row("amax", "over axes apart",
      [](const Inputs& in) {
        return amax(in[0], {0, 2}, true);
      },
      apart, {{2, 0, 4}}, {1, 0, 1});
  row("max", "", [](const Inputs& in) { return max(in[0], 1).values; }, apart, none, {0, 4});
  row("max", "keepdim", [](const Inputs& in) { return max(in[0], -1, true).values; }, apart, none,
      {0, 3, 1});

  // ---- softmax ----
  const OpInput scores{{2, 2, 3, 4}};
  const std::vector<Shape> no_scores{{2, 2, 3, 0}};
  row("softmax", "", [](const Inputs& in) { return softmax(in[0], -1); }, {scores}, no_scores,
      {2, 2, 3, 0});
  row("softmax", "over another axis", [](const Inputs& in) { return softmax(in[0], 1); }, {x234},
      none, {0, 3, 4});
  row("softmax", "over the first axis", [](const Inputs& in) { return softmax(in[0], 0); }, {x34},
      {{0, 4}}, {0, 4})
      .expandable = false;
  row("softmax", "with a row that sees nothing",
      [](const Inputs& in) {
        const Tensor hidden = tensor({{1, 1, 1, 1}, {0, 1, 0, 0}, {0, 0, 0, 1}}, boolean);
        return softmax(masked_fill(in[0], hidden, -kInf), -1, WhenAllHidden::zero);
      },
      {scores}, {{0, 2, 3, 4}}, {0, 2, 3, 4});
  row("softmax_backward", "", [](const Inputs& in) { return softmax_backward(in[0], in[1], 1); },
      {x234, x234}, {{0, 3, 4}, {0, 3, 4}}, {0, 3, 4});
  row("log_softmax", "", [](const Inputs& in) { return log_softmax(in[0], -1); }, {x34}, {{3, 0}},
      {3, 0});
  row("log_softmax", "over another axis", [](const Inputs& in) { return log_softmax(in[0], 1); },
      {x234}, none, {0, 3, 4});

  // ---- products ----
  row("matmul", "", [](const Inputs& in) { return matmul(in[0], in[1]); }, {x34, {{4, 5}}},
      {{0, 4}, {4, 5}}, {0, 5});
  row("matmul", "stacks", [](const Inputs& in) { return matmul(in[0], in[1]); },
      {scores, {{2, 2, 4, 5}}}, {{2, 2, 3, 0}, {2, 2, 0, 5}}, {2, 2, 3, 5});
  row("matmul", "stacks that broadcast", [](const Inputs& in) { return matmul(in[0], in[1]); },
      {{{2, 1, 3, 4}}, {{3, 4, 2}}}, {{0, 1, 3, 4}, {3, 4, 2}}, {0, 3, 3, 2});
  row("matmul", "a stack by one matrix", [](const Inputs& in) { return matmul(in[0], in[1]); },
      {x234, {{4, 5}}}, {{2, 3, 0}, {0, 5}}, {2, 3, 5});
  row("matmul", "one matrix by a stack", [](const Inputs& in) { return matmul(in[0], in[1]); },
      {x34, {{2, 4, 5}}}, {{3, 4}, {0, 4, 5}}, {0, 3, 5});
  row("matmul", "two vectors", [](const Inputs& in) { return matmul(in[0], in[1]); },
      {{{5}}, {{5}}}, {{0}, {0}}, {});
  row("matmul", "a vector by a stack", [](const Inputs& in) { return matmul(in[0], in[1]); },
      {{{4}}, {{2, 4, 5}}}, {{4}, {0, 4, 5}}, {0, 5});
  row("matmul", "a stack by a vector", [](const Inputs& in) { return matmul(in[0], in[1]); },
      {x234, {{4}}}, {{0, 3, 4}, {4}}, {0, 3});
  row("matmul", "by its own transpose",
      [](const Inputs& in) { return matmul(in[0], in[0].transpose(-2, -1)); }, {x234}, none,
      {0, 3, 3});
  row("linear", "", [](const Inputs& in) { return linear(in[0], in[1], in[2]); },
      {x234, {{5, 4}}, {{5}}}, {{0, 3, 4}, {5, 4}, {5}}, {0, 3, 5});

  // ---- by index ----
  row("embedding", "",
      [](const Inputs& in) {
        return embedding(indices_of({2, 3}, 4), in[0]);
      },
      {{{4, 5}}}, {{4, 0}}, {2, 3, 0});
  row("embedding_backward", "",
      [](const Inputs& in) { return gradient_of_embedding(in[0], kNoPadding); }, {x234}, none,
      {4, 4});
  row("embedding_backward", "with padding",
      [](const Inputs& in) { return gradient_of_embedding(in[0], 1); }, {x234}, none, {4, 4});
  row("gather", "",
      [](const Inputs& in) {
        return gather(in[0], 1, indices_of({in[0].size(0), 5, 4}, 3));
      },
      {x234}, none, {0, 5, 4});
  row("gather", "from a part",
      [](const Inputs& in) {
        return gather(in[0], -1, indices_of({1, 2, 3}, 4));
      },
      {x234}, {}, {});
  row("scatter_add", "",
      [](const Inputs& in) { return scatter_add(in[0], 1, indices_of(in[1].shape(), 3), in[1]); },
      {x234, {{2, 5, 4}}}, {{0, 3, 4}, {0, 5, 4}}, {0, 3, 4});
  row("scatter_add", "into a part",
      [](const Inputs& in) { return scatter_add(in[0], -1, indices_of(in[1].shape(), 4), in[1]); },
      {x234, {{1, 2, 3}}}, {{2, 3, 4}, {2, 0, 4}}, {2, 3, 4});

  // ---- normalisation ----
  row("normalize", "", [](const Inputs& in) { return layer_norm(in[0], {4}); }, {x234}, none,
      {0, 3, 4});
  row("layer_norm", "", [](const Inputs& in) { return layer_norm(in[0], {4}, in[1], in[2]); },
      {x234, {{4}}, {{4}}}, {{0, 3, 4}, {4}, {4}}, {0, 3, 4})
      .expandable = false;  // weight and bias of one number each
  row("layer_norm", "over two axes",
      [](const Inputs& in) {
        return layer_norm(in[0], {3, 4}, in[1], in[2], 0.1);
      },
      {x234, {{3, 4}}, {{3, 4}}}, {{0, 3, 4}, {3, 4}, {3, 4}}, {0, 3, 4});

  // ---- losses ----
  row("cross_entropy", "",
      [](const Inputs& in) { return cross_entropy(in[0], indices_of({in[0].size(0)}, 4)); }, {x34},
      {}, {});
  row("cross_entropy", "smoothed, with ignored targets, over more axes",
      [](const Inputs& in) {
        return cross_entropy(
            in[0], indices_of({in[0].size(0), 4}, 3),
            {.reduction = Reduction::none, .ignore_index = 2, .label_smoothing = 0.2});
      },
      {x234}, none, {0, 4});

  // ---- dropout ----
  row("dropout", "", [](const Inputs& in) { return dropout_with_key(in[0], 0.4, 12345); }, {x234},
      none, {0, 3, 4});
  return all;
}

Tensor drawn(const OpInput& input, Generator& generator) {
  const Tensor normal = randn(input.shape, float64, &generator);
  const Tensor size = rand(input.shape, float64, &generator) * 1.5 + 0.5;
  switch (input.draw) {
    case Draw::normal: return normal;
    case Draw::positive: return size;
    case Draw::away_from_zero: return where(mask_of(input.shape), size, -size);
    case Draw::apart: {
      const Tensor order = randperm(normal.numel(), &generator).to(float64);
      return ((order - static_cast<double>(normal.numel()) / 2) * 0.2 + 0.05).view(input.shape);
    }
  }
  return normal;
}

std::string contents_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Adds every name in a call of the form record("name", ...), on one line or on two.
void find_records(const std::string& source, std::set<std::string>& names) {
  const std::string call = "record(";
  for (std::size_t place = source.find(call); place != std::string::npos;
       place = source.find(call, place + 1)) {
    const std::size_t quote = source.find_first_not_of(" \n", place + call.size());
    if (quote == std::string::npos || source[quote] != '"') continue;
    names.insert(source.substr(quote + 1, source.find('"', quote + 1) - quote - 1));
  }
}

/// The root of the tree: two folders above this file.
std::filesystem::path source_folder() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
}

}  // namespace

const std::vector<OpRow>& op_table() {
  static const std::vector<OpRow> all = rows();
  return all;
}

std::vector<Tensor> sample_inputs(const OpRow& row) {
  std::uint64_t seed = 1;
  for (const char letter : row.name + row.how)
    seed = seed * 31 + static_cast<unsigned char>(letter);
  Generator generator(seed);
  std::vector<Tensor> inputs;
  for (const OpInput& input : row.inputs) inputs.push_back(drawn(input, generator));
  return inputs;
}

std::vector<Tensor> empty_inputs(const OpRow& row) {
  std::vector<Tensor> inputs;
  for (const Shape& shape : row.empty_inputs) inputs.push_back(zeros(shape, float64));
  return inputs;
}

void collect_steps(const Tensor& output, std::set<std::string>& names) {
  std::vector<const Node*> waiting;
  std::unordered_set<const Node*> seen;
  const auto visit = [&](const Node* node) {
    if (node && seen.insert(node).second) waiting.push_back(node);
  };
  visit(output.impl().node.get());
  while (!waiting.empty()) {
    const Node* node = waiting.back();
    waiting.pop_back();
    if (!node->is_leaf()) names.insert(node->name());
    for (const Node::Input& input : node->inputs()) visit(input.node.get());
  }
}

std::set<std::string> recorded_names() {
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(source_folder() / "framework")) {
    if (entry.path().extension() == ".cpp") find_records(contents_of(entry.path()), names);
  }
  return names;
}

}  // namespace gradus::testing
