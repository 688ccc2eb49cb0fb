#include "commands/service_threads.hpp"

#include <unistd.h>

#include <csignal>
#include <exception>
#include <string>

#include "base/sanitize.hpp"
#include "commands/exit_status.hpp"
#include "commands/signals.hpp"
#include "store/commit_sink.hpp"

namespace commands {

ProcessorThread::ProcessorThread(engine::Processor& processor, engine::Inbox& inbox,
                                 ports::Logger& logger, domain::Milliseconds grace)
    : inbox_(inbox), thread_([this, &processor, &logger, grace] {
          try {
              processor.run(grace);
          } catch (const store::OwnershipLost& lost) {
              {
                  const std::lock_guard lock(mutex_);
                  lost_book_ = lost.what();
              }
              wake_main_thread();
          } catch (const std::exception& error) {
              exit_status_ = exit_status_of(error);
              logger.write(ports::LogLevel::error,
                           "processor_stopped alert=true error=" + base::log_value(error.what()));
              ::kill(::getpid(), SIGTERM);
          }
      }) {}

std::optional<std::string> ProcessorThread::lost_book() const {
    const std::lock_guard lock(mutex_);
    return lost_book_;
}

ProcessorThread::~ProcessorThread() {
    stop();
}

void ProcessorThread::stop() {
    inbox_.stop();
    if (thread_.joinable()) thread_.join();
}

LongPollThread::LongPollThread(api::LongPolls& polls)
    : polls_(polls), thread_([&polls] { polls.run(); }) {}

LongPollThread::~LongPollThread() {
    polls_.stop();
}

}  // namespace commands
