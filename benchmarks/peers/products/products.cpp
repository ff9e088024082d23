#include "products.h"

#include <memory>
#include <vector>

namespace {

using work::Index;
using work::Product;
using work::Step;

/// What a step multiplies, forward and backward.
class ProductList {
 public:
  explicit ProductList(bool float64) : float64_(float64) {}

  const std::vector<Product>& products() const { return products_; }

  /// y = x w^T with w (out, in);  dx = g w,  dw = g^T x
  void add_linear(Index rows, Index in, Index out) {
    add({.batch = 1, .m = rows, .n = out, .k = in, .b_transposed = true});
    add({.batch = 1, .m = rows, .n = in, .k = out});
    add({.batch = 1, .m = out, .n = in, .k = rows, .a_transposed = true});
  }

  /// scores = q k^T, context = p v;  dp = g v^T, dv = p^T g, dq = ds k, dk = ds^T q
  void add_heads(Index heads, Index length, Index width) {
    for (int i = 0; i < 2; ++i) {
      add({.batch = heads, .m = length, .n = length, .k = width, .b_transposed = true});
      add({.batch = heads, .m = length, .n = width, .k = length});
    }
    for (int i = 0; i < 2; ++i) {
      add({.batch = heads, .m = length, .n = width, .k = length, .a_transposed = true});
    }
  }

  /// Queries, keys and values come of one product.
  void add_attention(Index batch, Index length, Index width, Index heads) {
    add_linear(batch * length, width, 3 * width);
    add_heads(batch * heads, length, width / heads);
    add_linear(batch * length, width, width);
  }

 private:
  void add(Product product) {
    product.float64 = float64_;
    products_.push_back(product);
  }

  bool float64_;
  std::vector<Product> products_;
};

ProductList products_of(const work::Gpt& work) {
  ProductList list(false);
  const Index rows = work.batch * work.block;
  for (Index i = 0; i < work.layers; ++i) {
    list.add_attention(work.batch, work.block, work.width, work.heads);
    list.add_linear(rows, work.width, 4 * work.width);
    list.add_linear(rows, 4 * work.width, work.width);
  }
  list.add_linear(rows, work.width, work.vocabulary);
  return list;
}

/// Each product has memory of its own, as the tensors of a step have.
template <class T>
Step multiplying(const Product& product) {
  const auto numbers = [&](Index rows, Index columns) {
    return std::vector<T>(static_cast<std::size_t>(product.batch * rows * columns), T{0.5});
  };
  const Index a_size = product.m * product.k;
  const Index b_size = product.k * product.n;
  const Index c_size = product.m * product.n;
  return [=, a = numbers(product.m, product.k), b = numbers(product.k, product.n),
          c = numbers(product.m, product.n)]() mutable {
    for (Index i = 0; i < product.batch; ++i) {
      products::multiply<T>(product, a.data() + i * a_size, b.data() + i * b_size,
                            c.data() + i * c_size);
    }
  };
}

Step step_of(const std::vector<Product>& products) {
  std::vector<Step> steps;
  for (const Product& product : products) {
    if (product.float64 && !products::multiplies_float64) return {};
    steps.push_back(product.float64 ? multiplying<double>(product) : multiplying<float>(product));
  }
  return [steps = std::move(steps)] {
    for (const Step& step : steps) step();
  };
}

}  // namespace

namespace work {

Step product_step(const Product& work) { return step_of({work}); }

Step attention_step(const Attention& work) {
  ProductList list(work.float64);
  list.add_attention(work.batch, work.length, work.width, work.heads);
  return step_of(list.products());
}

Step gpt_step(const Gpt& work) { return step_of(products_of(work).products()); }

}  // namespace work
