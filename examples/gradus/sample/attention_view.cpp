#include "examples/gradus/sample/attention_view.h"

#include <algorithm>

#include "examples/support/heat_map.h"
#include "framework/autograd/no_grad.h"
#include "framework/core/error.h"
#include "framework/ops/creation.h"

namespace examples {

using gradus::Tensor;
using gradus::text;

AttentionPage attention_of(const TrainedModel& trained, const Continuation& continuation) {
  const gradus::NoGrad no_grad;
  const auto& tokens = continuation.tokens;
  const Index read = std::min<Index>(std::ssize(tokens) - 1, trained.model.options().block_size);
  const std::vector<Index> shown(tokens.end() - 1 - read, tokens.end() - 1);

  AttentionPage page{.title = "Attention: " + trained.settings.task,
                     .text = continuation.given + continuation.said};
  for (const Index token : shown) page.query_tokens.push_back(trained.vocabulary[token]);
  page.key_tokens = page.query_tokens;
  const Tensor input = gradus::from_vector(shown, {1, read});
  const std::vector<Tensor> weights = trained.model.with_weights(input).weights;
  for (Index layer = 0; layer < std::ssize(weights); ++layer) {
    const Tensor of_layer = weights[static_cast<std::size_t>(layer)][0];  // (heads, T, T)
    for (Index head = 0; head < of_layer.size(0); ++head) {
      page.maps.push_back({text("layer ", layer + 1, ", head ", head + 1), of_layer[head]});
    }
  }
  return page;
}

std::string attention_maps(const AttentionPage& page, const Terminal& terminal) {
  std::string all;
  for (const AttentionMap& map : page.maps) {
    all += "\n" + map.title + "\n" +
           heat_map(map.weights, page.query_tokens, page.key_tokens, terminal);
  }
  return all;
}

}  // namespace examples
