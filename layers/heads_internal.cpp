#include "layers/heads_internal.h"

#include <algorithm>

#include "framework/autograd/trace.h"
#include "framework/core/error.h"

namespace gradus {
namespace {

/// Of a number however large, those that anyone would have as heads.
std::string divisors(Index number) {
  std::string list;
  for (Index d = 1; d <= std::min<Index>(number, 1024); ++d) {
    if (number % d == 0) list += text(" ", d);
  }
  return list;
}

}  // namespace

void check_heads(const char* layer, Index d_model, Index n_heads) {
  if (d_model < 1 || n_heads < 1) {
    throw ValueError(
        text(layer, ": d_model ", d_model, " and n_heads ", n_heads, " must be at least 1"));
  }
  if (d_model % n_heads == 0) return;
  const auto below = static_cast<std::uint64_t>(d_model / n_heads * n_heads);
  throw ValueError(
      text(layer, ": d_model ", d_model, " cannot be split into ", n_heads, " heads (", d_model,
           " = ", n_heads, "*", d_model / n_heads, " + ", d_model % n_heads, ")"),
      {.hint = text("heads that fit ", d_model, ":", divisors(d_model), "; a d_model that fits ",
                    n_heads, " heads: ", below > 0 ? text(below, ", ") : "",
                    below + static_cast<std::uint64_t>(n_heads))});
}

Tensor attended(const Tensor& query, const Tensor& key, const Tensor& value,
                const Projections& project, HeadCounts heads, const AttentionOptions& options) {
  const auto map_of = [](const Linear& layer) { return LinearMap{layer.weight, layer.bias}; };
  if (query.is_same(key) && key.is_same(value) && !TapeTrace::is_active()) {
    return self_attention(query, map_of(project.query), map_of(project.key), map_of(project.value),
                          heads, options);
  }
  const Tensor q = split_heads(project.query(query), heads.query);
  const Tensor k = split_heads(project.key(key), heads.shared);
  const Tensor v = split_heads(project.value(value), heads.shared);
  return merge_heads(scaled_dot_product_attention(q, k, v, options));
}

}  // namespace gradus
