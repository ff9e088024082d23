// Tape: a view of the steps that led to a result, to walk, to print, and to draw.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "framework/autograd/node.h"

namespace gradus {

/// The steps behind one or several results, leaves included, in the order in which they were taken.
/// Holds them alive. Walk it forwards or, with rbegin and rend, as backward() does.
class Tape {
 public:
  explicit Tape(const Tensor& result) : Tape(std::vector<Tensor>{result}) {}
  /// Results that are not on a tape add nothing.
  explicit Tape(const std::vector<Tensor>& results);

  std::size_t size() const { return steps_.size(); }
  const Node& operator[](std::size_t i) const { return *steps_[i]; }
  auto begin() const { return steps_.begin(); }
  auto end() const { return steps_.end(); }
  auto rbegin() const { return steps_.rbegin(); }
  auto rend() const { return steps_.rend(); }

  /// Position of a step in this tape. Throws ValueError when it is not there.
  std::size_t position(const Node& step) const;

  /// Asks backward() to leave every step's gradient, for printing and for Node::gradient().
  void retain_gradients() const;

 private:
  std::vector<Ref<Node>> steps_;
};

/// Bytes that a step keeps for its rule.
std::size_t saved_bytes(const Node& step);

/// A table with a line per step: number, op, module (inside a TapeTrace), inputs by number, shape,
/// what is saved, its bytes, and the norms of value (inside a TapeTrace) and gradient (where it was
/// left).
std::ostream& operator<<(std::ostream& out, const Tape& tape);

/// The same as a graph in the language of Graphviz: `dot -Tsvg`.
std::string to_dot(const Tape& tape);

}  // namespace gradus
