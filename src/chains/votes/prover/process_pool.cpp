#include "chains/votes/prover/process_pool.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <system_error>
#include <utility>

namespace chains::votes::prover {

namespace {

constexpr int orphans_looked_for_ms = 1'000;

}  // namespace

ProcessPool::ProcessPool(CommandProgram program, const base::StopToken& stop)
    : program_(std::move(program)), stop_(stop), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wake_.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
    thread_ = std::thread([this] { run(); });
}

ProcessPool::~ProcessPool() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    wake();
    thread_.join();
}

Launched ProcessPool::start(base::Deadline deadline) {
    Order order([this, deadline] { return launch(program_, deadline, stop_, &children_); });
    std::future<Launched> launched = order.get_future();
    {
        const std::lock_guard lock(mutex_);
        orders_.push_back(std::move(order));
    }
    wake();
    return launched.get();
}

void ProcessPool::warm_up(std::size_t idle, base::Deadline deadline) {
    {
        const std::lock_guard lock(mutex_);
        wanted_idle_.emplace(idle, deadline);
    }
    wake();
}

std::size_t ProcessPool::missing(std::size_t idle) const {
    const std::lock_guard lock(mutex_);
    if (!orders_.empty() || ended_ || stop_.stop_requested()) return 0;
    return idle - std::min(idle, idle_.size());
}

// Those somebody waits for go first; what is missing then is asked for again. One that is taken
// meanwhile is not missing: it was started to be taken.
void ProcessPool::start_idle(std::size_t idle, base::Deadline deadline) {
    for (std::size_t left = missing(idle); left > 0 && missing(idle) > 0; --left) {
        Launched launched = launch(program_, deadline, stop_, &children_);
        auto* const process = std::get_if<Process>(&launched);
        // The proof that misses it says why.
        if (process == nullptr) return;
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(*process));
    }
}

ProcessPool::Process ProcessPool::take_idle() {
    for (;;) {
        Process process;
        {
            const std::lock_guard lock(mutex_);
            if (idle_.empty()) return nullptr;
            process = std::move(idle_.back());
            idle_.pop_back();
        }
        if (process->is_quiet()) return process;
    }
}

void ProcessPool::keep(Process process) {
    {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(process));
    }
    wake();
}

void ProcessPool::run() {
    for (;;) {
        wait();
        std::deque<Order> orders;
        std::optional<std::pair<std::size_t, base::Deadline>> wanted;
        {
            const std::lock_guard lock(mutex_);
            if (ended_) return;
            orders.swap(orders_);
            wanted = std::exchange(wanted_idle_, {});
        }
        take_useless().clear();
        discard_errors();
        if (adopts_orphans_) children_.reap_orphans();
        for (Order& order : orders) order();
        if (wanted) start_idle(wanted->first, wanted->second);
    }
}

void ProcessPool::wait() const {
    std::vector<pollfd> polled{{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
    const bool stopping = stop_.stop_requested();
    if (!stopping) polled.push_back({.fd = stop_.descriptor(), .events = POLLIN, .revents = 0});
    {
        const std::lock_guard lock(mutex_);
        // They became useless after the last look at them, and nothing else would say so.
        if (stopping && !idle_.empty()) return;
        for (const Process& process : idle_) {
            polled.push_back({.fd = process->handle(), .events = POLLIN, .revents = 0});
            polled.push_back({.fd = process->errors(), .events = POLLIN, .revents = 0});
        }
    }
    ::poll(polled.data(), polled.size(), adopts_orphans_ ? orphans_looked_for_ms : -1);
    std::uint64_t count = 0;
    [[maybe_unused]] const auto read = ::read(wake_.get(), &count, sizeof count);
}

void ProcessPool::discard_errors() {
    const std::lock_guard lock(mutex_);
    for (const Process& process : idle_) process->discard_errors();
}

void ProcessPool::wake() const {
    const std::uint64_t one = 1;
    // Fails only when it is readable already.
    [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
}

std::vector<ProcessPool::Process> ProcessPool::take_useless() {
    std::vector<Process> useless;
    const std::lock_guard lock(mutex_);
    const auto is_useful = [this](const Process& process) {
        return !stop_.stop_requested() && !process->end();
    };
    const auto first = std::stable_partition(idle_.begin(), idle_.end(), is_useful);
    std::move(first, idle_.end(), std::back_inserter(useless));
    idle_.erase(first, idle_.end());
    return useless;
}

}  // namespace chains::votes::prover
