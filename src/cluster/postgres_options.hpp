#pragma once

#include <cstdint>
#include <string>

#include "domain/time.hpp"

namespace cluster {

struct PostgresOptions {
    // Connection string of libpq, name=value or a URI, with one host or several. Secret: it may
    // hold a password.
    std::string database;
    std::string book;
    std::int64_t shard = 0;
    // For any call, from connecting to the last byte; above zero. A look-up of a host's name that
    // the system does not answer takes longer.
    domain::Milliseconds timeout{2'000};
};

}  // namespace cluster
