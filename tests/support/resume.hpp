#pragma once

#include <cstdint>
#include <string>

#include "engine/gateway.hpp"

namespace support {

// For gateways with one listener.
[[nodiscard]] inline engine::Resume resume_from(std::uint64_t cursor) {
    return {{{std::string{engine::only_listener}, cursor}}, {}, {}};
}

}  // namespace support
