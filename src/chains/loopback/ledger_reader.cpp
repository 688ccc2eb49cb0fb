#include "chains/loopback/ledger_reader.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <stdexcept>

namespace chains::loopback {
namespace {

constexpr int patience_ms = 5'000;

domain::Bytes bytes_of(const SQLite::Column& column) {
    const auto* const begin = static_cast<const std::uint8_t*>(column.getBlob());
    return {begin, begin + column.getBytes()};
}

Effect effect_of(const SQLite::Column& reverted, const SQLite::Column& already) {
    if (reverted.getInt() != 0) return Effect::reverted;
    return already.getInt() != 0 ? Effect::already : Effect::included;
}

}  // namespace

std::vector<LedgerEntry> read_ledger(const std::string& path) {
    SQLite::Database database{path, SQLite::OPEN_READONLY, patience_ms};
    SQLite::Statement select{database,
                             "select request_sequence, kind, subject, included_ms, reverted, "
                             "already from inclusion order by block"};
    std::vector<LedgerEntry> entries;
    while (select.executeStep()) {
        const std::string name = select.getColumn(1).getString();
        const auto kind = domain::kind_from(name);
        if (!kind) throw std::runtime_error("the ledger " + path + " holds an unknown kind");
        entries.push_back({select.getColumn(0).getInt64(), *kind, bytes_of(select.getColumn(2)),
                           domain::from_unix_ms(select.getColumn(3).getInt64()),
                           effect_of(select.getColumn(4), select.getColumn(5))});
    }
    return entries;
}

}  // namespace chains::loopback
