#include "store/book.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "store/digest.hpp"
#include "store/row_changes.hpp"

store::JournalPosition beginning() {
    return {"main", 3, 0, 1, rows::bytes32(77)};
}

store::JournalPosition Journal::end() const {
    return entries.empty() ? beginning() : entries.back().position;
}

store::Entry Journal::next(const store::RowChanges& changed) const {
    store::Entry entry{end(), end().hash, store::encode_changes(changed)};
    ++entry.position.seq;
    entry.position.epoch = epoch;
    const domain::ByteView parts[]{entry.previous, entry.changes};
    entry.position.hash = domain::sha256(parts);
    return entry;
}

store::JournalPosition Journal::decide(const store::RowChanges& changed) {
    before();
    entries.push_back(next(changed));
    changes.push_back(changed);
    after();
    return end();
}

Book::Book(store::Options with) : Harness(std::move(with)) {
    close();
    store::join_book(options, beginning());
    follower_options = options;
    follower_options.vfs.clear();
    follower_options.directory = other_place.path() / "data";
    store::join_book(follower_options, beginning());
    open_owner();
    open_follower();
}

void Book::open_owner() {
    close();
    store = std::make_unique<store::Store>(options, journal);
}

void Book::open_follower() {
    follower.reset();
    follower = std::make_unique<store::Follower>(follower_options);
}

void Book::follow() {
    for (const store::Entry& entry : journal.entries) {
        if (entry.position.seq > follower->position().seq) follower->apply(entry);
    }
}

std::string Book::rows_of(const store::Options& options) {
    std::istringstream lines(::contents(options));
    std::string rows;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("probe ")) rows += line + "\n";
    }
    return rows;
}

void Book::check_equal() const {
    CHECK(rows_of(options) == rows_of(follower_options));
    CHECK(store::digest_of_rows(options) == store::digest_of_rows(follower_options));
    CHECK(follower->position() == journal.end());
}
