#include "commands/cluster_book.hpp"

#include "commands/exit_status.hpp"

namespace commands {

namespace {

// A part of a snapshot, or tables that are made, may take a slow server longer than an entry.
constexpr domain::Milliseconds patience_with_database{10'000};

}  // namespace

const cluster::Options& require_cluster(const config::Settings& settings) {
    if (settings.cluster) return *settings.cluster;
    throw BadSettings(
        "there is no table [cluster] in the configuration; name the file that has one with "
        "--config");
}

NoAnswerOfDatabase no_such_book(const std::string& book) {
    return NoAnswerOfDatabase(
        "there is no book " + book +
        " in it; posthouse cluster init begins it, once, on the machine whose "
        "data directory it is to begin with");
}

BookConnection::BookConnection(const cluster::Options& options)
    : database_({options.database, options.book, 0, patience_with_database}, never_) {}

}  // namespace commands
