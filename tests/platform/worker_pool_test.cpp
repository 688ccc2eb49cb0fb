#include "platform/worker_pool.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

using namespace std::chrono_literals;

namespace {

// Long for a machine that is busy, never waited for when all is well.
constexpr auto patience = 20s;

void wait_for(std::promise<void>& promise) {
    REQUIRE(promise.get_future().wait_for(patience) == std::future_status::ready);
}

}  // namespace

TEST_CASE("one worker runs tasks in the order they came") {
    platform::WorkerPool pool{1};
    std::vector<int> order;
    std::promise<void> done;
    for (int i = 0; i < 100; ++i) pool.run([&order, i] { order.push_back(i); });
    pool.run([&done] { done.set_value(); });
    wait_for(done);

    REQUIRE(order.size() == 100);
    for (int i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("as many tasks run at once as there are workers") {
    platform::WorkerPool pool{3};
    std::mutex mutex;
    std::set<std::thread::id> threads;
    std::promise<void> all_here;
    const std::shared_future<void> meeting{all_here.get_future()};
    std::promise<void> last_left;
    std::atomic<int> left = 3;
    std::atomic<bool> met = true;

    for (int i = 0; i < 3; ++i) {
        pool.run([&, meeting] {
            {
                const std::lock_guard lock{mutex};
                threads.insert(std::this_thread::get_id());
                if (threads.size() == 3) all_here.set_value();
            }
            if (meeting.wait_for(patience) != std::future_status::ready) met = false;
            if (--left == 0) last_left.set_value();
        });
    }
    wait_for(last_left);
    CHECK(met);
    CHECK(threads.size() == 3);
}

TEST_CASE("delayed tasks run when they are due, earliest first, none early") {
    platform::WorkerPool pool{1};
    std::vector<int> order;
    std::promise<void> done;
    std::optional<std::chrono::steady_clock::duration> first_after;
    const auto start = std::chrono::steady_clock::now();

    pool.run_after(15ms, [&] {
        order.push_back(15);
        done.set_value();
    });
    pool.run_after(10ms, [&] { order.push_back(10); });
    pool.run_after(5ms, [&] {
        first_after = std::chrono::steady_clock::now() - start;
        order.push_back(5);
    });
    pool.run_after(-1h, [&] { order.push_back(0); });
    wait_for(done);

    CHECK(order == std::vector{0, 5, 10, 15});
    REQUIRE(first_after);
    CHECK(*first_after >= 5ms);
}

TEST_CASE("a delay beyond all bounds never comes due") {
    platform::WorkerPool pool{1};
    std::atomic<bool> ran = false;
    std::promise<void> done;
    pool.run_after(domain::Milliseconds::max(), [&] { ran = true; });
    pool.run_after(2ms, [&] { done.set_value(); });
    wait_for(done);
    CHECK_FALSE(ran);
}

TEST_CASE("the destructor finishes what runs and drops what waits") {
    std::atomic<int> finished = 0;
    std::atomic<int> dropped_ran = 0;
    const auto held = std::make_shared<int>(1);
    std::promise<void> running;
    std::promise<void> released;
    std::thread releaser;
    {
        platform::WorkerPool pool{1};
        pool.run([&, held] {
            running.set_value();
            CHECK(released.get_future().wait_for(patience) == std::future_status::ready);
            pool.run([&] { ++dropped_ran; });
            ++finished;
        });
        wait_for(running);
        pool.run([&, held] { ++dropped_ran; });
        pool.run_after(0ms, [&, held] { ++dropped_ran; });
        pool.run_after(1h, [&, held] { ++dropped_ran; });
        // Lets go only once the destructor has dropped the three that wait.
        releaser = std::thread{[&] {
            while (held.use_count() > 2) std::this_thread::yield();
            released.set_value();
        }};
    }
    releaser.join();
    CHECK(finished == 1);
    CHECK(dropped_ran == 0);
    CHECK(held.use_count() == 1);
}

TEST_CASE("an idle pool goes away at once") {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) {
        platform::WorkerPool pool{2};
        pool.run_after(1h, [] {});
    }
    CHECK(std::chrono::steady_clock::now() - start < patience);
}

TEST_CASE("tasks handed in from many threads all run once") {
    constexpr int producers = 4;
    constexpr int each = 2'000;
    std::atomic<int> ran = 0;
    std::promise<void> done;
    const auto count = [&] {
        if (++ran == producers * each) done.set_value();
    };
    platform::WorkerPool pool{2};
    std::vector<std::jthread> threads;
    for (int i = 0; i < producers; ++i) {
        threads.emplace_back([&] {
            for (int n = 0; n < each; ++n) {
                if (n % 2 == 0) {
                    pool.run(count);
                } else {
                    pool.run_after(domain::Milliseconds{n % 3}, count);
                }
            }
        });
    }
    wait_for(done);
    CHECK(ran == producers * each);
}
