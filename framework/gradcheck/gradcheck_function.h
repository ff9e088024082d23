// GradcheckFunction: what gradcheck() takes, a callable of tensors in any of its usual forms.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "framework/core/error.h"
#include "framework/core/tensor.h"

namespace gradus {

namespace detail {

inline std::vector<Tensor> listed(Tensor output) { return {std::move(output)}; }
inline std::vector<Tensor> listed(std::vector<Tensor> outputs) { return outputs; }

template <class F, std::size_t... I>
constexpr bool takes_tensors(std::index_sequence<I...>) {
  return std::is_invocable_v<F&, decltype((void(I), std::declval<const Tensor&>()))...>;
}

/// How many Tensors, 1 to 8, F is called with; 0 where it takes none.
template <class F, std::size_t N = 1>
constexpr std::size_t tensors_taken() {
  if constexpr (takes_tensors<F>(std::make_index_sequence<N>{})) {
    return N;
  } else if constexpr (N < 8) {
    return tensors_taken<F, N + 1>();
  } else {
    return 0;
  }
}

}  // namespace detail

/// What can be checked: a callable of a `const std::vector<Tensor>&`, or of one to eight Tensors,
/// that returns a Tensor or a std::vector of them.
class GradcheckFunction {
 public:
  template <class F>
  requires(!std::is_same_v<F, GradcheckFunction>)
      GradcheckFunction(F function) {  // NOLINT: reads as a function
    constexpr std::size_t count = detail::tensors_taken<F>();
    call_ = [function = std::move(function)](const std::vector<Tensor>& inputs) mutable {
      if constexpr (count == 0) {
        static_assert(std::is_invocable_v<F&, const std::vector<Tensor>&>,
                      "gradcheck takes a function of Tensors, or of a vector of them");
        return detail::listed(function(inputs));
      } else {
        check_count(count, inputs.size());
        return spread(function, inputs, std::make_index_sequence<count>{});
      }
    };
  }

  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const { return call_(inputs); }

 private:
  template <class F, std::size_t... I>
  static std::vector<Tensor> spread(F& function, const std::vector<Tensor>& inputs,
                                    std::index_sequence<I...>) {
    return detail::listed(function(inputs[I]...));
  }
  static void check_count(std::size_t takes, std::size_t given) {
    if (takes == given) return;
    throw ValueError(
        text("gradcheck: the function takes ", takes, " tensors, ", given, " are given"));
  }

  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> call_;
};

}  // namespace gradus
