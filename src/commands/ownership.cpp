#include "commands/ownership.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include "cluster/migration.hpp"
#include "store/journal_position.hpp"

namespace commands {

using domain::Milliseconds;

namespace {

// As others tell how far they are.
constexpr Milliseconds progress_interval{1'000};

}  // namespace

Ownership::Ownership(Parts parts, const cluster::Instance& instance,
                     const cluster::Succession::Won& won, const store::JournalPosition& position)
    : parts_(std::move(parts)),
      self_{parts_.book.options.node, instance, parts_.book.options.url},
      lease_(parts_.book.clock, parts_.book.options.lease, won.epoch, won.sent),
      keeper_(*parts_.lease, lease_, parts_.book.options.lease, self_, parts_.book.clock,
              parts_.book.logger),
      writer_({parts_.journal, *parts_.book.options.keys, lease_, parts_.book.random,
               parts_.book.clock, parts_.book.logger,
               [&clock = parts_.book.clock] {
                   return cluster::EntryTimes{clock.wall(), clock.wall()};
               },
               [](Milliseconds time) { std::this_thread::sleep_for(time); }},
              {self_, parts_.book.options.durability,
               static_cast<std::uint32_t>(store::newest_schema()), parts_.book.options.lease},
              position),
      keeper_thread_([this] { keep_lease(); }),
      watch_thread_([this] { watch_lease(); }) {}

Ownership::~Ownership() {
    stop_threads();
}

void Ownership::migrate_file() {
    if (!cluster::bring_to_newest_schema(parts_.book.file, writer_)) return;
    parts_.book.logger.write(ports::LogLevel::info,
                             "book_migrated schema=" + std::to_string(store::newest_schema()));
}

void Ownership::stop_threads() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    wakes_.notify_all();
    if (keeper_thread_.joinable()) keeper_thread_.join();
    if (watch_thread_.joinable()) watch_thread_.join();
}

bool Ownership::sleep(Milliseconds time) {
    std::unique_lock lock{mutex_};
    return !wakes_.wait_for(lock, time, [this] { return stopping_; });
}

void Ownership::keep_lease() {
    Milliseconds pause{0};  // there may be little left of it
    domain::Monotonic next_progress{};
    while (sleep(pause)) {
        pause = keeper_.step(writer_.stable());
        if (pause == Milliseconds::zero()) return;  // the other thread sees it
        const domain::Monotonic now = parts_.book.clock.monotonic();
        if (now < next_progress) continue;
        next_progress = now + progress_interval;
        static_cast<void>(
            parts_.lease->progress(self_.node, writer_.stable(), parts_.book.clock.wall()));
    }
}

void Ownership::watch_lease() {
    constexpr Milliseconds longest{100};
    while (lease_.is_held()) {
        const auto left = std::chrono::ceil<Milliseconds>(lease_.left());
        if (!sleep(std::min(left, longest))) return;
    }
    parts_.ended();
}

std::string Ownership::why_ended() const {
    return lease_.ended().value_or("no renewal was acknowledged in time");
}

void Ownership::resign() {
    if (!lease_.is_held()) return;
    stop_threads();
    const std::int64_t epoch = lease_.epoch();
    lease_.end("the book was given back");
    const auto outcome = parts_.journal.resign(epoch, self_.instance);
    if (std::holds_alternative<cluster::Done>(outcome)) {
        parts_.book.logger.write(ports::LogLevel::info,
                                 "book_given_back epoch=" + std::to_string(epoch));
    }
}

}  // namespace commands
