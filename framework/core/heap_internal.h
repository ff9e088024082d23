// Heap: blocks cut from regions of memory. A block that is given back joins its free neighbours, so
// that memory which held the activations of a step can hold its gradients. Has no lock.
#pragma once

#include <cstddef>
#include <limits>
#include <memory_resource>
#include <optional>
#include <set>
#include <utility>

namespace gradus {

class Heap {
 public:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kMostBytes = std::numeric_limits<std::size_t>::max() / 4;

  /// The size of a region that holds one block of so many bytes, at most kMostBytes.
  static constexpr std::size_t region_size(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment + sizeof(Piece);
  }

  /// A block of the smallest free piece that holds it, of equal ones the first in memory: where it
  /// lies depends on what is in use alone. Null where there is none. Throws std::bad_alloc.
  void* take(std::size_t bytes);
  void give_back(void* block) noexcept;

  /// Adds memory of `size` bytes, aligned, which is free at first. Throws std::bad_alloc.
  void add_region(void* memory, std::size_t size);
  /// The largest region no block of which is in use leaves the heap; null where there is none.
  void* remove_free_region() noexcept;

  std::size_t region_bytes() const { return region_bytes_; }
  std::size_t free_bytes() const { return free_bytes_; }

 private:
  struct Piece;
  using FreePieces = std::pmr::set<std::pair<std::size_t, Piece*>>;  // the smallest first

  /// The head of a piece of a region; its block, or what is free, comes right behind.
  struct alignas(kAlignment) Piece {
    std::size_t bytes;        ///< this head included
    Piece* before = nullptr;  ///< in the region, null at its start
    Piece* after = nullptr;
    std::optional<FreePieces::node_type> place{};  ///< among the free ones, while it is in use

    bool is_free() const { return !place; }
    FreePieces::value_type key() { return {bytes, this}; }
  };

  Piece* new_rest(Piece* piece, std::size_t bytes);
  static void put_between(Piece* piece, Piece* rest) noexcept;
  static void join_next(Piece* piece) noexcept;

  // The memory of their places is used again and again, too.
  std::pmr::unsynchronized_pool_resource places_{std::pmr::new_delete_resource()};
  FreePieces free_{&places_};
  std::size_t region_bytes_ = 0;
  std::size_t free_bytes_ = 0;
};

}  // namespace gradus
