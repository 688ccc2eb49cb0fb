#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>

#include "cluster/key.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "ports/random.hpp"

namespace cluster {

// Stored as these numbers.
enum class EntryKind : std::uint8_t {
    changes = 1,    // the payload is what one step of the engine changed
    migration = 2,  // the file has the entry's schema from here on; each program knows how
    release = 3,    // the owner has stopped; what was unfinished is released
};

struct Entry {
    EntryKind kind = EntryKind::changes;
    std::uint32_t schema = 0;    // version of the file after this entry
    domain::Timestamp wall{};    // the owner's clocks when it decided, to the millisecond
    domain::Timestamp steady{};  // engine::Moment has both
    domain::Bytes payload;       // opaque here
    domain::Bytes digest;        // of a slice of the file, for followers to compare

    bool operator==(const Entry&) const = default;
};

// Where an entry stands in the journal. It opens nowhere else.
struct EntryPlace {
    std::string book;
    std::int64_t shard = 0;
    std::int64_t seq = 0;
    std::int64_t epoch = 0;
    domain::Bytes32 previous{};  // hash of the entry before
};

// Why an entry or a part can not be used, in one line without secrets. A key that is not here is
// named by its fingerprint, and so are those that are.
struct Unreadable {
    std::string reason;
};

// AES-256-GCM under a key of its own, made from the current cluster key and 32 random bytes that go
// along. In the clear are the fingerprint of the key, kind and schema; they can not be changed
// either. Any thread. Whoever hands in the entry wipes it.
[[nodiscard]] domain::Bytes seal_entry(const Keys& keys, const EntryPlace& place,
                                       const Entry& entry, ports::Random& random);

// Any thread. Whoever gets the entry wipes it.
[[nodiscard]] std::variant<Entry, Unreadable> open_entry(const Keys& keys, const EntryPlace& place,
                                                         domain::ByteView sealed);

// What the next entry names as `previous`: SHA-256 over the place and the sealed bytes, so it can
// be checked without a key. `sealed` may be what another version made.
[[nodiscard]] domain::Bytes32 hash_of(const EntryPlace& place, domain::ByteView sealed);

// Where a part of a snapshot stands. The last part is known as such, so none can be cut off.
struct PartPlace {
    std::string book;
    std::int64_t shard = 0;
    std::int64_t seq = 0;    // the snapshot is the file after this entry
    domain::Bytes32 hash{};  // of this entry
    std::array<std::uint8_t, 16> snapshot{};
    std::int64_t part = 0;  // from 0 on
    bool is_last = false;
};

// The same for parts of snapshots; what is sealed as one is never opened as the other.
[[nodiscard]] domain::Bytes seal_part(const Keys& keys, const PartPlace& place,
                                      domain::ByteView plain, ports::Random& random);
[[nodiscard]] std::variant<domain::Bytes, Unreadable> open_part(const Keys& keys,
                                                                const PartPlace& place,
                                                                domain::ByteView sealed);

}  // namespace cluster
