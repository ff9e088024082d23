// Gradient checks as one line of a test, which on failure shows the report of gradcheck():
//
//     CHECK_GRADIENTS([](const Tensor& q, const Tensor& k) { return matmul(q, k); }, {q, k});
//     CHECK_GRADIENTS(matmul, {q, k}, {.order = 2});
#pragma once

#include "framework/gradcheck/gradcheck.h"
#include "tests/support/catch.h"

#define GRADUS_CHECK_REPORT(...)                                   \
  do {                                                             \
    const ::gradus::GradcheckReport gradcheck_report(__VA_ARGS__); \
    INFO(gradcheck_report);                                        \
    CHECK(gradcheck_report.passed());                              \
  } while (false)

/// gradcheck(function, inputs, options) passes.
#define CHECK_GRADIENTS(...) GRADUS_CHECK_REPORT(::gradus::gradcheck(__VA_ARGS__))
/// gradgradcheck(function, inputs, options) passes.
#define CHECK_SECOND_GRADIENTS(...) GRADUS_CHECK_REPORT(::gradus::gradgradcheck(__VA_ARGS__))
