#pragma once

#include <httplib.h>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "bench/anvil.hpp"
#include "bench/posthouse.hpp"
#include "chains/evm/signer.hpp"

namespace bench {

// Answers eth_signTransaction for a development key, each after `delay`.
class SlowSigner {
public:
    // At the same time: any number, or one after the other, as a device does it.
    enum class Serves { many, one };
    explicit SlowSigner(std::chrono::milliseconds delay, const std::string& key = relayer_key,
                        Serves serves = Serves::many);
    ~SlowSigner();
    SlowSigner(const SlowSigner&) = delete;
    SlowSigner& operator=(const SlowSigner&) = delete;

    // Instead of the key in the configuration.
    void put_into(Settings& settings) const;
    // As one of `gateway.tx_engine.signers`, in TOML.
    [[nodiscard]] std::string table() const;
    [[nodiscard]] domain::Address account() const { return key_->address(); }
    // Most at the same time.
    [[nodiscard]] std::size_t peak() const { return peak_; }

private:
    void answer(const httplib::Request& request, httplib::Response& response);

    const std::chrono::milliseconds delay_;
    const std::unique_ptr<chains::evm::LocalSigner> key_;
    const Serves serves_;
    std::mutex one_;  // held while one of them signs
    std::atomic<std::size_t> under_way_{0};
    std::atomic<std::size_t> peak_{0};
    httplib::Server server_;
    int port_ = 0;
    std::jthread thread_;
};

}  // namespace bench
