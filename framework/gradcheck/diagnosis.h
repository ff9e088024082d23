// Diagnosis: what kind of fault a wrong gradient shows, told from patterns over the whole tensor.
// It speaks only where a pattern holds in every element that can tell it from another one; two
// faults at once, or a fault of no pattern, are called unclear.
#pragma once

#include <string>

#include "framework/core/shape.h"

namespace gradus {

enum class Fault {
  none,          ///< nothing is wrong, or too little to see a pattern in
  unclear,       ///< wrong in most places, by no pattern known here
  factor,        ///< a constant factor, sign included
  sign,          ///< the factor -1
  transpose,     ///< the right numbers, two axes exchanged
  disconnected,  ///< zero, everywhere or in some elements, where it must not be
  row_sum,       ///< a sum or mean along an axis is lost, as in the rule of softmax
  leak,          ///< not zero only where the function does not change: masked positions
  accumulation,  ///< part of what is to be added up is lost: overwritten, or never added
};

/// "constant factor", "flipped sign" ...
const char* fault_name(Fault fault);

struct Diagnosis {
  Fault fault = Fault::none;
  double ratio = 0.0;     ///< of a factor or sign: analytic / numeric
  Index holds = 0;        ///< elements in which the pattern holds ...
  Index of = 0;           ///< ... of so many that can tell
  std::string pattern{};  ///< what is seen: "ratio 2.82843 = sqrt(8) in 12 of 12 elements"
  std::string cause{};    ///< what that suggests; empty where nothing
};

}  // namespace gradus
