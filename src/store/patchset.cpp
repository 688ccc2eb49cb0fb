#include "store/patchset.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "store/raw_statement.hpp"
#include "store/sql_text.hpp"

namespace store {

namespace {

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
        bool changes_something = operation != SQLITE_UPDATE;
        for (std::size_t column = 0; column < table_->columns.size(); ++column) {
            if (operation == SQLITE_DELETE && !is_key(column)) continue;
            const bool may_be_missing = operation == SQLITE_UPDATE && !is_key(column);
            changes_something = changes_something || (may_be_missing && !rest_.empty() &&
                                                      rest_.front() != undefined_value);
            if (!take_value(may_be_missing)) return unreadable();
        }
        if (!changes_something) return unreadable();
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

using Iterator = std::unique_ptr<sqlite3_changeset_iter, decltype(&sqlite3changeset_finalize)>;

}  // namespace

PatchsetContents inspect(domain::ByteView patchset, const std::vector<JournaledTable>& tables) {
    return PatchsetWalk(patchset, tables).run();
}

// Prepared when the first change asks for them.
struct PatchsetApplier::Table {
    using Prepared = std::unique_ptr<RawStatement>;

    Table(SQLite::Database& opened, const JournaledTable& journaled)
        : database(opened), facts(journaled) {
        assert(facts.columns.size() <= 64);
    }

    const RawStatement& to_insert() {
        if (!insert) {
            insert = prepare("insert into " + quoted(facts.name) + " values (" +
                             mark_list(facts.columns.size()) + ")");
        }
        return *insert;
    }

    const RawStatement& to_delete() {
        if (!erase) erase = prepare("delete from " + quoted(facts.name) + where_key());
        return *erase;
    }

    // `columns`: a bit for each that changes.
    const RawStatement& to_update(std::uint64_t columns) {
        Prepared& update = updates[columns];
        if (!update) {
            std::string changes;
            for (std::size_t i = 0; i < facts.columns.size(); ++i) {
                if ((columns >> i & 1U) == 0) continue;
                changes += (changes.empty() ? "" : ", ") + quoted(facts.columns[i]) + " = ?";
            }
            update = prepare("update " + quoted(facts.name) + " set " + changes + where_key());
        }
        return *update;
    }

    [[nodiscard]] Prepared prepare(const std::string& sql) const {
        return std::make_unique<RawStatement>(database, sql);
    }

    [[nodiscard]] std::string where_key() const {
        return " where (" + name_list(key_names(facts)) + ") = (" + mark_list(facts.key.size()) +
               ")";
    }

    SQLite::Database& database;
    const JournaledTable& facts;
    Prepared insert{};
    Prepared erase{};
    std::map<std::uint64_t, Prepared> updates{};
};

// The one an iterator stands at.
class PatchsetApplier::Change {
public:
    Change(sqlite3_changeset_iter* at, Table& table, int operation)
        : at_(at), table_(table), operation_(operation) {}

    // What stood in the way.
    std::optional<std::string> apply() {
        const RawStatement& statement = bound();
        const Rewind rewind(statement.get());
        try {
            static_cast<void>(statement.step());
        } catch (const SQLite::Exception& error) {
            if (error.getErrorCode() == SQLITE_MISMATCH) {
                return problem("has a key of another type");
            }
            if (error.getErrorCode() != SQLITE_CONSTRAINT) throw;
            const int rule = error.getExtendedErrorCode();
            const bool is_key =
                rule == SQLITE_CONSTRAINT_PRIMARYKEY || rule == SQLITE_CONSTRAINT_ROWID;
            return problem(is_key ? "is there already" : "breaks a rule of the schema");
        }
        if (table_.database.getChanges() == 0) return problem("is not there");
        return std::nullopt;
    }

private:
    const RawStatement& bound() {
        const auto columns = static_cast<int>(table_.facts.columns.size());
        if (operation_ == SQLITE_INSERT) {
            const RawStatement& statement = table_.to_insert();
            for (int column = 0; column < columns; ++column) bind(statement, new_value(column));
            return statement;
        }
        std::uint64_t changed = 0;
        if (operation_ == SQLITE_UPDATE) {
            for (int column = 0; column < columns; ++column) {
                if (new_value(column) != nullptr) changed |= std::uint64_t{1} << column;
            }
        }
        const RawStatement& statement =
            changed == 0 ? table_.to_delete() : table_.to_update(changed);
        for (int column = 0; column < columns; ++column) {
            if ((changed >> column & 1U) != 0) bind(statement, new_value(column));
        }
        for (const int column : table_.facts.key) bind(statement, old_value(column));
        return statement;
    }

    [[nodiscard]] sqlite3_value* new_value(int column) const {
        sqlite3_value* value = nullptr;
        require(sqlite3changeset_new(at_, column, &value));
        return value;
    }

    // Of a key.
    [[nodiscard]] sqlite3_value* old_value(int column) const {
        sqlite3_value* value = nullptr;
        require(sqlite3changeset_old(at_, column, &value));
        return value;
    }

    void bind(const RawStatement& statement, const sqlite3_value* value) {
        require(sqlite3_bind_value(statement.get(), ++bound_, value));
    }

    void require(int code) const {
        if (code != SQLITE_OK) throw SQLite::Exception(table_.database.getHandle(), code);
    }

    [[nodiscard]] std::string problem(std::string_view what) const {
        return std::string(name_of_operation(operation_))
            .append(" of ")
            .append(table_.facts.name)
            .append(": the row ")
            .append(what);
    }

    sqlite3_changeset_iter* const at_;
    Table& table_;
    const int operation_;
    int bound_ = 0;
};

PatchsetApplier::PatchsetApplier(SQLite::Database& database,
                                 const std::vector<JournaledTable>& tables)
    : database_(database) {
    for (const JournaledTable& table : tables) {
        tables_.push_back(std::make_unique<Table>(database, table));
    }
}

PatchsetApplier::~PatchsetApplier() = default;

std::optional<std::string> PatchsetApplier::apply(domain::ByteView patchset) {
    const auto require = [this](int code, int expected) {
        if (code != expected) throw SQLite::Exception(database_.getHandle(), code);
    };
    sqlite3_changeset_iter* started = nullptr;
    require(sqlite3changeset_start(&started, static_cast<int>(patchset.size()),
                                   const_cast<std::uint8_t*>(patchset.data())),
            SQLITE_OK);
    const Iterator at(started, &sqlite3changeset_finalize);
    int code = SQLITE_OK;
    while ((code = sqlite3changeset_next(at.get())) == SQLITE_ROW) {
        const char* name = nullptr;
        int columns = 0;
        int operation = 0;
        int indirect = 0;
        require(sqlite3changeset_op(at.get(), &name, &columns, &operation, &indirect), SQLITE_OK);
        const auto table = std::ranges::find_if(
            tables_, [&](const auto& candidate) { return candidate->facts.name == name; });
        assert(table != tables_.end());
        if (auto problem = Change(at.get(), **table, operation).apply()) return problem;
    }
    require(code, SQLITE_DONE);
    return std::nullopt;
}

}  // namespace store
