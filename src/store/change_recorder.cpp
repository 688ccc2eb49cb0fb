#include "store/change_recorder.hpp"

#include <sqlite3.h>

#include "store/statement.hpp"

namespace store {

namespace {

// With the first change of a table a patchset has its name and columns.
constexpr std::uint64_t table_bytes_max = 64;

}  // namespace

void ChangeRecorder::End::operator()(sqlite3_session* session) const noexcept {
    sqlite3session_delete(session);
}

ChangeRecorder::ChangeRecorder(SQLite::Database& database,
                               const std::vector<JournaledTable>& tables)
    : database_(database), tables_(tables) {}

void ChangeRecorder::require(int code, const char* while_doing) {
    if (code == SQLITE_OK) return;
    throw to_storage_error(SQLite::Exception(database_.getHandle(), code), while_doing);
}

void ChangeRecorder::begin() {
    session_.reset();
    not_written_ = 0;
    sqlite3_session* session = nullptr;
    require(sqlite3session_create(database_.getHandle(), "main", &session), "recording changes");
    session_.reset(session);
    int counts_bytes = 1;
    require(sqlite3session_object_config(session, SQLITE_SESSION_OBJCONFIG_SIZE, &counts_bytes),
            "recording changes");
    for (const JournaledTable& table : tables_) {
        require(sqlite3session_attach(session, table.name.c_str()), "recording changes");
    }
}

domain::Bytes ChangeRecorder::patchset() {
    int size = 0;
    void* bytes = nullptr;
    const int code = sqlite3session_patchset(session_.get(), &size, &bytes);
    const std::unique_ptr<void, decltype(&sqlite3_free)> owned(bytes, &sqlite3_free);
    require(code, "collecting changes");
    const auto* begin = static_cast<const std::uint8_t*>(bytes);
    return {begin, begin + size};
}

std::uint64_t ChangeRecorder::changed_bytes() const {
    if (!session_) return 0;
    return static_cast<std::uint64_t>(sqlite3session_changeset_size(session_.get())) - not_written_;
}

void ChangeRecorder::count_keys(std::uint64_t before, std::uint64_t rows, std::uint64_t key_bytes) {
    const std::uint64_t counted = changed_bytes() - before;
    const std::uint64_t written = rows == 0 ? 0 : rows * key_bytes + table_bytes_max;
    if (counted > written) not_written_ += counted - written;
}

}  // namespace store
