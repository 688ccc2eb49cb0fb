#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cluster/database.hpp"
#include "cluster/key.hpp"
#include "config/settings.hpp"
#include "domain/time.hpp"
#include "engine/chain_marks.hpp"
#include "ports/progress.hpp"
#include "ports/random.hpp"
#include "store/options.hpp"

namespace commands {

// What a book begins with.
struct BookBeginning {
    cluster::Database& database;
    const cluster::Keys& keys;
    ports::Random& random;
    std::string book;
    const store::Options& file;
    std::vector<engine::ChainIdentity> identities;  // whose chains' the file is
    bool takes_used_file = false;                   // one that holds requests
    // Before the database is asked once more.
    std::function<void(domain::Milliseconds)> pause{};
};

// Begins the book: makes the file of the data directory one of it, then the book in the database,
// then a snapshot for other nodes to begin with. Cut off at any place, it goes on from there when
// it is called again: the file holds what the book is made of. Returns the newest snapshot. Throws
// NoAnswerOfDatabase, or std::runtime_error that says what to do, such as where the book is there
// already.
[[nodiscard]] cluster::Snapshot begin_book(const BookBeginning& beginning,
                                           const ports::Progress& progress);

// The command; `from`: the data directory that is taken over, with all that is in it. `settings`
// with the keys of the cluster and of those who sign.
[[nodiscard]] int cluster_init(const config::Settings& settings,
                               const std::optional<std::filesystem::path>& from,
                               const ports::Progress& progress, std::ostream& out);

}  // namespace commands
