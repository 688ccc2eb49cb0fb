#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "net/http_application.hpp"
#include "net/http_message.hpp"
#include "net/input_buffer.hpp"
#include "net/request_reader.hpp"

namespace net {

// What the requests of all connections share.
struct ReadingRoom {
    ReadingRoom(const ReadingLimits& with, std::size_t buffered_bytes_max)
        : limits(with), budget(buffered_bytes_max), answers(buffered_bytes_max) {}

    const ReadingLimits limits;
    ByteBudget budget;
    // Of its own: who sends much keeps nobody from what he is sent.
    ByteBudget answers;
};

// The request of one connection, and its answer on the way back. The exchange that the application
// holds may outlive the connection and the server: then the answer goes nowhere.
class PendingRequest : public HttpExchange::Source {
public:
    // The connection. Called from any thread, under a lock: it may only take notice.
    class Owner {
    public:
        virtual ~Owner() = default;
        virtual void on_answer() = 0;  // once after each `wait` that returned true
        virtual void on_watch() = 0;   // somebody wants to know when the peer hangs up
    };

    PendingRequest(std::shared_ptr<ReadingRoom> room, std::string remote, Owner& owner)
        : room_(std::move(room)),
          remote_(std::move(remote)),
          reader_(room_->limits, room_->budget, remote_),
          owner_(&owner) {}
    PendingRequest(const PendingRequest&) = delete;
    PendingRequest& operator=(const PendingRequest&) = delete;

    // The owner; anybody else only reads, between `open` and the answer.
    [[nodiscard]] RequestReader& reader() { return reader_; }

    // The owner. An exchange goes out.
    void open(std::shared_ptr<const void> ticket);
    // The owner. False: the answer is here already.
    [[nodiscard]] bool wait();
    // The owner, when the answer is here. Nothing: the exchange was dropped without one.
    [[nodiscard]] std::optional<HttpResponse> take_answer();
    // The owner. The peer has hung up.
    void note_gone();
    // The owner, before it goes.
    void disown();

    // Of the exchange that is out.
    [[nodiscard]] const HttpRequest& request() const override { return reader_.request(); }
    [[nodiscard]] const std::shared_ptr<const void>& ticket() const override { return ticket_; }
    void answer(std::optional<HttpResponse> response) override;
    void when_gone(std::function<void()> told) override;

private:
    const std::shared_ptr<ReadingRoom> room_;
    const std::string remote_;
    RequestReader reader_;
    std::shared_ptr<const void> ticket_;

    std::mutex mutex_;  // guards what follows
    Owner* owner_;
    std::optional<HttpResponse> response_;
    bool answered_ = false;
    bool waiting_ = false;
    bool gone_ = false;
    std::function<void()> told_gone_;
};

}  // namespace net
