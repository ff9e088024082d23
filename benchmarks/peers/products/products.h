// The floor: only the matrix products of a step, one after the other, by a library that does
// nothing else. A program of this kind links one of eigen.cpp, openblas.cpp and onednn.cpp.
#pragma once

#include "work.h"

namespace products {

/// Row-major operands of one of the products of a batch; c is overwritten.
template <class T>
void multiply(const work::Product& product, const T* a, const T* b, T* c);

/// Whether the library multiplies float64.
extern const bool multiplies_float64;

}  // namespace products
