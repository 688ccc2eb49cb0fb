#include "cluster/entry.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "domain/codec.hpp"
#include "domain/derived_key.hpp"
#include "domain/sealed_box.hpp"

namespace cluster {

namespace {

namespace codec = domain::codec;

constexpr std::string_view entry_purpose = "posthouse cluster, entry of the journal, 1";
constexpr std::string_view part_purpose = "posthouse cluster, part of a snapshot, 1";
constexpr std::uint8_t envelope_version = 1;

// What stands in the clear before the sealed bytes.
struct Envelope {
    std::uint8_t version = envelope_version;
    Fingerprint key{};
    domain::Bytes32 salt{};
};

struct EntryHead {
    std::uint8_t kind = 0;
    std::uint32_t schema = 0;
};

auto members(codec::Is<Envelope> auto& of) {
    return std::tie(of.version, of.key, of.salt);
}

auto members(codec::Is<EntryHead> auto& of) {
    return std::tie(of.kind, of.schema);
}

template <class... Values>
domain::Bytes encoded(const Values&... values) {
    codec::Writer writer((codec::size_of(values) + ...));
    (writer.put(values), ...);
    return writer.take();
}

std::uint64_t bits_of(std::int64_t number) {
    return static_cast<std::uint64_t>(number);
}

std::uint64_t bits_of(domain::Timestamp time) {
    return bits_of(domain::unix_ms(time));
}

domain::Timestamp time_of(std::uint64_t bits) {
    return domain::from_unix_ms(static_cast<std::int64_t>(bits));
}

domain::Bytes encoded_place(const EntryPlace& place) {
    return encoded(place.book, bits_of(place.shard), bits_of(place.seq), bits_of(place.epoch),
                   place.previous);
}

domain::Bytes encoded_place(const PartPlace& place) {
    return encoded(place.book, bits_of(place.shard), bits_of(place.seq), place.hash, place.snapshot,
                   bits_of(place.part), place.is_last);
}

std::string_view as_text(const domain::Bytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// `head`: in the clear, behind the envelope. Head and place are bound to what is sealed.
domain::Bytes seal(const Keys& keys, std::string_view purpose, domain::Bytes head,
                   const domain::Bytes& place, domain::ByteView plain, ports::Random& random) {
    Envelope envelope{.key = keys.current().fingerprint()};
    random.fill(envelope.salt);
    std::array<std::uint8_t, domain::SealedBox::nonce_bytes> nonce{};
    random.fill(nonce);
    const domain::SealedBox box(keys.current().secret(), envelope.salt, purpose);

    domain::Bytes sealed = encoded(envelope);
    sealed.insert(sealed.end(), head.begin(), head.end());
    head.insert(head.end(), place.begin(), place.end());
    const domain::Bytes inner = box.seal(plain, as_text(head), nonce);
    sealed.insert(sealed.end(), inner.begin(), inner.end());
    return sealed;
}

// `head_size`: of what stands in the clear behind the envelope.
std::variant<domain::Bytes, Unreadable> open(const Keys& keys, std::string_view purpose,
                                             std::size_t head_size, const domain::Bytes& place,
                                             domain::ByteView sealed) {
    Envelope envelope;
    codec::Reader reader(sealed);
    const std::size_t clear_size = codec::size_of(envelope) + head_size;
    if (!reader.get(envelope) || sealed.size() < clear_size) return Unreadable{"is cut off"};
    if (envelope.version != envelope_version) {
        return Unreadable{"has format " + std::to_string(envelope.version) +
                          ", which this version does not know"};
    }
    const Key* const key = keys.with(envelope.key);
    if (key == nullptr) {
        return Unreadable{"was sealed with key " + name_of(envelope.key) + "; this node has " +
                          keys.names()};
    }
    const domain::ByteView clear = sealed.subspan(codec::size_of(envelope), head_size);
    domain::Bytes label(clear.begin(), clear.end());
    label.insert(label.end(), place.begin(), place.end());
    const domain::SealedBox box(key->secret(), envelope.salt, purpose);
    if (auto plain = box.open(sealed.subspan(clear_size), as_text(label))) {
        return *std::move(plain);
    }
    return Unreadable{"was changed, or stands where it was not sealed for; its key " +
                      name_of(envelope.key) + " is here"};
}

std::optional<EntryKind> kind_of(std::uint8_t number) {
    switch (static_cast<EntryKind>(number)) {
        case EntryKind::changes:
        case EntryKind::migration:
        case EntryKind::release:
            return static_cast<EntryKind>(number);
    }
    return std::nullopt;
}

}  // namespace

domain::Bytes seal_entry(const Keys& keys, const EntryPlace& place, const Entry& entry,
                         ports::Random& random) {
    const EntryHead head{.kind = static_cast<std::uint8_t>(entry.kind), .schema = entry.schema};
    domain::Bytes plain =
        encoded(bits_of(entry.wall), bits_of(entry.steady), entry.digest, entry.payload);
    domain::Bytes sealed =
        seal(keys, entry_purpose, encoded(head), encoded_place(place), plain, random);
    domain::wipe(plain);
    return sealed;
}

std::variant<Entry, Unreadable> open_entry(const Keys& keys, const EntryPlace& place,
                                           domain::ByteView sealed) {
    EntryHead head;
    auto opened = open(keys, entry_purpose, codec::size_of(head), encoded_place(place), sealed);
    if (auto* unreadable = std::get_if<Unreadable>(&opened)) return std::move(*unreadable);
    auto& plain = std::get<domain::Bytes>(opened);

    codec::Reader clear(sealed.subspan(codec::size_of(Envelope{})));
    codec::Reader reader(plain);
    Entry entry;
    std::uint64_t wall = 0;
    std::uint64_t steady = 0;
    const bool whole = clear.get(head) && reader.get(wall) && reader.get(steady) &&
                       reader.get(entry.digest) && reader.get(entry.payload) && reader.at_end();
    domain::wipe(plain);
    const std::optional<EntryKind> kind = kind_of(head.kind);
    if (!whole || !kind) return Unreadable{"is of a kind that this version does not know"};
    entry.kind = *kind;
    entry.schema = head.schema;
    entry.wall = time_of(wall);
    entry.steady = time_of(steady);
    return entry;
}

domain::Bytes32 hash_of(const EntryPlace& place, domain::ByteView sealed) {
    const domain::Bytes header = encoded_place(place);
    const std::array<domain::ByteView, 2> parts{header, sealed};
    return domain::sha256(parts);
}

domain::Bytes seal_part(const Keys& keys, const PartPlace& place, domain::ByteView plain,
                        ports::Random& random) {
    return seal(keys, part_purpose, {}, encoded_place(place), plain, random);
}

std::variant<domain::Bytes, Unreadable> open_part(const Keys& keys, const PartPlace& place,
                                                  domain::ByteView sealed) {
    return open(keys, part_purpose, 0, encoded_place(place), sealed);
}

}  // namespace cluster
