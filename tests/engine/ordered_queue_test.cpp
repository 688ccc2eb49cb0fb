#include "engine/ordered_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <random>

using engine::OrderedQueue;
using Id = OrderedQueue::Id;

namespace {

// What an ordered queue promises, in the simplest way that is right.
struct NaiveQueue {
    std::deque<Id> members;

    [[nodiscard]] std::optional<std::size_t> position(Id id) const {
        const auto found = std::find(members.begin(), members.end(), id);
        if (found == members.end()) return std::nullopt;
        return static_cast<std::size_t>(found - members.begin());
    }
    bool push_back(Id id) {
        if (position(id)) return false;
        members.push_back(id);
        return true;
    }
    bool remove(Id id) {
        const auto place = position(id);
        if (!place) return false;
        members.erase(members.begin() + static_cast<std::ptrdiff_t>(*place));
        return true;
    }
    std::optional<Id> pop_front() {
        if (members.empty()) return std::nullopt;
        const Id id = members.front();
        members.pop_front();
        return id;
    }
};

bool is_same(const OrderedQueue& queue, const NaiveQueue& model) {
    if (queue.size() != model.members.size() || queue.empty() != model.members.empty()) {
        return false;
    }
    for (std::size_t place = 0; place < model.members.size(); ++place) {
        if (queue.position(model.members[place]) != place) return false;
    }
    return queue.front() ==
           (model.members.empty() ? std::nullopt : std::optional(model.members.front()));
}

struct Weights {
    const char* label;
    unsigned back;
    unsigned remove;
    unsigned pop;
};

}  // namespace

TEST_CASE("an ordered queue does what a plain one does, whatever is asked in whatever order") {
    const Weights mixes[]{
        {"even", 50, 25, 25},
        {"grows", 70, 20, 10},
        {"gaps in the middle", 50, 45, 5},
        {"a line that moves on", 50, 0, 50},
        {"drains", 25, 40, 35},
    };
    for (const Weights& mix : mixes) {
        CAPTURE(mix.label);
        for (unsigned seed = 1; seed <= 3; ++seed) {
            CAPTURE(seed);
            std::mt19937_64 chance{seed};
            OrderedQueue queue;
            NaiveQueue model;
            const unsigned total = mix.back + mix.remove + mix.pop;
            bool same = true;
            for (int step = 0; step < 4'000 && same; ++step) {
                CAPTURE(step);
                const Id id = static_cast<Id>(chance() % 1'500);
                unsigned pick = static_cast<unsigned>(chance() % total);
                if (pick < mix.back) {
                    same = queue.push_back(id) == model.push_back(id);
                } else if (pick < mix.back + mix.remove) {
                    same = queue.remove(id) == model.remove(id);
                } else {
                    same = queue.pop_front() == model.pop_front();
                }
                const Id other = static_cast<Id>(chance() % 1'500);
                same = same && queue.position(other) == model.position(other) &&
                       queue.contains(other) == model.position(other).has_value();
                if (step % 97 == 0) same = same && is_same(queue, model);
                REQUIRE(same);
            }
            CHECK(is_same(queue, model));
        }
    }
}

TEST_CASE("a cleared queue is as good as a new one") {
    OrderedQueue queue;
    for (Id id = 0; id < 1'000; ++id) queue.push_back(id);
    queue.clear();
    CHECK(queue.empty());
    CHECK_FALSE(queue.front());
    CHECK_FALSE(queue.pop_front());
    CHECK_FALSE(queue.position(5));
    CHECK_FALSE(queue.remove(5));
    CHECK(queue.push_back(5));
    CHECK(queue.push_back(4));
    CHECK(queue.position(4) == 1);
}

TEST_CASE("a long line that only moves on stays small and right") {
    OrderedQueue queue;
    for (Id id = 0; id < 200'000; ++id) {
        queue.push_back(id);
        if (id >= 10) CHECK(queue.pop_front() == id - 10);
    }
    CHECK(queue.size() == 10);
    CHECK(queue.position(199'999) == 9);
}

TEST_CASE("T-140 items leave in order of insertion and a second push changes nothing") {
    OrderedQueue queue;
    for (const Id id : {30, 10, 20}) CHECK(queue.push_back(id));
    CHECK_FALSE(queue.push_back(30));
    CHECK_FALSE(queue.push_back(20));
    CHECK(queue.size() == 3);
    CHECK(queue.position(30) == 0);
    CHECK(queue.position(10) == 1);
    CHECK(queue.position(20) == 2);
    CHECK(queue.pop_front() == 30);
    CHECK(queue.position(10) == 0);
    CHECK(queue.position(20) == 1);
}
