#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "chains/evm/options.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "engine/contract_signatures.hpp"

namespace chains::evm {

// Asks accounts on host chains whether they stand behind a signature (ERC-1271, evm-gateway 9.2,
// relayer-api 1.11 points 4 to 6). Any thread; ask() blocks, for all tries.
class ContractWallets : public engine::ContractSignatures {
public:
    using Hosts = std::map<std::uint64_t, std::unique_ptr<jsonrpc::Node>>;
    using Pause = std::function<void(domain::Milliseconds)>;

    // What is referred to must outlive it. `pause` waits between tries; absent: in the caller's
    // thread until stop().
    ContractWallets(const Options& options, const Hosts& hosts, Pause pause = {});

    [[nodiscard]] engine::SignatureAnswer ask(std::uint64_t host_chain_id,
                                              const domain::Address& account,
                                              const domain::Bytes32& digest,
                                              domain::ByteView signature) override;

    // Ends pauses and tries no more. Calls under way end with their node.
    void stop();

private:
    void wait(domain::Milliseconds time);
    [[nodiscard]] bool is_stopped() const;

    const Options options_;
    const Hosts& hosts_;
    const Pause pause_;

    mutable std::mutex mutex_;
    std::condition_variable stopping_;
    bool stopped_ = false;
};

}  // namespace chains::evm
