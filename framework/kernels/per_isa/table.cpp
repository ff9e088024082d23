// Gathers this build's kernels into its table.
#include "framework/kernels/per_isa/isa.h"

#define GRADUS_QUOTE_(x) #x
#define GRADUS_QUOTE(x) GRADUS_QUOTE_(x)

namespace gradus::kernels::GRADUS_ISA {

const Table& table() {
  static const Table filled = [] {
    Table all{};
    all.isa = GRADUS_QUOTE(GRADUS_ISA);
    fill_elementwise(all);
    fill_reduce(all);
    fill_softmax(all);
    fill_normalize(all);
    fill_indexing(all);
    fill_matmul(all);
    fill_attention(all);
    fill_attention_backward(all);
    fill_dropout(all);
    fill_optimizers(all);
    return all;
  }();
  return filled;
}

}  // namespace gradus::kernels::GRADUS_ISA
