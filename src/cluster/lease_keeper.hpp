#pragma once

#include <optional>
#include <string>

#include "cluster/database.hpp"
#include "cluster/lease.hpp"
#include "domain/time.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace cluster {

// Who owns a book, as far as the database has to know it.
struct Ownership {
    std::string node;
    Instance instance{};
    std::string url;
};

// Why an ownership is over, when this is what the database says; nothing: it is not.
[[nodiscard]] std::optional<std::string> why_lost(const Ownership& self,
                                                  const std::optional<Owner>& owner);

// Renews a lease as long as the database lets it. One thread, over a connection that nobody else
// uses: the insert of an entry may wait for a standby, and a renewal must not wait behind it.
class LeaseKeeper {
public:
    LeaseKeeper(Database& database, Lease& lease, const LeaseOptions& options, Ownership self,
                const ports::Clock& clock, ports::Logger& logger);

    // Renews once. Returns when to come again; zero: the lease has ended. `stable`: as
    // Database::renew.
    [[nodiscard]] domain::Milliseconds step(std::int64_t stable);

private:
    void look_who_owns();

    Database& database_;
    Lease& lease_;
    const LeaseOptions options_;
    const Ownership self_;
    const ports::Clock& clock_;
    ports::Logger& logger_;
    bool failing_ = false;
};

}  // namespace cluster
