#pragma once

#include <cstdint>
#include <string_view>

namespace commands::drill {

// The name of a chain whose coins cost money; empty for one that is not known as such.
[[nodiscard]] std::string_view main_net(std::uint64_t chain_id);

}  // namespace commands::drill
