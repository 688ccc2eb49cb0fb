#pragma once

#include <cstddef>
#include <optional>

#include "domain/bytes.hpp"

namespace store {

// Some rows as they stand after an entry, of which owner and followers compare the digest. Slices
// follow one another through all tables by primary key, then begin again.
struct Slice {
    domain::Bytes after;  // which row lies before the first one; empty: none does
    domain::Bytes32 digest{};
};

// What one transaction changed. (store::Change is what became of a request.)
struct RowChanges {
    domain::Bytes patchset;  // in the format of SQLite's session extension; never empty
    Slice slice;
};

// A transaction with a larger patchset is not committed.
inline constexpr std::size_t patchset_bytes_max = std::size_t{1} << 20U;
// Whoever does many things in a transaction takes up no more of them once it has changed so much:
// each fits into what is left, as long as no payload, transaction or result is larger than that.
inline constexpr std::size_t full_bytes = patchset_bytes_max / 2;
inline constexpr std::size_t value_bytes_max = full_bytes - (std::size_t{64} << 10U);

// For an entry of the journal, with a checksum.
[[nodiscard]] domain::Bytes encode_changes(const RowChanges& changes);
// Nothing when a byte is not as it was written, or the format is another one.
[[nodiscard]] std::optional<RowChanges> decode_changes(domain::ByteView encoded);

}  // namespace store
