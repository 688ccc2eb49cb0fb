#include "net/io_thread.hpp"

namespace net {

namespace asio = boost::asio;

IoThread::IoThread()
    : work_(asio::make_work_guard(context_)), entrance_(std::make_shared<Entrance>()) {
    entrance_->context_ = &context_;
    thread_ = std::thread([this] { context_.run(); });
}

IoThread::~IoThread() {
    {
        const std::lock_guard lock(entrance_->mutex_);
        entrance_->context_ = nullptr;
    }
    context_.stop();
    thread_.join();
}

void IoThread::Entrance::post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr) asio::post(*context_, std::move(work));
}

void Tasks::stop() {
    std::unique_lock lock(mutex_);
    if (!std::exchange(stopped_, true)) {
        cancelling_ = true;
        // What was started before begins before, on the same thread.
        asio::post(thread_.executor(), [this] { cancel(); });
    }
    if (thread_.is_this_thread()) return;
    ended_.wait(lock, [this] { return signals_.empty() && !cancelling_; });
}

void Tasks::cancel() {
    for (const auto& signal : signals_) signal->emit(asio::cancellation_type::terminal);
    const std::lock_guard lock(mutex_);
    cancelling_ = false;
    ended_.notify_all();
}

// Later, as the coroutine still looks at its signal on its way out.
void Tasks::finish(Signals::iterator place) {
    asio::post(thread_.executor(), [this, place] {
        const std::lock_guard lock(mutex_);
        signals_.erase(place);
        ended_.notify_all();
    });
}

}  // namespace net
