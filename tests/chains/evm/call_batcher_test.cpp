#include "chains/evm/call_batcher.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <numeric>
#include <vector>

#include "support/virtual_time.hpp"

namespace {

struct BatchHarness {
    explicit BatchHarness(std::size_t batch_max = 10, std::size_t tasks_max = 2)
        : line(task_group, batch_max, tasks_max,
               [this](std::vector<int> batch) { batches.push_back(std::move(batch)); }) {}

    void add(int first, int count) {
        std::vector<int> items(static_cast<std::size_t>(count));
        std::iota(items.begin(), items.end(), first);
        line.add(std::move(items));
    }

    [[nodiscard]] std::vector<std::size_t> sizes() const {
        std::vector<std::size_t> all;
        for (const auto& batch : batches) all.push_back(batch.size());
        return all;
    }

    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    engine::TaskGroup task_group{executor};
    std::vector<std::vector<int>> batches;
    chains::evm::CallBatcher<int> line;
};

TEST_CASE("as many tasks as there are batches, up to the limit") {
    struct Row {
        int items;
        std::size_t tasks;
        std::vector<std::size_t> sizes;
    };
    const std::vector<Row> rows{{0, 0, {}},       {1, 1, {1}},       {10, 1, {10}},
                                {11, 2, {10, 1}}, {20, 2, {10, 10}}, {35, 2, {10, 10, 10, 5}}};
    for (const Row& row : rows) {
        CAPTURE(row.items);
        BatchHarness world;
        world.add(1, row.items);
        CHECK(world.batches.empty());
        CHECK(world.executor.pending() == row.tasks);
        world.executor.run_due();
        CHECK(world.sizes() == row.sizes);
        CHECK(world.executor.pending() == 0);
    }
}

TEST_CASE("items keep their order, also across additions") {
    BatchHarness world{3, 1};
    world.add(1, 2);
    world.add(3, 5);
    world.executor.run_due();
    CHECK(world.batches == std::vector<std::vector<int>>{{1, 2, 3}, {4, 5, 6}, {7}});
    world.add(8, 1);
    world.executor.run_due();
    CHECK(world.batches.back() == std::vector<int>{8});
}

TEST_CASE("a task that has not begun takes newcomers along") {
    BatchHarness world;
    for (int item = 1; item <= 10; ++item) world.add(item, 1);
    CHECK(world.executor.pending() == 1);
    world.executor.run_due();
    CHECK(world.sizes() == std::vector<std::size_t>{10});
}

}  // namespace
