#include "store/change_recorder.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <string>
#include <unordered_map>
#include <utility>

#include "store/errors.hpp"
#include "store/patchset.hpp"

namespace store {

namespace {

constexpr std::size_t change_head_bytes = 2;  // the operation, and a flag that is never set

// Seven bits a byte, the highest first.
void append_varint(domain::Bytes& bytes, std::size_t number) {
    int groups = 1;
    while ((number >> (7 * groups)) != 0) ++groups;
    for (int group = groups - 1; group >= 0; --group) {
        const auto bits = static_cast<std::uint8_t>(number >> (7 * group) & 0x7fU);
        bytes.push_back(group == 0 ? bits : static_cast<std::uint8_t>(bits | 0x80U));
    }
}

void append_value(domain::Bytes& bytes, sqlite3_value* value) {
    const int type = sqlite3_value_type(value);
    bytes.push_back(static_cast<std::uint8_t>(type));
    if (type == SQLITE_INTEGER) {
        domain::append_big_endian(bytes, static_cast<std::uint64_t>(sqlite3_value_int64(value)), 8);
    } else if (type == SQLITE_FLOAT) {
        domain::append_big_endian(bytes, std::bit_cast<std::uint64_t>(sqlite3_value_double(value)),
                                  8);
    } else if (type != SQLITE_NULL) {
        const auto* const data = static_cast<const std::uint8_t*>(sqlite3_value_blob(value));
        const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
        append_varint(bytes, size);
        bytes.insert(bytes.end(), data, data + size);
    }
}

// The values of a row, as a patchset has them.
class RowValues {
public:
    // `get`: sqlite3_preupdate_old or sqlite3_preupdate_new.
    template <typename Get>
    RowValues(sqlite3* handle, std::size_t columns, const Get& get) {
        ends_.reserve(columns);
        for (int column = 0; std::cmp_less(column, columns); ++column) {
            sqlite3_value* value = nullptr;
            const int code = get(handle, column, &value);
            if (code != SQLITE_OK) throw SQLite::Exception(handle, code);
            append_value(bytes_, value);
            ends_.push_back(bytes_.size());
        }
    }

    [[nodiscard]] const domain::Bytes& all() const { return bytes_; }
    [[nodiscard]] domain::ByteView of(std::size_t column) const {
        const std::size_t begin = column == 0 ? 0 : ends_[column - 1];
        return domain::ByteView(bytes_).subspan(begin, ends_[column] - begin);
    }

private:
    domain::Bytes bytes_;
    std::vector<std::size_t> ends_;
};

// Of one row: as it was when the transaction began, and as it is; nothing: it is not there.
struct RowChange {
    std::optional<RowValues> before{};
    std::optional<RowValues> now{};
};

bool differ(const RowChange& change, std::size_t column) {
    return !std::ranges::equal(change.before->of(column), change.now->of(column));
}

}  // namespace

class ChangeRecorder::Table {
public:
    explicit Table(const JournaledTable& facts) : facts_(facts), is_key_(facts.columns.size()) {
        for (const int column : facts.key) is_key_[static_cast<std::size_t>(column)] = true;
    }

    [[nodiscard]] const std::string& name() const { return facts_.name; }

    void forget() {
        if (changes_.empty()) return;
        changes_.clear();
        places_.clear();
    }

    // By how many bytes the patchset may have grown; less than zero when it shrank.
    std::int64_t note(sqlite3* handle, int operation) {
        std::optional<RowValues> before;
        std::optional<RowValues> now;
        if (operation != SQLITE_INSERT) {
            before.emplace(handle, facts_.columns.size(), sqlite3_preupdate_old);
        }
        if (operation != SQLITE_DELETE) {
            now.emplace(handle, facts_.columns.size(), sqlite3_preupdate_new);
        }
        const std::size_t head = changes_.empty() ? head_bytes() : 0;
        auto grown = static_cast<std::int64_t>(head);
        if (before && now && key_of(*before) != key_of(*now)) {
            grown += put(std::exchange(before, std::nullopt), std::nullopt);
        }
        return grown + put(std::move(before), std::move(now));
    }

    void append_to(domain::Bytes& patchset) const {
        bool has_head = false;
        for (const RowChange& change : changes_) {
            if (size_of(change) == 0) continue;
            if (!std::exchange(has_head, true)) append_head(patchset);
            append_change(patchset, change);
        }
    }

private:
    [[nodiscard]] std::string key_of(const RowValues& row) const {
        std::string key;
        for (const int column : facts_.key) {
            const domain::ByteView value = row.of(static_cast<std::size_t>(column));
            key.append(value.begin(), value.end());
        }
        return key;
    }

