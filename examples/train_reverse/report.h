// The report, on stdout: what is about to be trained, and what came of it.
#pragma once

#include <span>
#include <string>

#include "examples/train_reverse/model.h"
#include "examples/train_reverse/options.h"
#include "examples/train_reverse/task.h"
#include "examples/train_reverse/training.h"

namespace examples {

void report_settings(const Options& options, const Data& data, const ReverseModel& model);

/// Of the held-out sequences `exact` came out right.
void report_results(const Training& training, double target, std::size_t exact,
                    std::size_t held_out);

/// A few of them, mistakes first.
void report_predictions(std::span<const Sequence> sequences, std::span<const Sequence> predictions);

/// One head's attention weights on the first held-out sequence: of the head that looks most at the
/// mirrored position.
void report_attention(const ReverseModel& model, const Data& data);

/// Commands to go on with.
void report_next(const std::string& program);

}  // namespace examples
