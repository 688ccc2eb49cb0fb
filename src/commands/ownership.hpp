#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "cluster/database.hpp"
#include "cluster/journal_writer.hpp"
#include "cluster/lease.hpp"
#include "cluster/lease_keeper.hpp"
#include "cluster/succession.hpp"
#include "commands/book_upkeep.hpp"
#include "domain/time.hpp"
#include "store/journal_position.hpp"

namespace commands {

// A node's time as the owner of its book: the lease and the thread that renews it from the
// beginning, and the journal that the store's transactions go to.
class Ownership {
public:
    struct Parts {
        BookParts book;
        cluster::Database& journal;
        std::unique_ptr<cluster::Database> lease;  // a connection that nobody else uses
        // Called once, by a thread of this object, when the lease is over: nothing of the service
        // may go on.
        std::function<void()> ended;
    };

    // `position`: of the file, which has all that the journal has.
    Ownership(Parts parts, const cluster::Instance& instance, const cluster::Succession::Won& won,
              const store::JournalPosition& position);
    ~Ownership();
    Ownership(const Ownership&) = delete;
    Ownership& operator=(const Ownership&) = delete;

    [[nodiscard]] store::CommitSink& sink() { return writer_; }
    // Before a store opens the file; throws as a commit does.
    void migrate_file();

    // Any thread.
    [[nodiscard]] bool is_held() const { return lease_.is_held(); }
    [[nodiscard]] std::int64_t epoch() const { return lease_.epoch(); }
    [[nodiscard]] std::int64_t stable() const { return writer_.stable(); }
    [[nodiscard]] cluster::JournalReadings readings() const { return writer_.readings(); }
    [[nodiscard]] std::string why_ended() const;

    // Gives the book back, once nothing is written any more: another node need not wait until the
    // lease is over.
    void resign();

private:
    void keep_lease();
    void watch_lease();
    // False: it is to stop.
    [[nodiscard]] bool sleep(domain::Milliseconds time);
    void stop_threads();

    const Parts parts_;
    const cluster::Ownership self_;
    cluster::Lease lease_;
    cluster::LeaseKeeper keeper_;
    cluster::JournalWriter writer_;

    std::mutex mutex_;  // for what follows
    std::condition_variable wakes_;
    bool stopping_ = false;

    std::jthread keeper_thread_;
    std::jthread watch_thread_;  // the keeper's may wait for the database beyond the lease
};

}  // namespace commands
