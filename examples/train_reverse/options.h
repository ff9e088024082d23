// Options of train_reverse.
#pragma once

#include <cstdint>
#include <optional>

#include "framework/core/dtype.h"
#include "framework/core/parallel.h"

namespace examples {

struct Options {
  gradus::Index steps = 500;
  gradus::Index batch = 64;
  gradus::Index length = 12;
  gradus::Index layers = 2;
  gradus::Index heads = 4;
  gradus::Index width = 64;
  double lr = 2e-3;
  std::uint32_t seed = 1;
  int threads = gradus::num_threads();
  double target = 99.0;
  bool no_target = false;
  bool quiet = false;
};

/// What the command line says; nothing where it asked for --help or --version, which is then done.
/// Throws Failure for what it cannot mean.
std::optional<Options> read_options(int argc, char** argv);

}  // namespace examples
