#pragma once

#include <stdlib.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/node_answers.hpp"
#include "chains/jsonrpc/http_node.hpp"
#include "support/http_stub.hpp"
#include "support/virtual_time.hpp"

namespace support {

inline const chains::jsonrpc::Call chain_id{"eth_chainId", chains::jsonrpc::Json::array()};
inline const chains::jsonrpc::Call send_raw{"eth_sendRawTransactionSync", {"0x02"}};

// For answers that come, and for those that do not.
constexpr domain::Milliseconds enough{10'000};
constexpr domain::Milliseconds patience{250};

// What the system trusts while this lives.
class TrustedFile {
public:
    explicit TrustedFile(const std::string& path) { ::setenv("SSL_CERT_FILE", path.c_str(), 1); }
    TrustedFile(const TrustedFile&) = delete;
    TrustedFile& operator=(const TrustedFile&) = delete;
    ~TrustedFile() { ::unsetenv("SSL_CERT_FILE"); }
};

// A node over these URLs, with a clock that stands still.
struct HttpHarness {
    explicit HttpHarness(std::vector<std::string> urls, domain::Milliseconds timeout = enough,
                         std::size_t batch_max = 3)
        : node({std::move(urls), timeout, 4'000, batch_max}, clock) {}

    chains::jsonrpc::Answer call() { return node.call(chain_id); }

    VirtualClock clock;
    chains::jsonrpc::HttpNode node;
};

class Stopwatch {
public:
    [[nodiscard]] long ms() const {
        return static_cast<long>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                     std::chrono::steady_clock::now() - begin_)
                                     .count());
    }

private:
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace support
