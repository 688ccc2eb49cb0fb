#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/task_group.hpp"

namespace chains::evm {

// A queue whose items are worked off in batches. As long as all tasks are busy newcomers
// gather, so the batches grow with the load and few tasks suffice. Any thread.
template <typename Item>
class CallBatcher {
public:
    using Work = std::function<void(std::vector<Item>)>;

    // `work` gets at least one item and at most `batch_max`, in up to `tasks_max` errands at once.
    CallBatcher(engine::TaskGroup& task_group, std::size_t batch_max, std::size_t tasks_max,
                Work work)
        : task_group_(task_group),
          batch_max_(std::max<std::size_t>(batch_max, 1)),
          tasks_max_(tasks_max),
          work_(std::move(work)) {}

    // Returns at once.
    void add(std::vector<Item> items) {
        const std::lock_guard lock{mutex_};
        std::ranges::move(items, std::back_inserter(waiting_));
        start_tasks_locked();
    }

private:
    // One task for each batch that waits, those counted that have not taken theirs yet.
    void start_tasks_locked() {
        while (tasks_ < tasks_max_ && empty_handed_ * batch_max_ < waiting_.size()) {
            ++tasks_;
            ++empty_handed_;
            task_group_.run_after(domain::Milliseconds{0}, [this] { run(); });
        }
    }

    void run() {
        if (std::vector<Item> batch = take(); !batch.empty()) work_(std::move(batch));
        const std::lock_guard lock{mutex_};
        --tasks_;
        start_tasks_locked();
    }

    [[nodiscard]] std::vector<Item> take() {
        const std::lock_guard lock{mutex_};
        --empty_handed_;
        const auto end =
            waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(batch_max_, waiting_.size()));
        std::vector<Item> batch{std::move_iterator{waiting_.begin()}, std::move_iterator{end}};
        waiting_.erase(waiting_.begin(), end);
        return batch;
    }

    engine::TaskGroup& task_group_;
    const std::size_t batch_max_;
    const std::size_t tasks_max_;
    const Work work_;

    std::mutex mutex_;
    std::deque<Item> waiting_;
    std::size_t tasks_ = 0;
    std::size_t empty_handed_ = 0;
};

}  // namespace chains::evm
