#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "store/errors.hpp"

namespace store {

// The library's exception in our words; keeps the extended result code.
[[nodiscard]] StorageError to_storage_error(const SQLite::Exception& error,
                                            std::string_view while_doing);

// A prepared statement. Bound texts and blobs are not copied: they must live until the last row was
// read. Columns count from 0, parameters in the order of with().
class Statement {
public:
    Statement(SQLite::Database& database, const std::string& sql);

    template <typename... Values>
    Statement& with(const Values&... values) {
        reset();
        int index = 0;
        (bind(++index, values), ...);
        return *this;
    }

    // Runs to the end; returns how many rows changed.
    int run();
    // Goes to the next row; false after the last one.
    [[nodiscard]] bool next();

    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] std::string_view text(int column) const;
    [[nodiscard]] domain::ByteView blob(int column) const;
    // A blob that outlives the row.
    [[nodiscard]] domain::Bytes bytes(int column) const;
    [[nodiscard]] bool is_null(int column) const;
    // Throws StorageError (corrupt) when something of another length is stored.
    [[nodiscard]] domain::Bytes32 bytes32(int column) const;

    // Gives the snapshot back before the last row was read.
    void finish() { reset(); }

private:
    void reset();
    void bind(int index, std::int64_t value) { statement_.bind(index, value); }
    template <std::unsigned_integral Value>
    void bind(int index, Value value) {
        statement_.bind(index, static_cast<std::int64_t>(value));
    }
    void bind(int index, std::nullptr_t) { statement_.bind(index); }
    void bind(int index, domain::Timestamp value) {
        statement_.bind(index, domain::unix_ms(value));
    }
    // For literals: not copied.
    void bind(int index, const char* value) { statement_.bindNoCopy(index, value); }
    void bind(int index, const std::string& value) { statement_.bindNoCopy(index, value); }
    void bind(int index, domain::ByteView value);
    void bind(int index, const domain::Bytes32& value) { bind(index, domain::ByteView{value}); }
    void bind(int index, const domain::Bytes& value) { bind(index, domain::ByteView{value}); }
    template <typename Value>
    void bind(int index, const std::optional<Value>& value) {
        value ? bind(index, *value) : bind(index, nullptr);
    }

    SQLite::Database& database_;
    SQLite::Statement statement_;
};

}  // namespace store
