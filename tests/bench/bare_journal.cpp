#include "bench/bare_journal.hpp"

#include <libpq-fe.h>

#include <array>
#include <random>
#include <stdexcept>
#include <thread>

namespace bench {

namespace {

constexpr const char* insert_entry =
    "insert into posthouse.journal (book, shard, seq, epoch, previous, hash, stable, entry)"
    " values ('bare', 0, $1::text::bigint, 1, $2, $2, 0, $3)";
constexpr std::size_t hash_bytes = 32;

std::string random_bytes(std::size_t count) {
    std::mt19937_64 random(1);
    std::string bytes(count, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
}

void expect_command(PGresult* result) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> owned(result, PQclear);
    if (PQresultStatus(result) == PGRES_COMMAND_OK) return;
    throw std::runtime_error(std::string("a bare insert: ") + PQresultErrorMessage(result));
}

}  // namespace

void BareJournal::Close::operator()(pg_conn* connection) const {
    PQfinish(connection);
}

BareJournal::BareJournal(const std::string& database, std::size_t entry_bytes)
    : entry_(random_bytes(entry_bytes)),
      connection_(PQconnectdb((database + " target_session_attrs=read-write").c_str())) {
    expect_command(PQexec(connection_.get(), "delete from posthouse.journal where book = 'bare'"));
    expect_command(PQprepare(connection_.get(), "insert", insert_entry, 3, nullptr));
}

BareJournal::~BareJournal() = default;

Series BareJournal::insert_for(std::chrono::milliseconds duration,
                               std::chrono::microseconds pause) {
    const std::string hash = random_bytes(hash_bytes);
    Series series;
    const auto until = Stopwatch::now() + duration;
    for (auto begin = Stopwatch::now(); begin < until; begin = Stopwatch::now()) {
        const std::string seq = std::to_string(++seq_);
        const std::array<const char*, 3> values{seq.c_str(), hash.data(), entry_.data()};
        const std::array<int, 3> lengths{0, hash_bytes, static_cast<int>(entry_.size())};
        const std::array<int, 3> formats{0, 1, 1};
        expect_command(PQexecPrepared(connection_.get(), "insert", 3, values.data(), lengths.data(),
                                      formats.data(), 1));
        series.add(seconds_since(begin) * 1e6);
        std::this_thread::sleep_for(pause);
    }
    return series;
}

}  // namespace bench
