#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
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
#include "cluster/snapshots.hpp"
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
// be none. Nothing: it is there. Throws what the disk does, and what `look` does.
[[nodiscard]] std::optional<NoSnapshot> take_book_snapshot(const BookParts& parts,
                                                           const cluster::Look& look);

// Where `posthouse cluster init` puts its snapshot, in the data directory.
inline constexpr const char* first_snapshot = "cluster-init.snapshot";

// The snapshot takes the place of the file and of what belongs to it, which become leftovers.
// `look`: as store::scrub() has it.
void replace_file(const store::Options& file, const std::filesystem::path& snapshot,
                  const std::function<void()>& look = {});

// Overwrites and removes copies of the book that a killed process left, and replaced files. Throws
// StorageError. `look`: as store::scrub() has it.
void scrub_leftovers(const store::Options& file, const std::function<void()>& look = {});

// The thread that wipes leftovers, then keeps the journal bounded: snapshots when they are this
// node's to make, and of an owner what is trimmed. Somebody here holds the lock of the directory.
class BookUpkeep {
public:
    explicit BookUpkeep(const BookParts& parts);
    ~BookUpkeep();
    BookUpkeep(const BookUpkeep&) = delete;
    BookUpkeep& operator=(const BookUpkeep&) = delete;

    // The node owns the book from now on; what is under way goes on.
    void note_owner() { is_owner_ = true; }

private:
    void run();
    void put_snapshot();
    // Throws what ends the work, again and again, when it is to stop.
    void look(domain::Milliseconds pause);
    // False: it is to stop.
    [[nodiscard]] bool sleep(domain::Milliseconds time);

    const BookParts parts_;
    std::atomic<bool> is_owner_{false};
    base::StopToken ends_;  // a call under way, so that nobody waits for a database that is gone
    const std::unique_ptr<cluster::Database> database_;
    cluster::Upkeep upkeep_;

    std::mutex mutex_;  // for what follows
    std::condition_variable wakes_;
    bool stopping_ = false;

    std::jthread thread_;
};

}  // namespace commands
