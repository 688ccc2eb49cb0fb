#include "commands/drill/main_nets.hpp"

#include <algorithm>
#include <array>

namespace commands::drill {

namespace {

struct MainNet {
    std::uint64_t chain_id;
    std::string_view name;
};

constexpr std::array main_nets{
    MainNet{1, "Ethereum"},      MainNet{10, "OP Mainnet"},       MainNet{56, "BNB Smart Chain"},
    MainNet{100, "Gnosis"},      MainNet{130, "Unichain"},        MainNet{137, "Polygon"},
    MainNet{146, "Sonic"},       MainNet{250, "Fantom"},          MainNet{324, "ZKsync Era"},
    MainNet{480, "World Chain"}, MainNet{999, "Hyperliquid"},     MainNet{1'101, "Polygon zkEVM"},
    MainNet{1'329, "Sei"},       MainNet{5'000, "Mantle"},        MainNet{8'453, "Base"},
    MainNet{34'443, "Mode"},     MainNet{42'161, "Arbitrum One"}, MainNet{42'170, "Arbitrum Nova"},
    MainNet{42'220, "Celo"},     MainNet{43'114, "Avalanche"},    MainNet{57'073, "Ink"},
    MainNet{59'144, "Linea"},    MainNet{81'457, "Blast"},        MainNet{167'000, "Taiko"},
    MainNet{261'131, "Zama"},  // the gateway of the protocol's main net
    MainNet{534'352, "Scroll"},  MainNet{7'777'777, "Zora"},
};

}  // namespace

std::string_view main_net(std::uint64_t chain_id) {
    const auto* const found = std::ranges::find(main_nets, chain_id, &MainNet::chain_id);
    return found == main_nets.end() ? std::string_view{} : found->name;
}

}  // namespace commands::drill
