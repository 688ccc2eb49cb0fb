#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

// The thread of the outgoing connections. Includes Asio: for the files of net only.
namespace net {

// A thread that runs what is asked of it until this object goes.
class IoThread {
public:
    IoThread();  // throws std::system_error
    IoThread(const IoThread&) = delete;
    IoThread& operator=(const IoThread&) = delete;
    ~IoThread();

    [[nodiscard]] boost::asio::any_io_executor executor() { return context_.get_executor(); }
    [[nodiscard]] bool is_this_thread() const {
        return std::this_thread::get_id() == thread_.get_id();
    }

    // The way in for threads that may outlive this one: what comes too late is dropped.
    class Entrance {
    public:
        void post(std::function<void()> work);

    private:
        friend IoThread;
        std::mutex mutex_;
        boost::asio::io_context* context_ = nullptr;  // null: closed
    };
    [[nodiscard]] std::shared_ptr<Entrance> entrance() const { return entrance_; }

private:
    boost::asio::io_context context_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    const std::shared_ptr<Entrance> entrance_;
    std::thread thread_;
};

// Coroutines under way on an I/O thread for one owner, who can end them all.
class Tasks {
public:
    explicit Tasks(IoThread& thread) : thread_(thread) {}
    Tasks(const Tasks&) = delete;
    Tasks& operator=(const Tasks&) = delete;
    ~Tasks() { stop(); }

    // Any thread. Runs the coroutine that `make` returns; `done(std::exception_ptr, Result)` is
    // called behind it on the I/O thread. Returns what cancels this one: any thread, at any time.
    // Nothing, and nothing happens, once stopped.
    template <typename Make, typename Done>
    std::optional<std::function<void()>> start(Make make, Done done) {
        const std::lock_guard lock(mutex_);
        if (stopped_) return std::nullopt;
        const auto place = signals_.insert(signals_.end(), std::make_shared<Signal>());
        boost::asio::post(thread_.executor(), [this, place, make = std::move(make),
                                               done = std::move(done)]() mutable {
            auto finished = [this, place, done = std::move(done)](auto&&... result) mutable {
                done(std::forward<decltype(result)>(result)...);
                finish(place);
            };
            boost::asio::co_spawn(
                thread_.executor(), std::move(make),
                boost::asio::bind_cancellation_slot((*place)->slot(), std::move(finished)));
        });
        return [entrance = thread_.entrance(), signal = std::weak_ptr(*place)] {
            entrance->post([signal] {
                if (const auto running = signal.lock()) {
                    running->emit(boost::asio::cancellation_type::terminal);
                }
            });
        };
    }

    // Cancels what runs and waits until the last `done` has returned; on the I/O thread itself it
    // only cancels.
    void stop();

private:
    using Signal = boost::asio::cancellation_signal;
    using Signals = std::list<std::shared_ptr<Signal>>;

    void cancel();
    void finish(Signals::iterator place);

    IoThread& thread_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool stopped_ = false;
    bool cancelling_ = false;
    Signals signals_;  // one for each
};

}  // namespace net
