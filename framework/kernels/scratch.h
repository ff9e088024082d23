// Scratch: memory for a kernel's intermediate results. Each thread keeps what it was given, from
// call to call, so that kernels allocate nothing once they have run.
#pragma once

#include <cstddef>

namespace gradus::kernels {

/// What it is for. Kernels that call each other have theirs side by side.
enum class Scratch { attention, panels };

/// At least `bytes` of this thread's memory for this use, 64-byte aligned, with contents of no
/// meaning. It is the caller's until this thread asks for the same use again. Throws
/// std::bad_alloc.
std::byte* scratch(Scratch use, std::size_t bytes);

}  // namespace gradus::kernels
