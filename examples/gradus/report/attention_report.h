// Attention report: where the answers of the reversing model look. Digit i of the answer is digit
// length-1-i of the question, so that in a head that does the work the weights form an
// anti-diagonal.
#pragma once

#include "examples/gradus/session.h"

namespace examples {

/// On stdout: one head's weights on the first held-out question, of the head that looks most at the
/// mirrored digit. The session's task must be reverse.
void report_mirrored_attention(Session& session);

}  // namespace examples
