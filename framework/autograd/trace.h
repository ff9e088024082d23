// Trace: scopes in which steps remember more than backward needs, for those who look at a tape or
// search for the origin of a NaN. Outside them none of it costs anything.
#pragma once

#include <string>
#include <utility>

namespace gradus {

/// While one lives, on this thread, every step keeps the value it computed and the path of the
/// module it belongs to, for Tape to show.
class [[nodiscard]] TapeTrace {
 public:
  [[nodiscard]] TapeTrace() noexcept { ++alive_; }
  TapeTrace(const TapeTrace&) = delete;
  TapeTrace& operator=(const TapeTrace&) = delete;
  ~TapeTrace() { --alive_; }

  static bool is_active() noexcept { return alive_ > 0; }

 private:
  static inline constinit thread_local int alive_ = 0;
};

/// A TapeTrace that also reads every result and every gradient, and throws AutogradError at the
/// first op that turns finite numbers into NaN or infinity (or infinite ones into NaN), naming op,
/// module and index. A masked_fill is taken to mean the infinity it writes. Slow: for finding a
/// fault.
class [[nodiscard]] NanTrace : public TapeTrace {
 public:
  [[nodiscard]] NanTrace() noexcept { ++alive_; }
  ~NanTrace() { --alive_; }

  static bool is_active() noexcept { return alive_ > 0; }

 private:
  friend class NanTracePause;
  static inline constinit thread_local int alive_ = 0;
};

/// While one lives, a NanTrace outside it looks at nothing on this thread: the ops of a rule are
/// nobody's, and backward looks at what the rule makes of them.
class [[nodiscard]] NanTracePause {
 public:
  [[nodiscard]] NanTracePause() noexcept : traces_(std::exchange(NanTrace::alive_, 0)) {}
  NanTracePause(const NanTracePause&) = delete;
  NanTracePause& operator=(const NanTracePause&) = delete;
  ~NanTracePause() { NanTrace::alive_ = traces_; }

 private:
  int traces_;
};

/// A part of the path of modules on this thread, for the length of a scope. Layers push their names
/// while a TapeTrace lives.
class [[nodiscard]] PathPart {
 public:
  [[nodiscard]] explicit PathPart(const std::string& name);
  PathPart(const PathPart&) = delete;
  PathPart& operator=(const PathPart&) = delete;
  ~PathPart();
};

/// The path of this thread's module, as "encoder.layers.1.attention"; empty outside a trace. The
/// text lives for ever.
const char* current_path();

}  // namespace gradus
