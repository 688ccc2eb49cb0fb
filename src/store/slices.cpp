#include "store/slices.hpp"

#include <bit>
#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>

#include "store/raw_statement.hpp"
#include "store/sql_text.hpp"
#include "store/statement.hpp"

namespace store {

namespace {

// A value is a byte that says its type, as SQLite numbers them, then eight bytes of an integer or a
// float, or four of a length and so many more.

void append_bytes(domain::Bytes& bytes, int type, domain::ByteView value) {
    bytes.push_back(static_cast<std::uint8_t>(type));
    domain::append_big_endian(bytes, value.size(), 4);
    bytes.insert(bytes.end(), value.begin(), value.end());
}

void append_text(domain::Bytes& bytes, std::string_view text) {
    append_bytes(bytes, SQLITE_TEXT,
                 {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void append_column(domain::Bytes& bytes, sqlite3_stmt* row, int column) {
    const int type = sqlite3_column_type(row, column);
    switch (type) {
        case SQLITE_INTEGER:
            bytes.push_back(SQLITE_INTEGER);
            domain::append_big_endian(
                bytes, static_cast<std::uint64_t>(sqlite3_column_int64(row, column)), 8);
            return;
        case SQLITE_FLOAT:
            bytes.push_back(SQLITE_FLOAT);
            domain::append_big_endian(
                bytes, std::bit_cast<std::uint64_t>(sqlite3_column_double(row, column)), 8);
            return;
        case SQLITE_NULL:
            bytes.push_back(SQLITE_NULL);
            return;
        default: {
            const auto* data = static_cast<const std::uint8_t*>(sqlite3_column_blob(row, column));
            const auto size = static_cast<std::size_t>(sqlite3_column_bytes(row, column));
            append_bytes(bytes, type, {data, size});
        }
    }
}

// Reads what the functions above wrote; what somebody else wrote is nothing.
class ValueReader {
public:
    explicit ValueReader(domain::ByteView bytes) : rest_(bytes) {}

    [[nodiscard]] bool is_at_end() const { return rest_.empty(); }

    std::optional<std::string_view> text() {
        if (take_type() != SQLITE_TEXT) return std::nullopt;
        const auto value = take_bytes();
        if (!value) return std::nullopt;
        return std::string_view{reinterpret_cast<const char*>(value->data()), value->size()};
    }

    // A value of a key, which is never null, nor a float in any table. Not copied.
    bool bind(sqlite3_stmt* statement, int index) {
        const int type = take_type();
        if (type == SQLITE_INTEGER) {
            const auto number = take_number(8);
            return number && sqlite3_bind_int64(statement, index,
                                                static_cast<std::int64_t>(*number)) == SQLITE_OK;
        }
        if (type != SQLITE_TEXT && type != SQLITE_BLOB) return false;
        const auto value = take_bytes();
        if (!value) return false;
        const auto size = static_cast<int>(value->size());
        const auto* text = reinterpret_cast<const char*>(value->data());
        return (type == SQLITE_TEXT
                    ? sqlite3_bind_text(statement, index, text, size, SQLITE_STATIC)
                    : sqlite3_bind_blob(statement, index, text, size, SQLITE_STATIC)) == SQLITE_OK;
    }

private:
    int take_type() {
        const auto type = take_number(1);
        return type ? static_cast<int>(*type) : 0;
    }

    std::optional<std::uint64_t> take_number(std::size_t size) {
        if (rest_.size() < size) return std::nullopt;
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < size; ++i) number = number << 8U | rest_[i];
        rest_ = rest_.subspan(size);
        return number;
    }

    std::optional<domain::ByteView> take_bytes() {
        const auto size = take_number(4);
        if (!size || rest_.size() < *size) return std::nullopt;
        const domain::ByteView value = rest_.first(*size);
        rest_ = rest_.subspan(*size);
        return value;
    }

    domain::ByteView rest_;
};

}  // namespace

struct Slices::Table {
    Table(SQLite::Database& database, const JournaledTable& table)
        : name(table.name),
          key(table.key),
          columns(static_cast<int>(table.columns.size())),
          all(database, "select * from " + quoted(name) + " order by " + key_list(table)),
          behind(database, "select * from " + quoted(name) + " where (" + key_list(table) +
                               ") > (" + mark_list(key.size()) + ") order by " + key_list(table)) {}

    static std::string key_list(const JournaledTable& table) { return name_list(key_names(table)); }

    const std::string name;
    const std::vector<int> key;
    const int columns;
    RawStatement all;
    RawStatement behind;
};

Slices::Slices(SQLite::Database& database, const std::vector<JournaledTable>& tables) {
    domain::Bytes names;
    for (const JournaledTable& table : tables) {
        tables_.push_back(std::make_unique<Table>(database, table));
        append_text(names, table.name);
        domain::append_big_endian(names, table.columns.size(), 4);
        for (const std::string& column : table.columns) append_text(names, column);
    }
    layout_ = domain::sha256(names);
}

Slices::~Slices() = default;

std::optional<Slices::Read> Slices::read(domain::ByteView after) {
    try {
        return read_behind(after);
    } catch (const SQLite::Exception& error) {
        throw to_storage_error(error, "reading rows to compare them");
    }
}

std::optional<Slices::Read> Slices::read_behind(domain::ByteView after) {
    buffer_.assign(layout_.begin(), layout_.end());
    append_bytes(buffer_, SQLITE_BLOB, after);
    full_at_ = buffer_.size() + bytes_max;
    std::size_t rows = 0;
    auto next = tables_.begin();
    if (!after.empty()) {
        ValueReader place(after);
        const auto name = place.text();
        while (next != tables_.end() && name != (*next)->name) ++next;
        if (next == tables_.end()) return std::nullopt;
        const Table& table = **next++;
        const Rewind rewind(table.behind.get());
        for (int index = 1; index <= static_cast<int>(table.key.size()); ++index) {
            if (!place.bind(table.behind.get(), index)) return std::nullopt;
        }
        if (!place.is_at_end()) return std::nullopt;
        rows = append_rows(table, table.behind, rows_max);
    }
    while (next != tables_.end() && rows < rows_max && buffer_.size() < full_at_) {
        const Table& table = **next++;
        const Rewind rewind(table.all.get());
        rows += append_rows(table, table.all, rows_max - rows);
    }
    const bool is_full = rows == rows_max || buffer_.size() >= full_at_;
    return Read{domain::sha256(buffer_), is_full ? last_ : domain::Bytes{}};
}

std::size_t Slices::append_rows(const Table& table, const RawStatement& rows, std::size_t limit) {
    std::size_t count = 0;
    while (count < limit && buffer_.size() < full_at_ && rows.step()) {
        ++count;
        append_text(buffer_, table.name);
        for (int column = 0; column < table.columns; ++column) {
            append_column(buffer_, rows.get(), column);
        }
        last_.clear();
        if (count == limit || buffer_.size() >= full_at_) {
            append_text(last_, table.name);
            for (const int column : table.key) append_column(last_, rows.get(), column);
        }
    }
    return count;
}

domain::Bytes32 Slices::digest_of_all() {
    domain::Bytes digests;
    domain::Bytes after;
    do {
        Read slice = read(after).value();
        digests.insert(digests.end(), slice.digest.begin(), slice.digest.end());
        after = std::move(slice.last);
    } while (!after.empty());
    return domain::sha256(digests);
}

}  // namespace store
