#include "examples/train_reverse/model.h"

namespace examples {

using namespace gradus;  // NOLINT: an example is read beside the documentation

ReverseModel::ReverseModel(const ReverseModelOptions& options)
    : token(kDigits, options.width),
      position({.max_len = options.length, .d_model = options.width}),
      norm(options.width),
      head(options.width, kDigits) {
  for (Index i = 0; i < options.layers; ++i) {
    layers.emplace_back(TransformerEncoderLayerOptions{.d_model = options.width,
                                                       .n_heads = options.heads,
                                                       .dim_feedforward = 4 * options.width,
                                                       .dropout = 0.0,
                                                       .activation = Activation::gelu,
                                                       .norm_first = true});
  }
  // An embedding starts 50 times as large as the positions, which would be lost in it.
  const NoGrad no_grad;
  token.weight.mul_(0.02);
}

ReverseModel::Result ReverseModel::operator()(const Tensor& digits) const {
  Tensor x = position(token(digits));  // (B, length, width)
  std::vector<Tensor> weights;
  for (const TransformerEncoderLayer& layer : layers) {
    const AttentionOutput attended = layer(x);
    x = attended.output;
    weights.push_back(attended.weights);
  }
  return {head(norm(x)), weights};
}

}  // namespace examples
