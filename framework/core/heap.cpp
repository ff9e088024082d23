#include "framework/core/heap_internal.h"

#include <new>
#include <utility>

namespace gradus {
namespace {

// A rest that is smaller stays with its block: a heap is asked for larger ones.
constexpr std::size_t kSmallestRest = Heap::region_size(4096);

}  // namespace

void* Heap::take(std::size_t bytes) {
  const std::size_t size = region_size(bytes);
  const auto found = free_.lower_bound({size, nullptr});
  if (found == free_.end()) return nullptr;
  Piece* piece = found->second;
  Piece* rest = piece->bytes >= size + kSmallestRest ? new_rest(piece, size) : nullptr;
  piece->place.emplace(free_.extract(found));
  if (rest) put_between(piece, rest);
  free_bytes_ -= piece->bytes;
  return piece + 1;
}

void Heap::give_back(void* block) noexcept {
  Piece* piece = static_cast<Piece*>(block) - 1;
  free_bytes_ += piece->bytes;
  if (piece->after && piece->after->is_free()) {
    free_.erase(piece->after->key());
    join_next(piece);
  }
  if (piece->before && piece->before->is_free()) {
    Piece* before = piece->before;
    free_.erase(before->key());
    before->place.emplace(std::move(*piece->place));
    piece->place.reset();
    join_next(before);
    piece = before;
  }
  piece->place->value() = piece->key();
  free_.insert(std::move(*piece->place));
  piece->place.reset();
}

void Heap::add_region(void* memory, std::size_t size) {
  free_.insert((new (memory) Piece{.bytes = size})->key());
  region_bytes_ += size;
  free_bytes_ += size;
}

void* Heap::remove_free_region() noexcept {
  for (auto place = free_.rbegin(); place != free_.rend(); ++place) {
    Piece* piece = place->second;
    if (piece->before || piece->after) continue;
    free_.erase(piece->key());
    region_bytes_ -= piece->bytes;
    free_bytes_ -= piece->bytes;
    return piece;
  }
  return nullptr;
}

/// What a piece has beyond `bytes` as a free piece, not yet among its neighbours.
Heap::Piece* Heap::new_rest(Piece* piece, std::size_t bytes) {
  void* memory = reinterpret_cast<std::byte*>(piece) + bytes;
  auto* rest =
      new (memory) Piece{.bytes = piece->bytes - bytes, .before = piece, .after = piece->after};
  free_.insert(rest->key());
  return rest;
}

void Heap::put_between(Piece* piece, Piece* rest) noexcept {
  piece->bytes -= rest->bytes;
  piece->after = rest;
  if (rest->after) rest->after->before = rest;
}

/// Adds the piece behind to a piece, neither of which is in free_.
void Heap::join_next(Piece* piece) noexcept {
  const Piece* next = piece->after;
  piece->bytes += next->bytes;
  piece->after = next->after;
  if (piece->after) piece->after->before = piece;
}

}  // namespace gradus
