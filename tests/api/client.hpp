#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "net/raw_client.hpp"

namespace api_test {

using Json = nlohmann::json;

struct Call {
    std::string method = "POST";
    std::string path;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers{{"Content-Type", "application/json"}};
};

// An answer with its body read, if it is JSON.
struct Answer {
    int status = 0;
    std::string body;
    std::string content_type;
    std::map<std::string, std::string> headers;
    // Mutable, so that what is not there reads as null; nlohmann ends the program otherwise.
    mutable Json json;

    [[nodiscard]] std::string header(const std::string& name) const {
        const auto found = headers.find(name);
        return found == headers.end() ? std::string() : found->second;
    }
    [[nodiscard]] bool has(const std::string& name) const { return headers.contains(name); }
    // Empty when it is not there.
    [[nodiscard]] std::string text(const char* pointer) const {
        return json.is_object() ? json.value(Json::json_pointer(pointer), std::string()) : "";
    }
    [[nodiscard]] std::string label() const { return text("/error/label"); }
    [[nodiscard]] std::string message() const { return text("/error/message"); }
    [[nodiscard]] std::string job_id() const { return text("/result/jobId"); }
    [[nodiscard]] Json details() const {
        return json.is_object() ? json.value(Json::json_pointer("/error/details"), Json()) : Json();
    }
};

// Stricter than a client: a header that is not `Name: value`, or comes twice, is an exception.
inline Answer to_answer(const net::RawAnswer& raw) {
    if (!raw.head.starts_with("HTTP/1.1 ")) throw std::runtime_error("no answer: " + raw.head);
    Answer answer{raw.status, raw.body, {}, {}, Json::parse(raw.body, nullptr, false)};
    std::size_t line = raw.head.find("\r\n") + 2;
    for (std::size_t end = 0; (end = raw.head.find("\r\n", line)) != line; line = end + 2) {
        const std::string text = raw.head.substr(line, end - line);
        const std::size_t colon = text.find(": ");
        if (colon == std::string::npos) throw std::runtime_error("no header: " + text);
        if (!answer.headers.emplace(text.substr(0, colon), text.substr(colon + 2)).second) {
            throw std::runtime_error("header twice: " + text);
        }
    }
    answer.content_type = answer.header("Content-Type");
    if (answer.json.is_discarded()) answer.json = Json();
    return answer;
}

inline std::string to_bytes(const Call& call) {
    std::string bytes = call.method + " " + call.path + " HTTP/1.1\r\nHost: localhost\r\n";
    bool has_length = false;
    for (const auto& [name, value] : call.headers) {
        bytes.append(name).append(": ").append(value).append("\r\n");
        has_length = has_length || name == "Content-Length";
    }
    if (!has_length && (call.method == "POST" || !call.body.empty())) {
        bytes.append("Content-Length: ").append(std::to_string(call.body.size())).append("\r\n");
    }
    return bytes.append("\r\n").append(call.body);
}

// One keep-alive connection, opened when it is needed, anew after an answer that closes it.
class Client {
public:
    explicit Client(int port) : port_(port) {}

    [[nodiscard]] Answer ask(const Call& call) {
        send(call);
        return take();
    }

    void send(const Call& call) { send(to_bytes(call), call.method == "HEAD"); }
    void send(std::string_view bytes, bool without_body = false) {
        if (!connection_) connection_.emplace(port_);
        without_body_ = without_body;
        // A refusal may close before all of a body was taken; its answer is there all the same.
        static_cast<void>(connection_->send(bytes));
    }

    // Whether the answer to what was sent has begun to arrive, within this time.
    [[nodiscard]] bool is_answered(int milliseconds) {
        return connection_->is_readable(milliseconds);
    }

    [[nodiscard]] Answer take() {
        const auto raw = connection_->answer(without_body_);
        if (!raw) throw std::runtime_error("the server gave no answer");
        const Answer answer = to_answer(*raw);
        if (answer.header("Connection") == "close") connection_.reset();
        return answer;
    }

    // Nothing more will be sent on this connection: what came so far is all of the request.
    void finish_sending() { connection_->finish_sending(); }

private:
    int port_;
    bool without_body_ = false;
    std::optional<net::RawClient> connection_;
};

}  // namespace api_test
