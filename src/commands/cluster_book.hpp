#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "base/stop_token.hpp"
#include "cluster/database.hpp"
#include "cluster/options.hpp"
#include "cluster/postgres.hpp"
#include "config/settings.hpp"

// How the commands reach the book that several machines keep.
namespace commands {

// The table of the configuration. Throws BadSettings when there is none.
[[nodiscard]] const cluster::Options& require_cluster(const config::Settings& settings);

// The database does not answer, says no, or has no such book; what() says why, without the
// connection string.
class NoAnswerOfDatabase : public std::runtime_error {
public:
    explicit NoAnswerOfDatabase(const std::string& reason)
        : std::runtime_error("the database of the cluster: " + reason) {}
};

// What was read. Throws NoAnswerOfDatabase.
template <class Found>
[[nodiscard]] Found found_in(cluster::Read<Found> read) {
    if (const auto* unavailable = std::get_if<cluster::Unavailable>(&read)) {
        throw NoAnswerOfDatabase(unavailable->reason);
    }
    return std::get<0>(std::move(read));
}

// There is no such book, and how there will be.
[[nodiscard]] NoAnswerOfDatabase no_such_book(const std::string& book);

// A connection of a command's own to the book. One thread.
class BookConnection {
public:
    explicit BookConnection(const cluster::Options& options);

    [[nodiscard]] cluster::PostgresDatabase& database() { return database_; }

private:
    const base::StopToken never_;
    cluster::PostgresDatabase database_;
};

}  // namespace commands
