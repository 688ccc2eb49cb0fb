#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cluster/database.hpp"
#include "cluster/journal_writer.hpp"
#include "cluster/lease.hpp"
#include "cluster/replica.hpp"
#include "domain/time.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace cluster {

// Follows the owner of a book until this node has become it. One thread.
class Succession {
public:
    struct Parts {
        Database& database;  // the replica's
        Replica& replica;
        const ports::Clock& clock;
        ports::Logger& logger;
    };
    struct Options {
        Candidate self;
        LeaseOptions lease{};
        Durability durability = Durability::standby;
        // A node whose clock is further from the database's takes no book.
        domain::Milliseconds clock_leap{60'000};
        // It has just given the book back: for the length of a lease others come first.
        bool yields = false;
    };
    // The file has all that the journal has, and nobody else can write to it any more.
    struct Won {
        std::int64_t epoch = 0;
        domain::Monotonic sent{};  // when the lease began
        // The last one that owned the book was of this node, too.
        bool succeeds_itself = false;
    };
    // Why the book, which nobody owned, was not to be had at the last try.
    struct NotTaken {
        std::string reason;  // in one line without secrets
        Seen seen;           // whose place it was
    };

    Succession(Parts parts, Options options);

    // One look of the replica, and a try to take the book where it is free. Returns when to come
    // again. Throws as Replica::step().
    [[nodiscard]] domain::Milliseconds step();

    [[nodiscard]] const std::optional<Won>& won() const { return won_; }
    // Nothing: it was not tried, was done, or somebody else owns the book by now.
    [[nodiscard]] const std::optional<NotTaken>& not_taken() const { return not_taken_; }
    // The last take was acknowledged on one disk only.
    [[nodiscard]] bool is_on_one_disk() const { return is_on_one_disk_; }

    // Instead of another step: what was taken and is not won goes back.
    void stop();

private:
    [[nodiscard]] std::optional<Seen> free_place() const;
    [[nodiscard]] bool has_right_time();
    [[nodiscard]] bool is_of_this_node(const Owner& owner) const;
    void register_where_unknown();
    void look_who_owns();
    void take(const Seen& seen);
    void note_not_taken(NotTaken why);
    [[nodiscard]] domain::Milliseconds finish();
    void give_back(const Won& taken, const std::string& reason);

    const Parts parts_;
    const Options options_;
    domain::Monotonic rests_until_;  // others first
    bool is_registered_ = false;
    bool has_wrong_time_ = false;
    bool is_on_one_disk_ = false;
    bool succeeds_itself_ = false;
    std::int64_t given_back_ = 0;  // the epoch
    std::optional<NotTaken> not_taken_;
    std::optional<Won> taken_;  // the file may lack something yet
    std::optional<Won> won_;
};

}  // namespace cluster
