// PyTorch's name, the BLAS that its products run in, and its threads.
#include <dlfcn.h>

#include <climits>
#include <cstdlib>

#include <ATen/Parallel.h>
#include <torch/version.h>

#include "work.h"

namespace work {
namespace {

/// The file that holds a function of this process, with its links resolved.
std::string file_of(const char* function) {
  Dl_info info{};
  if (!dladdr(dlsym(RTLD_DEFAULT, function), &info)) return "none";
  char path[PATH_MAX];
  return realpath(info.dli_fname, path) ? path : info.dli_fname;
}

/// Its version and the processor it was tuned for, if it is OpenBLAS.
std::string openblas_config() {
  using Text = char* (*)();
  const auto config = reinterpret_cast<Text>(dlsym(RTLD_DEFAULT, "openblas_get_config"));
  return config ? std::string(", ") + config() : "";
}

}  // namespace

std::string description() {
  return "PyTorch " TORCH_VERSION ", BLAS " + file_of("sgemm_") + openblas_config();
}

void set_threads(int count) { at::set_num_threads(count); }

}  // namespace work
