#include "framework/ops/attention.h"

#include <cmath>

#include "framework/ops/checks.h"
#include "framework/ops/dropout.h"
#include "framework/ops/matmul.h"
#include "framework/ops/softmax.h"

namespace gradus {
namespace {

constexpr const char* kName = "scaled_dot_product_attention";

void check_operands(const Tensor& query, const Tensor& key, const Tensor& value, bool grouped) {
  check_floating(kName, query);
  check_same_dtype(kName, query, key);
  check_same_dtype(kName, query, value);
  const auto fail = [&](const std::string& why) {
    throw ShapeError(
        text(kName, ": ", why),
        {.got = text("query ", query.shape(), ", key ", key.shape(), ", value ", value.shape()),
         .need = "query (B,H,q,d), key (B,H,k,d), value (B,H,k,e)"});
  };
  if (query.dim() != 4 || key.dim() != 4 || value.dim() != 4) fail("needs four axes each");
  if (query.size(0) != key.size(0) || key.size(0) != value.size(0)) fail("batch sizes differ");
  if (key.size(1) != value.size(1)) fail("key and value differ in heads");
  if (query.size(3) != key.size(3)) fail("query and key differ in features");
  if (key.size(2) != value.size(2)) fail("key and value differ in length");
  const Index heads = query.size(1);
  const Index shared = key.size(1);
  if (!grouped && heads != shared) fail("query and key differ in heads (see enable_gqa)");
  if (grouped && (shared == 0 || heads % shared != 0)) {
    fail(text(heads, " query heads cannot share ", shared, " key heads evenly"));
  }
}

/// Every head repeated for the query heads that share it: (B, H/g, k, d) to (B, H, k, d).
Tensor for_each_query_head(const Tensor& x, Index heads) {
  if (x.size(1) == heads) return x;
  const Index group = heads / x.size(1);
  return x.unsqueeze(2)
      .expand({x.size(0), x.size(1), group, x.size(2), x.size(3)})
      .reshape({x.size(0), heads, x.size(2), x.size(3)});
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options) {
  check_operands(query, key, value, options.enable_gqa);
  const Tensor k = for_each_query_head(key, query.size(1));
  const Tensor v = for_each_query_head(value, query.size(1));
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(3))));
  const AttentionMask mask = options.is_causal
                                 ? options.mask | AttentionMask::causal(query.size(2), key.size(2))
                                 : options.mask;

  const Tensor scores = matmul(query * scale, k.transpose(-2, -1));  // (B, H, q, k)
  const Tensor weights = softmax(masked_fill(scores, mask), -1, WhenAllHidden::zero);
  return matmul(dropout(weights, options.dropout_p), v);
}

}  // namespace gradus
