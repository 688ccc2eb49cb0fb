#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "cluster/database.hpp"
#include "domain/time.hpp"
#include "ports/clock.hpp"

namespace cluster {

struct LeaseOptions {
    // For how long a renewal holds. A node takes the place of an owner it has not heard of for this
    // and a margin.
    domain::Milliseconds length{3'000};

    [[nodiscard]] domain::Milliseconds margin() const { return length / 10; }
    // Between two renewals, and between two looks at the owner's.
    [[nodiscard]] domain::Milliseconds renewal_pause() const { return length / 6; }
    [[nodiscard]] domain::Milliseconds watch_pause() const { return length / 30; }
};

// The right to decide for a book, as its owner holds it: until the length of the lease after the
// last renewal was *sent*. No clock but the owner's own counts. Any thread.
class Lease {
public:
    // `sent`: when the take was sent that was acknowledged with this epoch.
    Lease(const ports::Clock& clock, const LeaseOptions& options, std::int64_t epoch,
          domain::Monotonic sent);

    // Looked at after the file was read, right before an answer leaves, and before the bytes of a
    // transaction do.
    [[nodiscard]] bool is_held() const;
    // How much of it is left; not below zero.
    [[nodiscard]] domain::Nanoseconds left() const;
    [[nodiscard]] std::int64_t epoch() const;
    // Why it ended before its time.
    [[nodiscard]] std::optional<std::string> ended() const;

    // The database has acknowledged a renewal, or the take of a higher epoch for the same owner.
    // False: too late, or it has ended. What came back in between may have been somebody else's.
    bool renewed(domain::Monotonic sent);
    bool raised(std::int64_t epoch, domain::Monotonic sent);
    // Somebody else's epoch has begun, or it was handed over. The first reason stays.
    void end(std::string reason);

private:
    [[nodiscard]] bool is_held_at(domain::Monotonic now) const;
    bool prolong(domain::Monotonic sent);

    const ports::Clock& clock_;
    const domain::Milliseconds length_;

    mutable std::mutex mutex_;  // for what follows
    std::int64_t epoch_;
    domain::Monotonic until_;
    std::optional<std::string> ended_;
};

// Whether nothing was heard of an owner for so long that its lease is over for certain. One thread.
class LeaseWatch {
public:
    explicit LeaseWatch(const LeaseOptions& options) : options_(options) {}

    // As it was read, at `now`, over the connection with this number. A new connection may lead to
    // another server, so the watch begins anew with it; also with another owner or beat.
    void saw(const Owner& owner, std::uint64_t connection, domain::Monotonic now);
    // What was known counts no more.
    void forget() { seen_.reset(); }

    // Whose place may be taken: it was seen again after the whole time. A book that nobody owns is
    // free at once.
    [[nodiscard]] std::optional<Seen> expired() const;

private:
    struct Sight {
        std::int64_t epoch = 0;
        Instance instance{};
        std::int64_t beat = 0;
        std::uint64_t connection = 0;

        bool operator==(const Sight&) const = default;
    };

    const LeaseOptions options_;
    std::optional<Sight> seen_;
    domain::Monotonic first_{};
    domain::Monotonic last_{};
};

}  // namespace cluster
