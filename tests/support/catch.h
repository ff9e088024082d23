// Catch2 under one spelling, whether the machine has 2.13 or 3.x. Tests write the names of 3.x
// (Catch::Approx, Catch::Matchers::ContainsSubstring, ...); 2.13 is given those it lacks.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>

#include <string>

namespace Catch {
using Detail::Approx;
namespace Matchers {
using Impl::MatcherBase;
inline auto ContainsSubstring(const std::string& text) { return Contains(text); }
}  // namespace Matchers
}  // namespace Catch
#endif
