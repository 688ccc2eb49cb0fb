#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace net {

// How many bytes all connections together may hold: in buffers larger than the smallest, or in
// answers that wait for their peers. Any thread.
class ByteBudget {
public:
    explicit ByteBudget(std::size_t bytes_max)
        : bytes_max_(static_cast<std::ptrdiff_t>(bytes_max)), left_(bytes_max_) {}

    [[nodiscard]] bool take(std::size_t bytes) {
        const auto wanted = static_cast<std::ptrdiff_t>(bytes);
        if (left_.fetch_sub(wanted, std::memory_order_relaxed) >= wanted) return true;
        give_back(bytes);
        return false;
    }
    void give_back(std::size_t bytes) {
        left_.fetch_add(static_cast<std::ptrdiff_t>(bytes), std::memory_order_relaxed);
    }
    [[nodiscard]] std::size_t bytes_max() const { return static_cast<std::size_t>(bytes_max_); }
    [[nodiscard]] std::size_t taken() const {
        const auto taken = bytes_max_ - left_.load(std::memory_order_relaxed);
        return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(taken, 0, bytes_max_));
    }

private:
    const std::ptrdiff_t bytes_max_;
    std::atomic<std::ptrdiff_t> left_;
};

// A part of a budget, until its end.
class BudgetPart {
public:
    explicit BudgetPart(ByteBudget& budget) : budget_(budget) {}
    BudgetPart(const BudgetPart&) = delete;
    BudgetPart& operator=(const BudgetPart&) = delete;
    ~BudgetPart() { budget_.give_back(bytes_); }

    // False: the budget is used up. Whoever holds a part already keeps that one; more than there is
    // may be held by one alone.
    [[nodiscard]] bool hold(std::size_t bytes) {
        if (bytes_ > 0) return true;
        bytes = std::min(bytes, budget_.bytes_max());
        if (!budget_.take(bytes)) return false;
        bytes_ = bytes;
        return true;
    }

private:
    ByteBudget& budget_;
    std::size_t bytes_ = 0;
};

// Bytes that arrived and are not used up, in one piece. Costs nothing while it is empty and
// released; a small one may be kept for the next request without touching the budget.
class InputBuffer {
public:
    static constexpr std::size_t small_bytes = 4096;

    explicit InputBuffer(ByteBudget& budget) : budget_(&budget) {}
    InputBuffer(const InputBuffer&) = delete;
    InputBuffer& operator=(const InputBuffer&) = delete;
    ~InputBuffer() { release(); }

    [[nodiscard]] std::string_view bytes() const { return {data_.get(), size_}; }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    // Where the next bytes go.
    [[nodiscard]] std::span<char> space() { return {data_.get() + size_, capacity_ - size_}; }
    void filled(std::size_t count) { size_ += count; }

    // Makes room for `capacity` bytes in all; false: the budget is used up. Views move.
    [[nodiscard]] bool reserve(std::size_t capacity) {
        if (capacity <= capacity_) return true;
        capacity = std::max(capacity, small_bytes);
        if (!budget_->take(charge(capacity))) return false;
        auto grown = std::make_unique_for_overwrite<char[]>(capacity);
        if (size_ > 0) std::memcpy(grown.get(), data_.get(), size_);
        budget_->give_back(charge(capacity_));
        data_ = std::move(grown);
        capacity_ = capacity;
        return true;
    }

    // Drops the first `count` bytes; the rest moves to the front.
    void consume(std::size_t count) { remove(0, count); }

    // Drops `count` bytes from `place` on; what is behind them moves there.
    void remove(std::size_t place, std::size_t count) {
        assert(place + count <= size_);
        const std::size_t behind = size_ - place - count;
        if (behind > 0) std::memmove(data_.get() + place, data_.get() + place + count, behind);
        size_ -= count;
    }
    // Copies bytes of the buffer to an earlier place in it.
    void move_to(std::size_t place, std::string_view own) {
        assert(place + own.size() <= size_);
        std::memmove(data_.get() + place, own.data(), own.size());
    }

    void release() {
        budget_->give_back(charge(capacity_));
        data_.reset();
        size_ = capacity_ = 0;
    }

private:
    static std::size_t charge(std::size_t capacity) {
        return capacity > small_bytes ? capacity : 0;
    }

    ByteBudget* budget_;
    std::unique_ptr<char[]> data_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace net