    std::int64_t put(std::optional<RowValues> before, std::optional<RowValues> now) {
        const auto [place, is_new] =
            places_.try_emplace(key_of(before ? *before : *now), changes_.size());
        if (is_new) changes_.push_back({std::move(before), std::nullopt});
        RowChange& change = changes_[place->second];
        const std::size_t size = is_new ? 0 : size_of(change);
        change.now = std::move(now);
        return static_cast<std::int64_t>(size_of(change)) - static_cast<std::int64_t>(size);
    }

    [[nodiscard]] std::size_t head_bytes() const {
        constexpr std::size_t varint_bytes_max = 2;
        return 1 + varint_bytes_max + facts_.columns.size() + facts_.name.size() + 1;
    }

    // 0: in the end there is none.
    [[nodiscard]] std::size_t size_of(const RowChange& change) const {
        if (!change.before) return change.now ? change_head_bytes + change.now->all().size() : 0;
        std::size_t size = change_head_bytes;
        bool has_changed = !change.now;
        for (std::size_t column = 0; column < is_key_.size(); ++column) {
            if (is_key_[column]) {
                size += change.before->of(column).size();
            } else if (change.now) {
                const bool is_other = differ(change, column);
                has_changed = has_changed || is_other;
                size += is_other ? change.now->of(column).size() : 1;
            }
        }
        return has_changed ? size : 0;
    }

    void append_head(domain::Bytes& bytes) const {
        bytes.push_back(patchset_table);
        append_varint(bytes, is_key_.size());
        for (std::size_t column = 0; column < is_key_.size(); ++column) {
            const auto place =
                std::ranges::find(facts_.key, static_cast<int>(column)) - facts_.key.begin();
            bytes.push_back(is_key_[column] ? static_cast<std::uint8_t>(place + 1) : 0);
        }
        bytes.insert(bytes.end(), facts_.name.begin(), facts_.name.end());
        bytes.push_back(0);
    }

    void append_change(domain::Bytes& bytes, const RowChange& change) const {
        const int operation = !change.before ? SQLITE_INSERT
                              : change.now   ? SQLITE_UPDATE
                                             : SQLITE_DELETE;
        bytes.push_back(static_cast<std::uint8_t>(operation));
        bytes.push_back(0);
        if (!change.before) {
            bytes.insert(bytes.end(), change.now->all().begin(), change.now->all().end());
            return;
        }
        for (std::size_t column = 0; column < is_key_.size(); ++column) {
            if (!is_key_[column] && !change.now) continue;
            if (!is_key_[column] && !differ(change, column)) {
                bytes.push_back(undefined_value);
                continue;
            }
            const RowValues& row = is_key_[column] ? *change.before : *change.now;
            const domain::ByteView value = row.of(column);
            bytes.insert(bytes.end(), value.begin(), value.end());
        }
    }

    const JournaledTable& facts_;
    std::vector<bool> is_key_;
    std::vector<RowChange> changes_;                       // in the order of the first of each row
    std::unordered_map<std::string, std::size_t> places_;  // in changes_, by key
};

ChangeRecorder::ChangeRecorder(SQLite::Database& database,
                               const std::vector<JournaledTable>& tables)
    : database_(database) {
    for (const JournaledTable& table : tables) tables_.push_back(std::make_unique<Table>(table));
}

ChangeRecorder::~ChangeRecorder() {
    end();
}

void ChangeRecorder::begin() {
    for (const auto& table : tables_) table->forget();
    bytes_ = 0;
    failed_ = false;
    sqlite3_preupdate_hook(database_.getHandle(), note_change, this);
}

void ChangeRecorder::end() noexcept {
    sqlite3_preupdate_hook(database_.getHandle(), nullptr, nullptr);
}

void ChangeRecorder::note_change(void* self, sqlite3* /*handle*/, int operation,
                                 const char* /*database*/, const char* table,
                                 long long /*old_rowid*/, long long /*new_rowid*/) {
    auto& recorder = *static_cast<ChangeRecorder*>(self);
    try {
        recorder.note(operation, table);
    } catch (const std::exception&) {
        recorder.failed_ = true;  // SQLite takes no exceptions
    }
}

void ChangeRecorder::note(int operation, const char* table) {
    const auto found =
        std::ranges::find_if(tables_, [&](const auto& each) { return each->name() == table; });
    if (found == tables_.end()) return;
    const std::int64_t grown = (*found)->note(database_.getHandle(), operation);
    bytes_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(bytes_) + grown);
}

domain::Bytes ChangeRecorder::patchset() const {
    if (failed_) throw StorageError(StorageErrorKind::other, "recording changes failed");
    domain::Bytes patchset;
    patchset.reserve(bytes_);
    for (const auto& table : tables_) table->append_to(patchset);
    return patchset;
}

}  // namespace store
