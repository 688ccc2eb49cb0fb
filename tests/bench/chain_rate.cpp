#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/anvil.hpp"
#include "bench/chain_load.hpp"
#include "bench/child.hpp"
#include "bench/inspection.hpp"
#include "bench/recorder.hpp"
#include "bench/scenarios.hpp"
#include "bench/scratch.hpp"
#include "bench/slow_signer.hpp"
#include "chains/evm/signer.hpp"
#include "chains/evm/transaction.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "domain/keccak.hpp"

// The rate is taken where transactions leave, between Posthouse and its node. The window opens when
// every request waits for nothing but a token, long after the first burst is used up: as long as
// somebody waits no token is saved, so from there on only the rate counts. The burst itself is in
// the count of the fullest second, which is looked for from the first transaction on. What
// Posthouse promises is that second at its own socket; at the node's door it may look fuller, since
// both processes and the kernel between them take their turns.
namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t per_second = 20;
// A step of the engine that takes longer than burst / rate costs tokens: half a second here.
constexpr std::uint32_t burst = 10;
// A round trip to a key that is elsewhere.
constexpr std::chrono::milliseconds signature_time{300};

struct Sent {
    std::map<std::uint32_t, std::vector<Stopwatch::time_point>> times;  // by the call's selector
    std::set<domain::Bytes32> hashes;
    std::uint64_t total = 0;
};

std::uint32_t selector_of(const chains::evm::Transaction& transaction) {
    std::uint32_t selector = 0;
    for (std::size_t i = 0; i < 4; ++i) selector = selector << 8U | transaction.data.at(i);
    return selector;
}

Sent read(const std::vector<Recorder::Sending>& sendings) {
    Sent sent;
    for (const Recorder::Sending& sending : sendings) {
        const auto call = nlohmann::json::parse(sending.body);
        const auto bytes = chains::jsonrpc::bytes(call.at("params").at(0));
        const auto transaction = bytes ? chains::evm::decode_transaction(*bytes) : std::nullopt;
        if (!transaction) throw std::runtime_error("posthouse sent what is no transaction");
        ++sent.total;
        sent.hashes.insert(domain::keccak256(*bytes));
        sent.times[selector_of(*transaction)].push_back(sending.at);
    }
    return sent;
}

double most_in_a_second(const std::vector<Stopwatch::time_point>& times) {
    std::size_t most = 0;
    for (std::size_t first = 0, last = 0; last < times.size(); ++last) {
        while (times[last] - times[first] >= 1s) ++first;
        most = std::max(most, last - first + 1);
    }
    return static_cast<double>(most);
}

// More to do than there are cores for.
class BusyMachine {
public:
    explicit BusyMachine(const std::filesystem::path& directory) {
        for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i) {
            loops_.push_back(std::make_unique<Child>(
                Child::Command{.arguments = {"sh", "-c", "while :; do :; done"},
                               .environment = {},
                               .output = directory / "loop.output"}));
        }
    }

private:
    std::vector<std::unique_ptr<Child>> loops_;
};

// `signer`: who has the key, when it is not in the process. Of a busy machine only the fullest
// second is looked at.
void measure_rate(const Options& options, const std::string& what, const SlowSigner* signer,
                  bool is_busy, Report& report) {
    const auto window = options.amount.rate_window;
    // Those that leave meanwhile, and enough to be always some in the line.
    const std::uint64_t of_each_kind =
        per_second * (static_cast<std::uint64_t>(window.count()) + 30);
    const Scratch scratch(options.directory);
    Anvil anvil(options, scratch.path());
    const Recorder recorder(anvil.port());
    Settings settings = on_chain(anvil, recorder.port());
    set_rates(settings, per_second, burst);
    if (signer != nullptr) signer->put_into(settings);
    Posthouse posthouse(options, {scratch.path(), {}}, settings);
    post_all(options, posthouse.port(), of_each_kind);
    wait_for_tokens_only(scratch.path());
    std::optional<BusyMachine> busy;
    if (is_busy) busy.emplace(scratch.path());

    const auto begin = Stopwatch::now();
    std::this_thread::sleep_for(window);
    const auto end = begin + window;
    if (Inspection(data_directory(scratch.path()), ledger_file(scratch.path()))
            .in_status("processing") == 0) {
        throw std::runtime_error("nobody waited any more at the end of the window");
    }
    std::map<std::string_view, double> most_written;
    for (const ChainKind& kind : chain_kinds) {
        most_written[kind.name] = posthouse.metric(
            "posthouse_chain_sends_per_second_max{req_type=\"" + std::string(kind.name) + "\"}");
    }
    posthouse.stop();

    const Sent sent = read(recorder.sendings());
    const std::string over = ", " + std::to_string(window.count()) + " s";
    for (const ChainKind& kind : chain_kinds) {
        const auto& times = sent.times.at(kind.selector);
        const auto within =
            std::ranges::count_if(times, [&](const auto& at) { return at >= begin && at < end; });
        const std::string rate = what + ", " + std::string(kind.plural);
        const Series reached({static_cast<double>(within) / static_cast<double>(window.count())});
        if (is_busy) {
            report.note(rate + over, "/s", reached);
        } else {
            report.within(0.01, rate + over, "/s", reached, "configured", Series({per_second}));
        }
        const std::string fullest =
            rate + ", fullest second (burst " + std::to_string(burst) + "), ";
        report.bounded(per_second + burst, fullest + "written", "",
                       Series({most_written.at(kind.name)}));
        report.note(fullest + "at the node's door", "", Series({most_in_a_second(times)}));
    }
    const auto key = chains::evm::private_key_signer(relayer_key);
    const double included = static_cast<double>(anvil.included(key->address()));
    report.note(what + ", transactions of all kinds in the whole run", "",
                Series({static_cast<double>(sent.hashes.size())}));
    report.bounded(0, what + ", sent again", "",
                   Series({static_cast<double>(sent.total - sent.hashes.size())}));
    report.bounded(0, what + ", sent and not on chain", "",
                   Series({static_cast<double>(sent.hashes.size()) - included}));
}

}  // namespace

void measure_chain_rate(const Options& options, Report& report) {
    measure_rate(options, "rate", nullptr, false, report);
    const SlowSigner signer(signature_time);
    const std::string what =
        "rate, signed elsewhere in " + std::to_string(signature_time.count()) + " ms";
    measure_rate(options, what, &signer, false, report);
    measure_rate(options, what + ", on a busy machine", &signer, true, report);
    report.note(what + ", most signatures under way", "",
                Series({static_cast<double>(signer.peak())}));
}

}  // namespace bench
