#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/stop_token.hpp"
#include "cluster/database.hpp"
#include "cluster/options.hpp"
#include "cluster/replica.hpp"
#include "cluster/upkeep.hpp"
#include "domain/time.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"
#include "ports/random.hpp"
#include "store/options.hpp"

namespace commands {

// A connection of its own to the book of these options. A call takes no longer than this.
[[nodiscard]] std::unique_ptr<cluster::Database> connect_to_book(const cluster::Options& options,
                                                                 const base::StopToken& stop,
                                                                 domain::Milliseconds timeout);

// A node's own copy of the book and the book itself.
struct BookParts {
    const cluster::Options& options;
    const store::Options& file;
    const ports::Clock& clock;
    ports::Random& random;
    ports::Logger& logger;
    const base::StopToken& stop;
};

// Why there is no snapshot to begin from, now; without secrets.
struct NoSnapshot {
    cluster::Obstacle obstacle = cluster::Obstacle::needs_snapshot;
    std::string reason;
};

// Puts the newest snapshot of the book in the place of the file, which nobody has open; there may
// be none. Nothing: it is there. `look` is called between its parts, and what it throws ends the
// work. Throws what the disk does.
[[nodiscard]] std::optional<NoSnapshot> take_book_snapshot(const BookParts& parts,
                                                           const std::function<void()>& look);

// The thread that keeps the journal bounded: snapshots when they are this node's to make, and of an
// owner what is trimmed.
class BookUpkeep {
public:
    BookUpkeep(const BookParts& parts, bool is_owner);
    ~BookUpkeep();
    BookUpkeep(const BookUpkeep&) = delete;
    BookUpkeep& operator=(const BookUpkeep&) = delete;

private:
    void run();
    void put_snapshot();
    // False: it is to stop.
    [[nodiscard]] bool sleep(domain::Milliseconds time);

    const BookParts parts_;
    const bool is_owner_;
    base::StopToken ends_;  // a call under way, so that nobody waits for a database that is gone
    const std::unique_ptr<cluster::Database> database_;
    cluster::Upkeep upkeep_;

    std::mutex mutex_;  // for what follows
    std::condition_variable wakes_;
    bool stopping_ = false;

    std::jthread thread_;
};

}  // namespace commands
