#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "domain/identity.hpp"
#include "domain/kind.hpp"
#include "domain/moves.hpp"
#include "domain/status.hpp"
#include "store/reader.hpp"
#include "store/store.hpp"
#include "support/requests.hpp"
#include "support/temp_directory.hpp"

// Rows that differ by their number.
namespace rows {

using std::chrono::milliseconds;

inline constexpr domain::Timestamp start = domain::from_unix_ms(1'780'272'000'000);

[[nodiscard]] domain::Timestamp at(std::int64_t ms);
[[nodiscard]] domain::RequestId id(std::int64_t number);
[[nodiscard]] domain::Bytes32 bytes32(std::uint64_t number);
[[nodiscard]] domain::Identity identity(std::uint64_t number);

[[nodiscard]] store::Schedule in_lane(store::Lane lane, domain::Timestamp wake = start);
// Where a request of this kind waits at first.
[[nodiscard]] store::Schedule first_of(domain::Kind kind);
// As it would be inserted.
[[nodiscard]] store::Row row(domain::Kind kind, std::int64_t number,
                             const store::Schedule& schedule,
                             std::optional<std::int64_t> round = std::nullopt);
[[nodiscard]] store::Row row(domain::Kind kind, std::int64_t number);
[[nodiscard]] store::Attempt attempt(std::uint64_t number);

}  // namespace rows

// All rows of all tables as text, read beside a writer that has the file open: what is committed.
[[nodiscard]] std::string contents(const store::Options& options);
// `ok`, or what SQLite's full check finds.
[[nodiscard]] std::string integrity(const store::Options& options);

// Takes the way of `move`, whatever function of the store that is.
[[nodiscard]] bool take(store::Store& store, const store::Row& row, const domain::Move& move,
                        const store::Schedule& schedule, domain::Timestamp now);

// A store in a directory of its own.
struct Harness {
    explicit Harness(store::Options with = {});

    void open() { store = std::make_unique<store::Store>(options); }
    void close() { store.reset(); }
    void reopen() {
        close();
        open();
    }

    template <typename Work>
    void commit(Work work) {
        store::Store::Transaction transaction(*store);
        work();
        transaction.commit();
    }

    store::Row add(const store::Row& row, domain::ByteView payload = {});
    store::Row add(const store::Row& row, const domain::Identity& identity,
                   domain::ByteView payload = {});
    // A new row brought to `status` by legal moves, in transactions of its own.
    store::Row bring(domain::Kind kind, std::int64_t number, domain::Status status,
                     std::optional<std::int64_t> round = std::nullopt);
    // The step from receipt_received or wherever the row stands now, in one transaction.
    void end(const store::Row& row, domain::Status from, domain::Status to,
             domain::Timestamp now = rows::start);

    [[nodiscard]] std::string contents() const { return ::contents(options); }
    [[nodiscard]] std::filesystem::path file(const std::string& name) const {
        return options.directory / name;
    }

    support::TempDirectory temporary;
    store::Options options;
    std::unique_ptr<store::Store> store;
};
