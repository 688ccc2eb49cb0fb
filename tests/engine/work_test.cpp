#include "engine/work.hpp"

#include <doctest/doctest.h>

#include <random>

using domain::Family;
using engine::Task;
using engine::Work;

namespace {

bool is_same(const Work& a, const std::unordered_map<Work::Id, Work::Entry>& b) {
    if (a.busy() != b.size()) return false;
    for (const auto& [id, entry] : b) {
        const auto found = a.entries().find(id);
        if (found == a.entries().end() || found->second.task != entry.task ||
            found->second.family != entry.family) {
            return false;
        }
    }
    return true;
}

}  // namespace

TEST_CASE("an answer ends only the work it answers") {
    Work work;
    work.begin(1, {Task::prepare, Family::share});
    CHECK(work.contains(1));
    CHECK_FALSE(work.end(1, Task::send));
    CHECK_FALSE(work.end(2, Task::prepare));
    const auto entry = work.end(1, Task::prepare);
    REQUIRE(entry);
    CHECK(entry->family == Family::share);
    CHECK_FALSE(work.contains(1));
    CHECK_FALSE(work.end(1, Task::prepare));
}

TEST_CASE("what rests between two orders is there, but nobody is busy with it") {
    Work work;
    work.begin(1, {Task::send, Family::user_decrypt});
    work.begin(2, {Task::rest, Family::input_proof});
    CHECK(work.busy() == 1);
    work.keep();
    CHECK(work.end(2, Task::rest));
    work.begin(2, {Task::send, Family::input_proof});
    CHECK(work.busy() == 2);
    work.undo();
    CHECK(work.busy() == 1);
    CHECK(work.contains(2));
    work.begin(3, {Task::rest, Family::input_proof});
    work.undo();
    CHECK(work.busy() == 1);
    CHECK_FALSE(work.contains(3));
}

TEST_CASE("undo brings back exactly what the last kept step left") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 chance{seed};
        Work work;
        for (int step = 0; step < 200; ++step) {
            const auto before = work.entries();
            for (int change = 0; change < 12; ++change) {
                const auto id = static_cast<Work::Id>(chance() % 8);
                const auto task = static_cast<Task>(chance() % 3);
                if (work.contains(id)) {
                    (void)work.end(id, task);
                } else {
                    work.begin(id, {task, static_cast<Family>(chance() % 4)});
                }
            }
            if (chance() % 2 == 0) {
                work.keep();
            } else {
                work.undo();
                REQUIRE(is_same(work, before));
            }
        }
    }
}
