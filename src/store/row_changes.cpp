#include "store/row_changes.hpp"

#include <algorithm>
#include <cstdint>

namespace store {

namespace {

// One byte of format, the checksum of all that follows, the digest, four bytes of the length of
// `after`, `after`, the patchset.
constexpr std::uint8_t changes_format = 1;
constexpr std::size_t digest_bytes = 32;
constexpr std::size_t length_bytes = 4;
constexpr std::size_t head_bytes = 1 + digest_bytes;
constexpr std::size_t after_at = head_bytes + digest_bytes + length_bytes;

std::size_t length_at(domain::ByteView encoded, std::size_t place) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) length = length << 8U | encoded[place + i];
    return length;
}

}  // namespace

domain::Bytes encode_changes(const RowChanges& changes) {
    const domain::Bytes& after = changes.slice.after;
    domain::Bytes encoded(head_bytes);
    encoded.reserve(after_at + after.size() + changes.patchset.size());
    encoded.insert(encoded.end(), changes.slice.digest.begin(), changes.slice.digest.end());
    domain::append_big_endian(encoded, after.size(), length_bytes);
    encoded.insert(encoded.end(), after.begin(), after.end());
    encoded.insert(encoded.end(), changes.patchset.begin(), changes.patchset.end());
    encoded[0] = changes_format;
    const auto checksum = domain::sha256(domain::ByteView(encoded).subspan(head_bytes));
    std::ranges::copy(checksum, encoded.begin() + 1);
    return encoded;
}

std::optional<RowChanges> decode_changes(domain::ByteView encoded) {
    if (encoded.size() <= after_at || encoded[0] != changes_format) return std::nullopt;
    const domain::ByteView body = encoded.subspan(head_bytes);
    if (!std::ranges::equal(domain::sha256(body), encoded.subspan(1, digest_bytes))) {
        return std::nullopt;
    }
    const std::size_t after_bytes = length_at(encoded, head_bytes + digest_bytes);
    const domain::ByteView rest = encoded.subspan(after_at);
    if (rest.size() <= after_bytes) return std::nullopt;
    RowChanges changes;
    std::ranges::copy(body.first(digest_bytes), changes.slice.digest.begin());
    changes.slice.after.assign(rest.begin(),
                               rest.begin() + static_cast<std::ptrdiff_t>(after_bytes));
    changes.patchset.assign(rest.begin() + static_cast<std::ptrdiff_t>(after_bytes), rest.end());
    return changes;
}

}  // namespace store
