#include "chains/votes/prover/prover_command.hpp"

#include <signal.h>

#include <chrono>
#include <utility>
#include <variant>

#include "base/sanitize.hpp"
#include "net/transport_error.hpp"

namespace chains::votes::prover {
namespace {

using Outcome = CommandAnswer::Outcome;

constexpr std::size_t reported_bytes_max = 300;
// So that a program that can not be started is not tried with every step of the engine.
constexpr std::chrono::seconds start_pause{1};

// Who was started with SIGCHLD ignored would learn of no exit code.
CommandProgram prepared(const ProverOptions& options) {
    struct sigaction action {};
    if (::sigaction(SIGCHLD, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
        ::signal(SIGCHLD, SIG_DFL);
    }
    return command_program(options);
}

// Sent by an operator or the kernel, short of memory; a program that fails dies of others.
bool is_from_outside(const CommandEnd& end) {
    return end.by_signal && (end.number == SIGKILL || end.number == SIGTERM ||
                             end.number == SIGINT || end.number == SIGHUP);
}

const std::string* reason_of(const ProveOutcome& outcome) {
    if (const auto* const failed = std::get_if<NotProved>(&outcome)) return &failed->text;
    if (const auto* const away = std::get_if<engine::Unreachable>(&outcome)) return &away->reason;
    return nullptr;
}

}  // namespace

CommandProver::CommandProver(const ProverOptions& options, ports::Logger& logger)
    : format_(options.format),
      life_(options.life),
      timeout_(options.timeout),
      logger_(logger),
      pool_(prepared(options), stop_) {}

ProveOutcome CommandProver::prove(const Witness& witness) {
    {
        const std::lock_guard lock(mutex_);
        ++proving_;
    }
    ProveOutcome outcome = settle(witness);
    {
        const std::lock_guard lock(mutex_);
        --proving_;
    }
    note(outcome);
    return outcome;
}

void CommandProver::expect(std::size_t proofs) {
    if (life_ != ProverLife::pool || stop_.stop_requested()) return;
    const auto now = std::chrono::steady_clock::now();
    std::size_t idle = 0;
    {
        const std::lock_guard lock(mutex_);
        if (now < next_start_ || proofs <= proving_) return;
        next_start_ = now + start_pause;
        idle = proofs - proving_;
    }
    pool_.warm_up(idle, now + timeout_);
}

std::optional<std::string> CommandProver::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

ProveOutcome CommandProver::settle(const Witness& witness) {
    const base::Deadline deadline = std::chrono::steady_clock::now() + timeout_;
    const Secret text = request(witness, format_);
    const CommandTalk talk{text.view(), format_, life_, deadline};
    if (auto outcome = ask_idle(talk)) return std::move(*outcome);
    return ask_new(talk);
}

std::optional<ProveOutcome> CommandProver::ask_idle(const CommandTalk& talk) {
    if (stop_.stop_requested()) return engine::Unreachable{"stopped"};
    Process process = pool_.take_idle();
    if (!process) return std::nullopt;
    const CommandAnswer answer = exchange(*process, talk, stop_);
    if (answer.outcome == Outcome::ended && answer.unread && answer.bytes.empty()) {
        return std::nullopt;
    }
    return judge(answer, std::move(process));
}

ProveOutcome CommandProver::ask_new(const CommandTalk& talk) {
    Launched launched = pool_.start(talk.deadline);
    if (stop_.stop_requested()) return engine::Unreachable{"stopped"};
    if (const auto* const why = std::get_if<std::string>(&launched)) {
        return engine::Unreachable{"prover can not be started: " + *why};
    }
    auto process = std::get<Process>(std::move(launched));
    const CommandAnswer answer = exchange(*process, talk, stop_);
    return judge(answer, std::move(process));
}

ProveOutcome CommandProver::judge(const CommandAnswer& answer, Process process) {
    ProveOutcome outcome =
        answer.outcome == Outcome::whole ? read(answer, std::move(process)) : judge_end(answer);
    const std::string* const why = reason_of(outcome);
    if (why != nullptr && answer.outcome != Outcome::stopped) report(*why, answer.errors);
    return outcome;
}

// Who gave an answer that is one, be it an error, may be asked again.
ProveOutcome CommandProver::read(const CommandAnswer& answer, Process process) {
    ProverAnswer read = read_answer(answer.bytes, format_);
    if (const auto* const malformed = std::get_if<Malformed>(&read))
        return NotProved{describe(*malformed)};
    pool_.keep(std::move(process));
    if (const auto* const error = std::get_if<ProverError>(&read)) {
        return NotProved{describe(*error)};
    }
    return std::get<Proof>(std::move(read));
}

ProveOutcome CommandProver::judge_end(const CommandAnswer& answer) const {
    switch (answer.outcome) {
        case Outcome::stopped:
            return engine::Unreachable{"stopped"};
        case Outcome::timed_out:
            return NotProved{"no proof in " + net::in_words(timeout_)};
        case Outcome::too_large:
            return NotProved{"prover wrote more than 64 KiB"};
        case Outcome::whole:
        case Outcome::ended:
            break;
    }
    if (!answer.end) return NotProved{"prover closed its output without an answer"};
    const std::string number = std::to_string(answer.end->number);
    if (is_from_outside(*answer.end)) {
        return engine::Unreachable{"prover was killed by signal " + number};
    }
    if (answer.end->by_signal) return NotProved{"prover died of signal " + number};
    ProverAnswer read = read_answer(answer.bytes, format_);
    if (const auto* const error = std::get_if<ProverError>(&read)) {
        return NotProved{describe(*error)};
    }
    if (answer.end->number != 0) return NotProved{"prover ended with exit code " + number};
    if (const auto* const malformed = std::get_if<Malformed>(&read))
        return NotProved{describe(*malformed)};
    return std::get<Proof>(std::move(read));
}

void CommandProver::report(const std::string& why, std::string_view errors) const {
    const std::string text = base::harmless_text(errors, reported_bytes_max);
    if (text.empty()) return;
    logger_.write(ports::LogLevel::warning,
                  "prover_stderr error=" + base::log_value(why) + " text=" + base::log_value(text));
}

void CommandProver::note(const ProveOutcome& outcome) {
    if (stop_.stop_requested()) return;
    const std::string* const why = reason_of(outcome);
    const std::lock_guard lock(mutex_);
    problem_ = why == nullptr ? std::nullopt : std::optional(*why);
}

}  // namespace chains::votes::prover
