#pragma once

#include <httplib.h>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "bench/posthouse.hpp"
#include "chains/evm/signer.hpp"

namespace bench {

// Answers eth_signTransaction for the relayer's development key, each after `delay`, any number at
// the same time.
class SlowSigner {
public:
    explicit SlowSigner(std::chrono::milliseconds delay);
    ~SlowSigner();
    SlowSigner(const SlowSigner&) = delete;
    SlowSigner& operator=(const SlowSigner&) = delete;

    // Instead of the key in the configuration.
    void put_into(Settings& settings) const;
    // Most at the same time.
    [[nodiscard]] std::size_t peak() const { return peak_; }

private:
    void answer(const httplib::Request& request, httplib::Response& response);

    const std::chrono::milliseconds delay_;
    const std::unique_ptr<chains::evm::LocalSigner> key_;
    std::atomic<std::size_t> under_way_{0};
    std::atomic<std::size_t> peak_{0};
    httplib::Server server_;
    int port_ = 0;
    std::jthread thread_;
};

}  // namespace bench
