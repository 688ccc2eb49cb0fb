#include "bench/bare.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <variant>

#include "api/decode.hpp"
#include "api/vote_share.hpp"
#include "bench/measure.hpp"
#include "domain/moves.hpp"
#include "domain/request.hpp"
#include "domain/status.hpp"
#include "domain/time.hpp"
#include "store/schema.hpp"

namespace bench {

namespace {

constexpr std::size_t proofs_per_commit = 64;
constexpr std::int64_t wake_ms_max = 4'102'444'800'000;
constexpr std::int64_t wake_spread_ms = (1LL << 31U) - 1;  // 25 days

std::int64_t now_ms() {
    return domain::unix_ms(
        std::chrono::time_point_cast<domain::Milliseconds>(std::chrono::system_clock::now()));
}

void bind(SQLite::Statement& statement, int index, domain::ByteView bytes) {
    statement.bindNoCopy(index, bytes.data(), static_cast<int>(bytes.size()));
}

domain::Bytes32 random_key(std::mt19937_64& random) {
    domain::Bytes32 key{};
    for (std::uint8_t& byte : key) byte = static_cast<std::uint8_t>(random());
    return key;
}

template <typename Work>
double rate_of(std::size_t per_call, std::chrono::milliseconds duration, Work work) {
    const auto begin = Stopwatch::now();
    const auto end = begin + duration;
    std::uint64_t calls = 0;
    while (Stopwatch::now() < end) {
        work();
        ++calls;
    }
    return static_cast<double>(calls * per_call) / seconds_since(begin);
}

domain::Request parsed(const Body& proof, std::uint64_t now_seconds) {
    api::Decoded decoded = api::decode_input_proof(proof.text(), now_seconds);
    if (auto* request = std::get_if<domain::Request>(&decoded)) return std::move(*request);
    throw std::runtime_error("the sample input proof is refused");
}

}  // namespace

double sync_rate(const std::filesystem::path& directory, std::chrono::milliseconds duration) {
    const std::filesystem::path path = directory / "syncs";
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) throw std::system_error(errno, std::generic_category(), path.string());
    const std::array<char, 4096> page{};
    const double rate = rate_of(1, duration, [&] {
        if (::write(file, page.data(), page.size()) != static_cast<ssize_t>(page.size()) ||
            ::fdatasync(file) != 0) {
            throw std::system_error(errno, std::generic_category(), path.string());
        }
    });
    ::close(file);
    std::filesystem::remove(path);
    return rate;
}

namespace {

SQLite::Database create(const std::filesystem::path& file) {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("pragma journal_mode = wal");
    database.exec("pragma synchronous = full");
    database.exec("pragma cache_size = -16384");
    database.exec(store::schema_sql);
    return database;
}

}  // namespace

BareDatabase::BareDatabase(const std::filesystem::path& directory)
    : database_(create(directory / "bare.db")),
      begin_(database_, "begin immediate"),
      commit_(database_, "commit"),
      insert_request_(database_,
                      "insert into request (id, random, kind, status, lane, wake_ms, status_ms, "
                      "dedup, identity_key, identity_content) "
                      "values (?, ?, ?, ?, 0, ?, ?, ?, ?, ?)"),
      insert_payload_(database_, "insert into payload (id, body) values (?, ?)"),
      id_(now_ms() << 12U) {}

void BareDatabase::begin() {
    begin_.exec();
    begin_.reset();
}

void BareDatabase::commit() {
    commit_.exec();
    commit_.reset();
}

void BareDatabase::insert(domain::Kind kind, const domain::Identity& identity,
                          domain::ByteView payload) {
    std::int64_t prefix = 0;
    std::memcpy(&prefix, identity.key.data(), sizeof prefix);
    ++id_;
    insert_request_.bind(1, id_);
    insert_request_.bind(2, prefix);
    insert_request_.bindNoCopy(3, domain::to_string(kind).data());
    insert_request_.bindNoCopy(4, domain::to_string(domain::first_status(kind)).data());
    insert_request_.bind(5, wake_ms_max - (prefix & wake_spread_ms));
    insert_request_.bind(6, id_ >> 12U);
    insert_request_.bind(7, prefix);
    bind(insert_request_, 8, identity.key);
    if (identity.content == identity.key) {
        insert_request_.bind(9);
    } else {
        bind(insert_request_, 9, identity.content);
    }
    insert_request_.exec();
    insert_request_.reset();
    insert_payload_.bind(1, id_);
    bind(insert_payload_, 2, payload);
    insert_payload_.exec();
    insert_payload_.reset();
}

double bare_share_rate(const std::filesystem::path& directory, const Body& share,
                       std::size_t rows_per_commit, std::chrono::milliseconds duration) {
    const auto decoded = api::decode_vote_share(share.text());
    const auto* vote_share = std::get_if<domain::VoteShare>(&decoded);
    if (vote_share == nullptr) throw std::runtime_error("the sample vote share is refused");
    const domain::Bytes payload = domain::encode(*vote_share);
    std::mt19937_64 random(1);
    BareDatabase database(directory);
    return rate_of(rows_per_commit, duration, [&] {
        database.begin();
        for (std::size_t row = 0; row < rows_per_commit; ++row) {
            database.insert(domain::Kind::share, {random_key(random), {}}, payload);
        }
        database.commit();
    });
}

double bare_proof_rate(const std::filesystem::path& directory, const Body& proof,
                       std::chrono::milliseconds duration) {
    Body body = proof;
    std::uint64_t number = 0;
    const auto now_seconds = static_cast<std::uint64_t>(now_ms() / 1000);
    BareDatabase database(directory);
    return rate_of(proofs_per_commit, duration, [&] {
        database.begin();
        for (std::size_t row = 0; row < proofs_per_commit; ++row) {
            body.set_number(number++);
            const domain::Request request = parsed(body, now_seconds);
            database.insert(domain::Kind::input_proof, domain::identify(request),
                            domain::encode(request));
        }
        database.commit();
    });
}

}  // namespace bench
