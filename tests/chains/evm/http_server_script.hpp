#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/signers/aws_kms.hpp"
#include "net/client.hpp"

namespace support {

// A server that answers at once, in the caller's thread, what the test says.
struct ServerScript {
    std::function<net::ClientResult(const net::OwnedRequest&)> on_request =
        [](const net::OwnedRequest&) {
            return net::transport_error(net::TransportError::Kind::unsent, "connection refused");
        };
    std::vector<net::OwnedRequest> requests;

    [[nodiscard]] chains::evm::signers::HttpServer server() {
        chains::evm::signers::HttpServer server;
        server.ask = [this](net::OwnedRequest request, domain::Milliseconds,
                            const net::Client::Done& done) {
            requests.push_back(request);
            done(on_request(request));
        };
        return server;
    }
};

[[nodiscard]] inline net::ClientResult http_answer(int status, std::string body) {
    return net::ClientResponse{status, std::move(body), {}};
}

[[nodiscard]] inline std::string header_of(const net::OwnedRequest& request,
                                           const std::string& name) {
    for (const auto& [key, value] : request.headers) {
        if (key == name) return value;
    }
    return {};
}

}  // namespace support
