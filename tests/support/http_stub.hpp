#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/stub_server.hpp"

namespace support {

using Json = nlohmann::json;

struct StubRequest {
    std::string head;        // request line and fields
    Json body;               // null: none
    std::size_t number = 0;  // of this stub, from 1

    // `GET /path?query`
    [[nodiscard]] std::string line() const { return head.substr(0, head.find(" HTTP/")); }

    [[nodiscard]] std::string method() const {
        return (body.is_array() ? body.at(0) : body).at("method");
    }
};

inline std::string http(int status, std::string_view body, std::string_view fields = {}) {
    return "HTTP/1.1 " + std::to_string(status) +
           " Said\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           std::string(fields) + "\r\n" + std::string(body);
}

inline Json reply(const Json& id, const Json& result) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"result", result}};
}

inline Json error_reply(const Json& id, int code, std::string_view message) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

// The same result for every call of the request.
inline std::string http_result(const StubRequest& request, const Json& result) {
    if (!request.body.is_array()) return http(200, reply(request.body.at("id"), result).dump());
    Json all = Json::array();
    for (const Json& call : request.body) all.push_back(reply(call.at("id"), result));
    return http(200, all.dump());
}

inline std::string http_error(const StubRequest& request, int code, std::string_view message,
                              int status = 200) {
    return http(status, error_reply(request.body.at("id"), code, message).dump());
}

// An HTTP server that does with each request what the script says. The script runs on the
// connection's thread and answers whether the connection goes on.
class HttpStub {
public:
    using Script = std::function<bool(StubPeer& peer, const StubRequest& request)>;

    explicit HttpStub(Script script, const StubServer::Certificate& certificate = {})
        : script_(std::move(script)),
          scheme_(certificate.file.empty() ? "http" : "https"),
          server_([this](StubPeer& peer) { serve(peer); }, certificate) {}

    // Each request gets these bytes.
    using Answer = std::function<std::string(const StubRequest& request)>;
    static Script answering(Answer answer) {
        return [answer = std::move(answer)](StubPeer& peer, const StubRequest& request) {
            return peer.send(answer(request));
        };
    }

    [[nodiscard]] std::string url(std::string_view host = "127.0.0.1",
                                  std::string_view target = "/") const {
        return scheme_ + "://" + std::string(host) + ":" + std::to_string(server_.port()) +
               std::string(target);
    }
    [[nodiscard]] StubServer& server() { return server_; }
    [[nodiscard]] std::size_t connections() const { return server_.connections(); }
    [[nodiscard]] std::vector<StubRequest> requests() const {
        const std::lock_guard lock(mutex_);
        return requests_;
    }
    [[nodiscard]] std::size_t count() const { return requests().size(); }

    // Until so many requests have come.
    [[nodiscard]] bool await(std::size_t count) {
        std::unique_lock lock(mutex_);
        return arrived_.wait_for(lock, std::chrono::seconds{5},
                                 [&] { return requests_.size() >= count; });
    }

private:
    void serve(StubPeer& peer) {
        std::string text;
        for (;;) {
            const auto request = next_request(peer, text);
            if (!request || !script_(peer, *request)) return;
        }
    }

    std::optional<StubRequest> next_request(StubPeer& peer, std::string& text) {
        std::size_t head_end = 0;
        while ((head_end = text.find("\r\n\r\n")) == std::string::npos) {
            if (!read_more(peer, text)) return std::nullopt;
        }
        constexpr std::string_view length_field = "Content-Length: ";
        StubRequest request;
        request.head = text.substr(0, head_end + 2);
        text.erase(0, head_end + 4);
        const std::size_t field = request.head.find(length_field);
        const std::size_t length =
            field == std::string::npos
                ? 0
                : std::stoul(request.head.substr(field + length_field.size()));
        while (text.size() < length) {
            if (!read_more(peer, text)) return std::nullopt;
        }
        if (length > 0) request.body = Json::parse(text.substr(0, length));
        text.erase(0, length);
        const std::lock_guard lock(mutex_);
        request.number = requests_.size() + 1;
        requests_.push_back(request);
        arrived_.notify_all();
        return request;
    }

    static bool read_more(StubPeer& peer, std::string& text) {
        const std::string more = peer.read_some();
        text += more;
        return !more.empty();
    }

    const Script script_;
    const std::string scheme_;
    mutable std::mutex mutex_;
    std::condition_variable arrived_;
    std::vector<StubRequest> requests_;
    StubServer server_;
};

}  // namespace support
