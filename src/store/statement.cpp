#include "store/statement.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <string>

namespace store {

namespace {

StorageErrorKind kind_of(int code) {
    switch (code & 0xff) {
        case SQLITE_FULL:
            return StorageErrorKind::full;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return StorageErrorKind::busy;
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
        case SQLITE_READONLY:
        case SQLITE_PERM:
            return StorageErrorKind::io;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return StorageErrorKind::corrupt;
        default:
            return StorageErrorKind::other;
    }
}

// Reads the schema, so on a new connection it is the first to meet a broken file.
SQLite::Statement prepared(SQLite::Database& database, const std::string& sql) {
    try {
        return {database, sql};
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, sql);
    }
}

}  // namespace

StorageError to_storage_error(const SQLite::Exception& error, std::string_view while_doing) {
    return StorageError(kind_of(error.getErrorCode()),
                        std::string(while_doing) + ": " + error.what() + " (SQLite code " +
                            std::to_string(error.getExtendedErrorCode()) + ")");
}

Statement::Statement(SQLite::Database& database, const std::string& sql)
    : database_(database), statement_(prepared(database, sql)) {}

void Statement::reset() {
    // The result of a reset repeats the error of the last step, which was reported there.
    static_cast<void>(statement_.tryReset());
}

int Statement::run() {
    try {
        while (statement_.executeStep()) {
        }
        const int changed = sqlite3_changes(database_.getHandle());
        reset();
        return changed;
    } catch (const SQLite::Exception& error) {
        reset();
        throw to_storage_error(error, statement_.getQuery());
    }
}

bool Statement::next() {
    try {
        if (statement_.executeStep()) return true;
        reset();
        return false;
    } catch (const SQLite::Exception& error) {
        reset();
        throw to_storage_error(error, statement_.getQuery());
    }
}

std::int64_t Statement::integer(int column) const {
    return const_cast<SQLite::Statement&>(statement_).getColumn(column).getInt64();
}

std::string_view Statement::text(int column) const {
    const SQLite::Column value = const_cast<SQLite::Statement&>(statement_).getColumn(column);
    const char* text = value.getText();
    return {text, static_cast<std::size_t>(value.getBytes())};
}

domain::ByteView Statement::blob(int column) const {
    const SQLite::Column value = const_cast<SQLite::Statement&>(statement_).getColumn(column);
    const auto* data = static_cast<const std::uint8_t*>(value.getBlob());
    return {data, static_cast<std::size_t>(value.getBytes())};
}

domain::Bytes Statement::bytes(int column) const {
    const domain::ByteView stored = blob(column);
    return {stored.begin(), stored.end()};
}

domain::Bytes32 Statement::bytes32(int column) const {
    const domain::ByteView stored = blob(column);
    domain::Bytes32 bytes{};
    if (stored.size() != bytes.size()) {
        throw StorageError(StorageErrorKind::corrupt, statement_.getQuery() + ": " +
                                                          std::to_string(stored.size()) +
                                                          " bytes stored where 32 belong");
    }
    std::copy(stored.begin(), stored.end(), bytes.begin());
    return bytes;
}

bool Statement::is_null(int column) const {
    return statement_.isColumnNull(column);
}

void Statement::bind(int index, domain::ByteView value) {
    static constexpr std::uint8_t nothing = 0;
    const void* data = value.empty() ? &nothing : value.data();
    statement_.bindNoCopy(index, data, static_cast<int>(value.size()));
}

}  // namespace store
