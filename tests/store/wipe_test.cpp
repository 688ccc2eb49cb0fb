#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "store/harness.hpp"
#include "support/fault_vfs.hpp"

using domain::Cause;
using domain::Kind;
using domain::Status;

namespace {

// 24 bytes that occur nowhere else.
std::string secret(std::int64_t number) {
    std::string text = "witness-of-" + std::to_string(1'000'000 + number) + "-secret";
    return text.substr(0, 24);
}

// Secrets all over the body, so that no half of it goes unseen.
domain::Bytes witness(std::int64_t number, std::size_t size) {
    const std::string text = secret(number);
    domain::Bytes bytes;
    while (bytes.size() < size) bytes.insert(bytes.end(), text.begin(), text.end());
    return bytes;
}

std::vector<std::string> raw_files(const store::Options& options) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(options.directory)) {
        std::ifstream stream(entry.path(), std::ios::binary);
        files.emplace_back(std::istreambuf_iterator<char>(stream),
                           std::istreambuf_iterator<char>());
    }
    return files;
}

bool is_on_disk(const store::Options& options, std::int64_t number) {
    const std::string text = secret(number);
    return std::ranges::any_of(raw_files(options), [&](const std::string& file) {
        return file.find(text) != std::string::npos;
    });
}

std::vector<std::int64_t> found_on_disk(const store::Options& options, std::int64_t numbers) {
    const std::vector<std::string> files = raw_files(options);
    std::vector<std::int64_t> found;
    for (std::int64_t number = 1; number <= numbers; ++number) {
        const std::string text = secret(number);
        if (std::ranges::any_of(files, [&](const std::string& file) {
                return file.find(text) != std::string::npos;
            })) {
            found.push_back(number);
        }
    }
    return found;
}

store::Row add_share(Harness& harness, std::int64_t number, std::size_t size) {
    const domain::Bytes body = witness(number, size);
    const store::Row row = rows::row(Kind::share, number);
    harness.store->insert(
        {row, rows::identity(static_cast<std::uint64_t>(number)), domain::ByteView{body}});
    return row;
}

constexpr domain::Move claim{Status::queued, Status::processing, Cause::claimed, true, true, true};
constexpr domain::Move seal{
    Status::processing, Status::tx_in_flight, Cause::sealed, true, true, true};
constexpr domain::Move include{
    Status::tx_in_flight, Status::receipt_received, Cause::receipt, true, true, true};

}  // namespace

TEST_CASE("witness data is on disk until the share ends and nowhere afterwards") {
    struct Row {
        std::string label;
        std::vector<domain::Move> path;  // the last step ends the share
    };
    const Row table[] = {
        {"completed",
         {claim,
          seal,
          include,
          {Status::receipt_received, Status::completed, Cause::answered, true, true, true}}},
        {"failed",
         {claim,
          seal,
          {Status::tx_in_flight, Status::failure, Cause::transaction, true, true, true}}},
        {"timed out", {{Status::queued, Status::timed_out, Cause::expired, true, true, true}}},
        {"timed out after the receipt",
         {claim,
          seal,
          include,
          {Status::receipt_received, Status::timed_out, Cause::expired, true, true, true}}},
    };
    for (const Row& row : table) {
        // Inside a page, and over many of them.
        for (const std::size_t size : {1'300U, 40'000U}) {
            CAPTURE(row.label);
            CAPTURE(size);
            Harness harness;
            store::Row share;
            harness.commit([&] { share = add_share(harness, 1, size); });
            harness.commit([&] { add_share(harness, 2, size); });
            for (const domain::Move& move : row.path) {
                CHECK(is_on_disk(harness.options, 1));
                CHECK_FALSE(harness.store->wal_holds_wiped_data());
                harness.commit([&] {
                    if (move.to == Status::tx_in_flight) {
                        harness.store->add_attempt(1, {5, rows::bytes32(1), witness(1, 2 * size)},
                                                   rows::start);
                    }
                    REQUIRE(take(*harness.store, share, move, rows::in_lane(store::Lane::timer),
                                 rows::start));
                });
            }
            CHECK(harness.store->wal_holds_wiped_data());
            CHECK_FALSE(harness.store->payload(1));
            CHECK(harness.store->attempts(1).empty());
            harness.store->truncate_wal();
            CHECK_FALSE(harness.store->wal_holds_wiped_data());
            CHECK_FALSE(is_on_disk(harness.options, 1));
            CHECK(is_on_disk(harness.options, 2));
            CHECK(harness.store->payload(2) == witness(2, size));
        }
    }
}

TEST_CASE("shares that end in any order leave no copy in the pages of their neighbours") {
    struct Row {
        std::string label;
        std::size_t size_min;
        std::size_t size_max;
    };
    const Row table[] = {{"many in a page", 100, 300},
                         {"the real size", 1'300, 1'300},
                         {"over a page", 3'000, 9'000},
                         {"any size", 50, 9'000}};
    for (const Row& row : table) {
        CAPTURE(row.label);
        Harness harness;
        std::mt19937 random(7);
        std::vector<std::int64_t> living;
        std::int64_t number = 0;
        for (int round = 0; round < 8; ++round) {
            harness.commit([&] {
                for (int i = 0; i < 60; ++i) {
                    const std::size_t spread = row.size_max - row.size_min + 1;
                    add_share(harness, ++number, row.size_min + random() % spread);
                    living.push_back(number);
                }
            });
            std::shuffle(living.begin(), living.end(), random);
            for (std::size_t left = round < 7 ? living.size() / 3 : 0; living.size() > left;) {
                harness.end(rows::row(Kind::share, living.back()), Status::queued,
                            Status::timed_out);
                living.pop_back();
            }
            harness.commit(
                [&] { harness.store->purge(store::Lane::ended_share, rows::at(1), 20); });
            harness.store->truncate_wal();
            std::sort(living.begin(), living.end());
            CHECK(found_on_disk(harness.options, number) == living);
        }
        CHECK(integrity(harness.options) == "ok");
    }
}

TEST_CASE("a wipe whose log was not cut before the process died is still known after a restart") {
    support::FaultVfs vfs;
    store::Options options;
    options.vfs = vfs.name();
    Harness harness(options);
    store::Row share;
    harness.commit([&] { share = add_share(harness, 1, 1'300); });
    harness.end(share, Status::queued, Status::timed_out);
    vfs.cut_power(support::FaultVfs::Unsynced::kept);
    harness.close();
    vfs.restore_power();
    harness.open();
    CHECK(is_on_disk(harness.options, 1));
    CHECK(harness.store->wal_holds_wiped_data());
    harness.store->truncate_wal();
    CHECK_FALSE(harness.store->wal_holds_wiped_data());
    CHECK_FALSE(is_on_disk(harness.options, 1));
}

TEST_CASE("an orderly end of the process leaves no wiped data either") {
    Harness harness;
    store::Row share;
    harness.commit([&] { share = add_share(harness, 1, 1'300); });
    harness.end(share, Status::queued, Status::timed_out);
    harness.close();
    CHECK_FALSE(is_on_disk(harness.options, 1));
}
