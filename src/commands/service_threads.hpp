#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "api/long_polls.hpp"
#include "domain/time.hpp"
#include "engine/gateway.hpp"
#include "engine/inbox.hpp"
#include "engine/processor.hpp"
#include "ports/logger.hpp"

namespace commands {

// Runs the processor; a file that can not be trusted ends the program.
class ProcessorThread {
public:
    ProcessorThread(engine::Processor& processor, engine::Inbox& inbox, ports::Logger& logger,
                    domain::Milliseconds grace);
    ~ProcessorThread();
    ProcessorThread(const ProcessorThread&) = delete;
    ProcessorThread& operator=(const ProcessorThread&) = delete;

    void stop();
    // After stop(): 0, or what ended it as one of config/exit_status.hpp.
    [[nodiscard]] int exit_status() const { return exit_status_; }
    // Any thread. Why it has ended, if that is because its file is no owner's any more.
    [[nodiscard]] std::optional<std::string> lost_book() const;

private:
    engine::Inbox& inbox_;
    std::atomic<int> exit_status_{0};
    mutable std::mutex mutex_;  // for what follows
    std::optional<std::string> lost_book_;
    std::thread thread_;
};

// Answers the polls that wait.
class LongPollThread {
public:
    explicit LongPollThread(api::LongPolls& polls);
    ~LongPollThread();
    LongPollThread(const LongPollThread&) = delete;
    LongPollThread& operator=(const LongPollThread&) = delete;

private:
    api::LongPolls& polls_;
    std::jthread thread_;
};

// However a start ends: no event of the chain comes when those it is for are gone.
class StopAtEnd {
public:
    explicit StopAtEnd(engine::Gateway& gateway) : gateway_(gateway) {}
    ~StopAtEnd() { gateway_.stop(); }
    StopAtEnd(const StopAtEnd&) = delete;
    StopAtEnd& operator=(const StopAtEnd&) = delete;

private:
    engine::Gateway& gateway_;
};

}  // namespace commands
