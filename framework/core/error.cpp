#include "framework/core/error.h"

namespace gradus {
namespace {

std::string message(const std::string& summary, const ErrorDetails& details) {
  std::string lines = summary;
  if (!details.got.empty()) lines += "\n  got    " + details.got;
  if (!details.need.empty()) lines += "\n  need   " + details.need;
  if (!details.hint.empty()) lines += "\n  hint   " + details.hint;
  return lines;
}

}  // namespace

Error::Error(const std::string& summary, const ErrorDetails& details)
    : std::runtime_error(message(summary, details)) {}

}  // namespace gradus
