#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/stop_token.hpp"
#include "cluster/database.hpp"
#include "support/postgres_server.hpp"
#include "support/simulated_database.hpp"
#include "support/virtual_time.hpp"

// What the conformance tests run against. Each world is a primary with a synchronous standby.
namespace cluster_test {

// Long enough for a machine that has much else to do.
inline constexpr domain::Milliseconds long_time{30'000};
// For calls that are meant to run out of time.
inline constexpr domain::Milliseconds short_time{1'500};

class World {
public:
    virtual ~World() = default;

    // A connection of its own to a book of this test.
    [[nodiscard]] std::unique_ptr<cluster::Database> connect(
        domain::Milliseconds timeout = long_time, const std::string& book = "main",
        std::int64_t shard = 0) {
        return open(timeout, book, shard);
    }

    virtual void lose_standby() = 0;
    virtual void return_standby() = 0;
    virtual void stop_waiting_for_standbys() = 0;
    virtual void crash() = 0;
    virtual void promote() = 0;
    virtual void cancel_waits() = 0;
    // Makes the call, and lets the event happen as soon as the server waits for the standby.
    virtual void while_waiting(const std::function<void()>& call,
                               const std::function<void()>& event) = 0;
    // Until a call that gave up waits in the server.
    virtual void let_it_arrive() = 0;

private:
    [[nodiscard]] virtual std::unique_ptr<cluster::Database> open(domain::Milliseconds timeout,
                                                                  const std::string& book,
                                                                  std::int64_t shard) = 0;
};

class SimulatedWorld : public World {
public:
    [[nodiscard]] static bool is_here() { return true; }

    void lose_standby() override { server_.lose_standby(); }
    void return_standby() override { server_.return_standby(); }
    void stop_waiting_for_standbys() override { server_.stop_waiting_for_standbys(); }
    void crash() override { server_.crash(); }
    void promote() override { server_.promote(); }
    void cancel_waits() override { server_.cancel_waits(); }
    void while_waiting(const std::function<void()>& call,
                       const std::function<void()>& event) override {
        call();
        event();
    }
    void let_it_arrive() override {}

private:
    [[nodiscard]] std::unique_ptr<cluster::Database> open(domain::Milliseconds timeout,
                                                          const std::string& book,
                                                          std::int64_t shard) override {
        return std::make_unique<support::SimulatedDatabase>(server_, book, shard, timeout);
    }

    support::VirtualClock clock_;
    support::SimulatedServer server_{clock_, 1};
};

// All tests share one server, as long as it can be used; each has books of its own.
class PostgresWorld : public World {
public:
    [[nodiscard]] static bool is_here();

    PostgresWorld();
    ~PostgresWorld() override;

    void lose_standby() override;
    void return_standby() override;
    void stop_waiting_for_standbys() override;
    void crash() override { server().crash(); }
    void promote() override;
    void cancel_waits() override { server().cancel_waits(); }
    void while_waiting(const std::function<void()>& call,
                       const std::function<void()>& event) override;
    void let_it_arrive() override;

    [[nodiscard]] support::PostgresServer& server();
    [[nodiscard]] std::string name_of(const std::string& book) const { return prefix_ + book; }
    [[nodiscard]] const base::StopToken& stop() const { return stop_; }

private:
    [[nodiscard]] std::unique_ptr<cluster::Database> open(domain::Milliseconds timeout,
                                                          const std::string& book,
                                                          std::int64_t shard) override;

    std::string prefix_;
    base::StopToken stop_;
    bool is_as_before_ = true;
};

}  // namespace cluster_test
