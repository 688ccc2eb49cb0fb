#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cluster/database.hpp"
#include "cluster/entry.hpp"
#include "cluster/key.hpp"
#include "cluster/lease.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"
#include "store/follower.hpp"

namespace cluster {

// Why a node does not go on by itself.
enum class Obstacle {
    none,
    needs_snapshot,  // the journal begins after what the file has, or the file has diverged
    went_back,       // the database lacks what the file has: only an operator's command goes on
    unreadable,      // an entry of another key, another version, or damaged
    no_book,
    not_taken,  // it follows; nobody owns the book, and the database does not give it
};

[[nodiscard]] std::string_view to_string(Obstacle obstacle);

// The file of a node that is not the owner: takes from the journal what is stable, and watches the
// owner's lease. One thread.
class Replica {
public:
    struct Parts {
        Database& database;
        const Keys& keys;
        store::Follower& file;
        const ports::Clock& clock;
        ports::Logger& logger;
    };
    struct Options {
        LeaseOptions lease;
        std::string node;
        std::uint32_t schema = 0;  // the newest that this program knows
    };

    Replica(Parts parts, Options options);

    // One look: applies what is stable, at most some megabytes, then tells how far the file is on
    // the disk. Returns when to come again; zero: at once, there is more. Throws StorageError: the
    // disk failed, and the same may be tried again.
    [[nodiscard]] domain::Milliseconds step();

    // Applies all there is, also what was not called stable: only after a take of the caller's was
    // acknowledged, which carried it. True when it is all in the file; false: look again.
    [[nodiscard]] bool apply_all();

    // The last one that was read.
    [[nodiscard]] const std::optional<Owner>& owner() const { return owner_; }
    // Whose place may be taken: the lease is over, and the file has all that is stable.
    [[nodiscard]] std::optional<Seen> may_take() const;
    // The last entry in the file.
    [[nodiscard]] std::int64_t seq() const;
    // How many stable entries the file lacks.
    [[nodiscard]] std::int64_t behind() const;
    // By how much this machine's wall clock was ahead of the server's at most, at the last look.
    [[nodiscard]] domain::Nanoseconds ahead_of_server() const { return ahead_; }
    // Whether the last look was answered.
    [[nodiscard]] bool reaches_database() const { return problem_.empty(); }
    // Why it was not, in one line without secrets.
    [[nodiscard]] const std::string& problem() const { return problem_; }
    // `wall` and `steady` of the last entry: the clock of the next owner goes on from there.
    [[nodiscard]] const std::optional<Entry>& last_times() const { return last_; }

    [[nodiscard]] Obstacle obstacle() const { return obstacle_; }
    // In one line without secrets.
    [[nodiscard]] const std::string& reason() const { return reason_; }
    // Whether the database has the node among those of the book, as it said last.
    [[nodiscard]] bool is_known() const { return is_known_; }

private:
    [[nodiscard]] bool may_look_again();
    [[nodiscard]] bool look();
    [[nodiscard]] bool stands_on_journal();
    // Up to `to`. Nothing: the database did not answer, or an obstacle; else whether there is more.
    [[nodiscard]] std::optional<bool> apply_up_to(std::int64_t to);
    // Of those that come next one that migrates, or as many others as there are in a row. How many;
    // nothing: an obstacle.
    [[nodiscard]] std::optional<std::size_t> apply_next(std::span<const StoredEntry> stored);
    [[nodiscard]] bool apply(const std::vector<store::Entry>& changes,
                             const std::vector<Entry>& times);
    [[nodiscard]] bool migrate(const store::Entry& next, Entry entry);
    [[nodiscard]] bool change_file(const std::function<void()>& change);
    [[nodiscard]] std::variant<Entry, Unreadable> open(const StoredEntry& stored) const;
    [[nodiscard]] std::optional<std::string> why_not(const Entry& entry) const;
    void tell_progress();
    void stop_at(Obstacle obstacle, const std::string& reason);

    const Parts parts_;
    const Options options_;
    LeaseWatch watch_;
    std::optional<Owner> owner_;
    domain::Nanoseconds ahead_{};
    std::string problem_ = "it was not asked yet";
    std::optional<std::uint64_t> trusted_connection_;  // on which the standing was looked at
    std::optional<Entry> last_;                        // without its payload
    std::int64_t told_ = -1;                           // by progress()
    domain::Monotonic told_at_{};
    bool is_known_ = true;
    Obstacle obstacle_ = Obstacle::none;
    std::string reason_;
    domain::Monotonic stopped_at_{};
    std::string told_reason_;  // of the obstacle that the log knows
};

}  // namespace cluster
