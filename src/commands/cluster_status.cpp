#include "commands/cluster_status.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <nlohmann/json.hpp>

#include "api/admin/times.hpp"
#include "commands/cluster_book.hpp"
#include "commands/directory_owner.hpp"
#include "platform/log.hpp"
#include "platform/real_clock.hpp"
#include "store/errors.hpp"

namespace commands {

namespace {

using cluster::Standing;
using Json = nlohmann::ordered_json;

constexpr std::size_t title_width = 11;

std::string titled(const std::string& title, const std::string& text) {
    return title + std::string(title_width - title.size(), ' ') + text + "\n";
}

std::string_view json_name(Standing standing) {
    switch (standing) {
        case Standing::continues:
            return "continues";
        case Standing::trimmed:
            return "trimmed";
        case Standing::behind:
            return "behind";
        case Standing::diverged:
            return "diverged";
        case Standing::no_book:
            break;
    }
    return "no_book";
}

std::string_view words_for(Standing standing) {
    switch (standing) {
        case Standing::continues:
            return "the journal goes on from there";
        case Standing::trimmed:
            return "the journal begins later: only a snapshot helps";
        case Standing::behind:
            return "the database lacks it: it went back, and this node does not use it";
        case Standing::diverged:
            return "the database has another entry of that number: it went back, or is another one";
        case Standing::no_book:
            break;
    }
    return "the database does not know the book";
}

std::string durability_words(const cluster::Options& options, unsigned standbys) {
    if (options.durability == cluster::Durability::storage) return "replicates below us";
    if (standbys == 0) {
        return "no synchronous standby: nodes take no requests until synchronous_standby_names "
               "of the server names one";
    }
    return std::to_string(standbys) +
           (standbys == 1 ? " synchronous standby" : " synchronous standbys");
}

std::string owner_words(const BookSight& book) {
    const cluster::Owner& owner = book.owner;
    if (owner.epoch == 0) return "nobody yet";
    if (owner.is_free()) return "nobody: " + platform::printable(owner.node) + " gave it back";
    const std::string life = book.owner_lives
                                 ? ", lives"
                                 : ", not heard of for " + api::admin::span_text(book.watched) +
                                       ": its lease is over, and another node may take the book";
    return platform::printable(owner.node) + ", epoch " + std::to_string(owner.epoch) + ", " +
           platform::printable(owner.url) + life;
}

std::string journal_words(const BookSight& book) {
    return "entries " + std::to_string(book.extent.first) + " to " +
           std::to_string(book.extent.last) + ", " + std::to_string(book.journal_bytes) +
           " bytes; acknowledged up to " + std::to_string(book.owner.stable);
}

std::string snapshot_words(const BookSight& book) {
    std::string words;
    for (const cluster::Snapshot& snapshot : book.snapshots) {
        words += (words.empty() ? "after entry " : ", ") + std::to_string(snapshot.seq) + " (" +
                 std::to_string(snapshot.parts) + " MiB)";
    }
    return words.empty() ? "none: a follower makes the next one" : words;
}

// Of what is acknowledged; an owner tells of others' entries later than it has them itself.
std::int64_t lacks(const BookSight& book, const cluster::Node& node) {
    return std::max<std::int64_t>(0, book.owner.stable - node.seq);
}

std::string node_words(const BookSight& book, const NodeSight& sight) {
    const cluster::Node& node = sight.node;
    std::string words = platform::printable(node.name) + "  " + platform::printable(node.url) +
                        "  entry " + std::to_string(node.seq) + " is on its disk, " +
                        std::to_string(lacks(book, node)) + " behind";
    words += ", told of itself at " + api::admin::utc_text(node.seen) + " by its own clock";
    return words + (sight.lives ? ", and again just now" : "");
}

std::string file_words(const FileSight& file, const std::string& book) {
    if (!file.problem.empty()) return file.problem;
    if (!file.stored) return file.file + ": belongs to no book";
    const store::JournalPosition& position = file.stored->position;
    std::string words = file.file + ": entry " + std::to_string(position.seq) + " of epoch " +
                        std::to_string(position.epoch);
    if (position.book != book) {
        return words + " of another book, " + platform::printable(position.book);
    }
    if (file.stored->diverged) {
        return words +
               "; diverged, only a snapshot helps: " + platform::printable(*file.stored->diverged);
    }
    return file.standing ? words + "; " + std::string(words_for(*file.standing)) : words;
}

Json file_json(const FileSight& file) {
    Json json{{"path", file.file}};
    if (!file.problem.empty()) json["problem"] = file.problem;
    if (!file.stored) return json;
    const store::JournalPosition& position = file.stored->position;
    json["book"] = position.book;
    json["seq"] = position.seq;
    json["epoch"] = position.epoch;
    if (file.standing) json["standing"] = json_name(*file.standing);
    if (file.stored->diverged) json["diverged"] = *file.stored->diverged;
    return json;
}

Json owner_json(const BookSight& book) {
    const cluster::Owner& owner = book.owner;
    if (owner.epoch == 0) return nullptr;
    return {{"node", owner.node},        {"url", owner.url},
            {"epoch", owner.epoch},      {"beat", owner.beat},
            {"lives", book.owner_lives}, {"watched_ms", book.watched.count()}};
}

FileSight look_at_file(const config::Settings& settings) {
    FileSight sight;
    sight.file = store::database_path(settings.store).string();
    std::error_code unknown;
    if (!std::filesystem::exists(sight.file, unknown)) {
        sight.problem = "there is no " + sight.file;
        return sight;
    }
    try {
        become_owner_of(settings.store.directory);
        sight.stored = store::stored_position(settings.store);
    } catch (const std::runtime_error& error) {
        sight.problem = error.what();
    }
    return sight;
}

std::optional<cluster::Standing> standing_in(cluster::Database& database, const FileSight& file,
                                             const std::string& book) {
    if (!file.stored || file.stored->position.book != book) return std::nullopt;
    const store::JournalPosition& position = file.stored->position;
    return found_in(
        cluster::standing_of(database, {static_cast<std::int64_t>(position.seq), position.hash}));
}

BookSight look_or_fail(cluster::Database& database, const Watching& watching,
                       const std::string& book) {
    auto sight = look_at_book(database, watching);
    if (!sight) throw no_such_book(book);
    return *std::move(sight);
}

}  // namespace

std::string status_lines(const cluster::Options& options, const ClusterStatus& status) {
    const BookSight& book = status.book;
    std::string lines = titled("book", options.book) +
                        titled("database", durability_words(options, status.standbys)) +
                        titled("owner", owner_words(book)) +
                        titled("journal", journal_words(book)) +
                        titled("snapshots", snapshot_words(book));
    for (const NodeSight& node : book.nodes) lines += titled("node", node_words(book, node));
    if (book.nodes.empty()) lines += titled("node", "none has told of itself yet");
    return lines + titled("this file", file_words(status.file, options.book));
}

std::string status_json(const cluster::Options& options, const ClusterStatus& status) {
    const BookSight& book = status.book;
    Json snapshots = Json::array();
    for (const cluster::Snapshot& snapshot : book.snapshots) {
        snapshots.push_back({{"seq", snapshot.seq}, {"parts", snapshot.parts}});
    }
    Json nodes = Json::array();
    for (const NodeSight& sight : book.nodes) {
        const cluster::Node& node = sight.node;
        nodes.push_back({{"name", node.name},
                         {"url", node.url},
                         {"seq", node.seq},
                         {"behind", lacks(book, node)},
                         {"seen", api::admin::utc_text(node.seen)},
                         {"lives", sight.lives}});
    }
    const Json json{
        {"book", options.book},
        {"durability", options.durability == cluster::Durability::storage ? "storage" : "standby"},
        {"standbys", status.standbys},
        {"owner", owner_json(book)},
        {"journal",
         {{"first", book.extent.first},
          {"last", book.extent.last},
          {"epoch", book.extent.epoch},
          {"stable", book.owner.stable},
          {"bytes", book.journal_bytes}}},
        {"snapshots", std::move(snapshots)},
        {"nodes", std::move(nodes)},
        {"file", file_json(status.file)}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

int cluster_status(const config::Settings& settings, bool as_json, const ports::Progress& progress,
                   std::ostream& out) {
    const cluster::Options& options = require_cluster(settings);
    const platform::RealClock clock;
    FileSight file = look_at_file(settings);
    BookConnection connection(options);
    cluster::PostgresDatabase& database = connection.database();
    try {
        const BookSight book =
            look_or_fail(database, watch_with(progress, clock, options.lease), options.book);
        file.standing = standing_in(database, file, options.book);
        const ClusterStatus status{book, found_in(database.standbys()), file};
        out << (as_json ? status_json(options, status) : status_lines(options, status));
    } catch (const NoAnswerOfDatabase&) {
        // For whom the database is lost: how far this machine is.
        out << (as_json ? Json{{"book", options.book}, {"file", file_json(file)}}.dump() + "\n"
                        : titled("this file", file_words(file, options.book)));
        throw;
    }
    return EXIT_SUCCESS;
}

}  // namespace commands
