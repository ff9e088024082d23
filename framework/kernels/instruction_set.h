// Which build of the kernels runs.
#pragma once

namespace gradus {

/// "baseline", "avx2" or "avx512": the best that this processor runs, or what GRADUS_ISA names.
/// Throws ValueError for a name that is unknown or cannot run here.
const char* instruction_set();

}  // namespace gradus
