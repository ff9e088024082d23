// Gradient groups: the norm of the gradient by kinds of layers, to see which of them learn.
#pragma once

#include "examples/gradus/training/step.h"
#include "layers/module.h"

namespace examples {

/// W_Q, W_K, W_V and W_O of attention, the feed-forward nets (mlp), embeddings (emb), and the rest,
/// each over all layers; kinds without a gradient are left out.
GroupNorms gradient_groups(const gradus::Module& model);

/// The parameters that no gradient has reached, by name.
std::vector<std::string> without_gradient(const gradus::Module& model);

}  // namespace examples
