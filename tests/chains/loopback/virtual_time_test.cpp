#include "support/virtual_time.hpp"

#include <doctest/doctest.h>

using domain::Milliseconds;

TEST_CASE("virtual tasks run by due time, equal ones as they came") {
    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    const domain::Monotonic start = clock.monotonic();
    std::string order;
    executor.run_after(Milliseconds{20}, [&] { order += 'c'; });
    executor.run_after(Milliseconds{10}, [&] {
        order += 'a';
        executor.run([&] { order += 'x'; });
    });
    executor.run_after(Milliseconds{10}, [&] { order += 'b'; });
    CHECK(executor.next_due() == start + Milliseconds{10});

    executor.run_due();
    CHECK(order.empty());
    executor.run_until(start + Milliseconds{15});
    CHECK(order == "abx");
    CHECK(clock.monotonic() == start + Milliseconds{15});
    executor.run_for(Milliseconds{5});
    CHECK(order == "abxc");
    CHECK_FALSE(executor.next_due());

    executor.run([&] { order += '!'; });
    executor.drop_all();
    CHECK_FALSE(executor.run_next());
    CHECK(order == "abxc");
}

TEST_CASE("the wall clock steps without time passing") {
    support::VirtualClock clock;
    const domain::Timestamp wall = clock.wall();
    const domain::Monotonic monotonic = clock.monotonic();
    clock.step_wall(Milliseconds{-5'000});
    CHECK(clock.wall() == wall - Milliseconds{5'000});
    CHECK(clock.monotonic() == monotonic);
    clock.advance(Milliseconds{30});
    CHECK(clock.wall() == wall - Milliseconds{4'970});
    CHECK(clock.monotonic() == monotonic + Milliseconds{30});
}
