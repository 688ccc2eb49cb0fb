#include "store/change_recorder.hpp"

#include <sqlite3.h>

#include "store/statement.hpp"

namespace store {

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
    return static_cast<std::uint64_t>(sqlite3session_changeset_size(session_.get()));
}

}  // namespace store
