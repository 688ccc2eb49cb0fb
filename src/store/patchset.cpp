#include "store/patchset.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace store {

namespace {

constexpr std::uint8_t patchset_table = 'P';  // of a changeset it is a T
constexpr int undefined_value = 0;            // a column that is not changed

std::string_view name_of_operation(int operation) {
    switch (operation) {
        case SQLITE_INSERT:
            return "insert";
        case SQLITE_UPDATE:
            return "update";
        case SQLITE_DELETE:
            return "delete";
        default:
            return {};
    }
}

// Walks through the format of patchsets: tables, each with its head and its changes. A change is
// the operation, a flag and the values of all columns, of a delete those of the key.
class PatchsetWalk {
public:
    PatchsetWalk(domain::ByteView patchset, const std::vector<JournaledTable>& tables)
        : rest_(patchset), tables_(tables) {}

    PatchsetContents run() {
        if (rest_.empty() || rest_.front() != patchset_table) return {"it is no patchset"};
        PatchsetContents contents;
        while (!rest_.empty() && !contents.problem) {
            if (rest_.front() == patchset_table) {
                contents.problem = take_table();
            } else {
                contents.deletes = contents.deletes || rest_.front() == SQLITE_DELETE;
                contents.problem = take_change();
            }
        }
        return contents;
    }

private:
    using Problem = std::optional<std::string>;

    static Problem unreadable() { return "it can not be read"; }

    Problem take_table() {
        static_cast<void>(skip(1));
        const auto columns = take_varint();
        if (!columns || *columns > rest_.size()) return unreadable();
        const domain::ByteView mask = rest_.first(*columns);
        static_cast<void>(skip(*columns));
        const auto end = std::ranges::find(rest_, std::uint8_t{0});
        if (end == rest_.end()) return unreadable();
        const std::string name(rest_.begin(), end);
        static_cast<void>(skip(name.size() + 1));
        const auto known = std::ranges::find(tables_, name, &JournaledTable::name);
        if (known == tables_.end()) return "there is no table " + name + " for it";
        table_ = &*known;
        if (*columns != table_->columns.size()) {
            return "the table " + name + " has " + std::to_string(table_->columns.size()) +
                   " columns, not " + std::to_string(*columns);
        }
        for (std::size_t column = 0; column < mask.size(); ++column) {
            if ((mask[column] != 0) != is_key(column)) {
                return "the table " + name + " has another key";
            }
        }
        return std::nullopt;
    }

    Problem take_change() {
        const int operation = rest_.front();
        if (table_ == nullptr || name_of_operation(operation).empty() || !skip(2)) {
            return unreadable();
        }
        for (std::size_t column = 0; column < table_->columns.size(); ++column) {
            if (operation == SQLITE_DELETE && !is_key(column)) continue;
            const bool may_be_missing = operation == SQLITE_UPDATE && !is_key(column);
            if (!take_value(may_be_missing)) return unreadable();
        }
        return std::nullopt;
    }

    bool take_value(bool may_be_missing) {
        if (rest_.empty()) return false;
        const int type = rest_.front();
        static_cast<void>(skip(1));
        switch (type) {
            case undefined_value:
                return may_be_missing;
            case SQLITE_INTEGER:
            case SQLITE_FLOAT:
                return skip(sizeof(std::int64_t));
            case SQLITE_TEXT:
            case SQLITE_BLOB: {
                const auto size = take_varint();
                return size && skip(*size);
            }
            default:
                return type == SQLITE_NULL;
        }
    }

    // Seven bits a byte, the highest first. SQLite's may be longer, but sizes never are.
    std::optional<std::size_t> take_varint() {
        std::size_t number = 0;
        for (int bytes = 0; bytes < 5 && !rest_.empty(); ++bytes) {
            const std::uint8_t byte = rest_.front();
            static_cast<void>(skip(1));
            number = number << 7U | (byte & 0x7fU);
            if ((byte & 0x80U) == 0) return number;
        }
        return std::nullopt;
    }

    bool skip(std::size_t size) {
        if (rest_.size() < size) return false;
        rest_ = rest_.subspan(size);
        return true;
    }

    [[nodiscard]] bool is_key(std::size_t column) const {
        return std::ranges::find(table_->key, static_cast<int>(column)) != table_->key.end();
    }

    domain::ByteView rest_;
    const std::vector<JournaledTable>& tables_;
    const JournaledTable* table_ = nullptr;
};

// Told to SQLite for every row that is not as the patchset expects it.
int refuse_conflict(void* text, int kind, sqlite3_changeset_iter* at) {
    const char* what = kind == SQLITE_CHANGESET_NOTFOUND     ? "is not there"
                       : kind == SQLITE_CHANGESET_CONFLICT   ? "is there already"
                       : kind == SQLITE_CHANGESET_CONSTRAINT ? "breaks a rule of the schema"
                                                             : "is another one";
    const char* table = "";
    int columns = 0;
    int operation = 0;
    int indirect = 0;
    sqlite3changeset_op(at, &table, &columns, &operation, &indirect);
    static_cast<std::string*>(text)
        ->append(name_of_operation(operation))
        .append(" of ")
        .append(table)
        .append(": the row ")
        .append(what);
    return SQLITE_CHANGESET_ABORT;
}

}  // namespace

PatchsetContents inspect(domain::ByteView patchset, const std::vector<JournaledTable>& tables) {
    return PatchsetWalk(patchset, tables).run();
}

std::optional<std::string> apply(SQLite::Database& database, const domain::Bytes& patchset) {
    std::string conflict;
    const int code = sqlite3changeset_apply_v2(
        database.getHandle(), static_cast<int>(patchset.size()),
        const_cast<std::uint8_t*>(patchset.data()), nullptr, refuse_conflict, &conflict, nullptr,
        nullptr, SQLITE_CHANGESETAPPLY_NOSAVEPOINT);
    if (!conflict.empty()) return conflict;
    if (code == SQLITE_MISMATCH) return "a key of another type";
    if (code != SQLITE_OK) throw SQLite::Exception(database.getHandle(), code);
    return std::nullopt;
}

}  // namespace store
