// Which build of the kernels runs.
#pragma once

#include <vector>

namespace gradus {

/// "baseline", "avx2" or "avx512": the best that this processor runs, or what GRADUS_ISA names.
/// Throws ValueError for a name that is unknown or cannot run here.
const char* instruction_set();

/// All that run here, the best first and "baseline" last.
std::vector<const char*> instruction_sets();

}  // namespace gradus
