#include "commands/cluster_leave.hpp"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "cluster/position.hpp"
#include "commands/cluster_book.hpp"
#include "commands/directory_owner.hpp"
#include "platform/log.hpp"
#include "platform/real_clock.hpp"
#include "store/file_locks.hpp"
#include "store/open_errors.hpp"

namespace commands {

namespace {

using cluster::Standing;

std::optional<std::string> objection_to(Standing standing, const BookSight& book,
                                        std::int64_t own) {
    const std::string number = std::to_string(own);
    switch (standing) {
        case Standing::behind:
            return "the database ends before entry " + number +
                   ", which this file has: it went back, or is another one";
        case Standing::diverged:
            return "the database has another entry " + number + " than this file";
        case Standing::no_book:
            return "the database does not know the book";
        case Standing::trimmed:
        case Standing::continues:
            break;
    }
    if (own == book.extent.last) return std::nullopt;
    return "this file ends with entry " + number + ", the journal with " +
           std::to_string(book.extent.last) +
           ": requests that were accepted in between would be lost, and what was sent in between "
           "could be sent again; start posthouse serve here, wait until it is not behind, and stop "
           "it";
}

std::optional<std::string> objection_to_owner(const BookSight& book, const std::string& node) {
    if (book.owner_lives) {
        return "node " + platform::printable(book.owner.node) + " owns the book and lives: stop it";
    }
    if (book.owner.epoch == 0 || book.owner.node == node) return std::nullopt;
    return "node " + platform::printable(book.owner.node) +
           " owned the book last; leave there, or let this node own it first";
}

}  // namespace

std::vector<std::string> objections_to_leaving(cluster::Database& database,
                                               const store::JournalPosition& position,
                                               const std::string& node, const Watching& watching) {
    const auto book = look_at_book(database, watching);
    if (!book) return {"the database does not know the book " + position.book};
    std::vector<std::string> objections;
    const auto own = static_cast<std::int64_t>(position.seq);
    const auto standing = found_in(cluster::standing_of(database, {own, position.hash}));
    if (auto objection = objection_to(standing, *book, own)) {
        objections.push_back(*std::move(objection));
    }
    if (auto objection = objection_to_owner(*book, node)) {
        objections.push_back(*std::move(objection));
    }
    for (const NodeSight& sight : book->nodes) {
        const std::string& name = sight.node.name;
        if (!sight.lives || (book->owner_lives && name == book->owner.node)) continue;
        objections.push_back("node " + platform::printable(name) +
                             " follows the book and would go on with it, and the same would be "
                             "sent twice: stop it");
    }
    return objections;
}

int cluster_leave(const config::Settings& settings, bool force, const ports::Progress& progress,
                  std::ostream& out) {
    const std::string file = store::database_path(settings.store).string();
    become_owner_of(settings.store.directory);
    if (!std::filesystem::exists(file)) {
        throw store::OpenError("there is no " + file + "; name the data directory");
    }
    if (store::is_held_elsewhere(settings.store.directory / "posthouse.lock")) {
        throw std::runtime_error("a process runs on " + settings.store.directory.string() +
                                 ": stop it first");
    }
    const auto stored = store::stored_position(settings.store);
    if (!stored) throw std::runtime_error(file + " belongs to no book");
    const store::JournalPosition& position = stored->position;
    if (!force) {
        const cluster::Options& options = require_cluster(settings);
        if (options.book != position.book) {
            throw std::runtime_error(file + " belongs to the book " + position.book +
                                     ", and cluster.name is " + options.book);
        }
        BookConnection connection(options);
        const platform::RealClock clock;
        Watching watching = watch_with(progress, clock, options.lease);
        watching.nodes_too = true;
        std::string reasons;
        for (const std::string& objection :
             objections_to_leaving(connection.database(), position, options.node, watching)) {
            reasons += "\n  " + objection;
        }
        if (!reasons.empty()) {
            throw std::runtime_error("not left, --force does it all the same:" + reasons);
        }
    }
    store::leave_book(settings.store);
    out << file << " is the database of a single machine now, with all of the book "
        << position.book << " up to entry " << position.seq << "\n"
        << "next: take the table [cluster] out of the configuration, then start posthouse serve; "
           "no other node may go on with the book, it would send the same\n";
    return EXIT_SUCCESS;
}

}  // namespace commands
