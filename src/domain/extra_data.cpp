#include "domain/extra_data.hpp"

#include <algorithm>
#include <cstddef>

namespace domain {

std::optional<KmsContext> kms_context_of(ByteView extra_data) {
    if (extra_data.empty() || extra_data.front() == 0) return KmsContext{};
    constexpr std::size_t with_context = 33;
    constexpr std::size_t with_epoch = 65;
    const std::uint8_t version = extra_data.front();
    if (version != 1 && version != 2) return std::nullopt;
    if (extra_data.size() < (version == 1 ? with_context : with_epoch)) return std::nullopt;
    Bytes32 id{};
    std::copy_n(extra_data.begin() + 1, id.size(), id.begin());
    if (id == Bytes32{}) return KmsContext{};
    return KmsContext{id};
}

}  // namespace domain
