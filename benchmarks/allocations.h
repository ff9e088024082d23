// Calls of malloc and bytes in use, counted in the whole process, libraries included, where glibc
// is the C library. Counting is off, and then costs one branch, unless a scope asks for it.
#pragma once

#include <cstdint>

class [[nodiscard]] CountAllocations {
 public:
  /// From zero: bytes count those that were taken since, minus those that were given back.
  CountAllocations();
  CountAllocations(const CountAllocations&) = delete;
  CountAllocations& operator=(const CountAllocations&) = delete;
  ~CountAllocations();

  static bool available();
  std::int64_t calls() const;
  std::int64_t peak_bytes() const;
};
