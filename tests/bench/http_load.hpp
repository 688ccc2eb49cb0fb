#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The Content-Length in the head of a message, however it is spelt; 0 when there is none.
[[nodiscard]] std::size_t content_length(std::string_view head);

// Keep-alive HTTP/1.1 clients, all in the calling thread: each has one request under way and
// sends the next as soon as the answer is complete. Answers need a Content-Length.
class HttpLoad {
public:
    // The whole request, head and body, for the given connection and its 0, 1, 2, ... request.
    // The bytes must stay valid until the next call for the same connection.
    using Request = std::function<std::string_view(std::size_t connection, std::uint64_t sequence)>;
    // Sees every answer: its status and its body, valid during the call.
    using Answer = std::function<void(std::size_t connection, int status, std::string_view body)>;

    struct Options {
        std::string host = "127.0.0.1";  // IPv4, as digits
        int port = 3000;
        std::size_t connections = 64;
    };

    struct Outcome {
        std::uint64_t answers = 0;
        std::map<int, std::uint64_t> by_status;
        std::uint64_t reconnects = 0;  // connections the server closed
        std::chrono::nanoseconds duration{0};
        std::vector<std::uint32_t> latencies_us;  // sorted

        [[nodiscard]] double per_second() const;
        // `permille` 500 is the median, 990 the 99th percentile, 1000 the maximum.
        [[nodiscard]] std::chrono::microseconds latency(std::size_t permille) const;
        [[nodiscard]] double latency_ms(std::size_t permille) const;
    };

    // Throws std::system_error if the server cannot be reached.
    HttpLoad(const Options& options, Request request);
    ~HttpLoad();
    HttpLoad(const HttpLoad&) = delete;
    HttpLoad& operator=(const HttpLoad&) = delete;

    void on_answer(Answer answer) { answer_ = std::move(answer); }

    // Both may be called again; connections and sequences go on.
    [[nodiscard]] Outcome run(std::uint64_t requests);
    [[nodiscard]] Outcome run_for(std::chrono::milliseconds duration);

private:
    using Clock = std::chrono::steady_clock;
    struct Client;

    [[nodiscard]] Outcome run(std::uint64_t requests, Clock::time_point until);
    void connect(std::size_t index);
    void send_next(std::size_t index);
    void send_rest(Client& client);
    // True: an answer is complete and has been counted.
    [[nodiscard]] bool receive(std::size_t index, Outcome& outcome);

    const Options options_;
    const Request request_;
    Answer answer_;
    int epoll_ = -1;
    std::vector<Client> clients_;
};

}  // namespace bench
