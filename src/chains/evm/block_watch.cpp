#include "chains/evm/block_watch.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>
#include <variant>

#include "chains/evm/log_query.hpp"
#include "chains/jsonrpc/decode.hpp"

namespace chains::evm {

using domain::Block;
using domain::Milliseconds;

bool BlockWatch::View::has(Found what) const {
    return std::ranges::find(found, what) != found.end();
}

BlockWatch::BlockWatch(const Options& options, std::vector<jsonrpc::Node*> nodes,
                       std::function<void(const Block&)> bury, ports::Executor& executor,
                       const ports::Clock& clock, std::function<void(std::uint64_t)> read_again)
    : options_(options),
      nodes_(std::move(nodes)),
      bury_(std::move(bury)),
      clock_(clock),
      read_again_(std::move(read_again)),
      task_group_(executor) {
    assert(!nodes_.empty());
}

void BlockWatch::start(engine::GatewayEvents& events) {
    events_ = &events;
}

void BlockWatch::watch(const std::vector<Block>& blocks) {
    assert(events_ != nullptr);
    const std::lock_guard lock{mutex_};
    for (const Block& block : blocks) blocks_[block].is_asked = true;
    if (looking_) {
        again_ = true;
    } else {
        schedule_locked(Milliseconds{0});
    }
}

std::size_t BlockWatch::size() const {
    const std::lock_guard lock{mutex_};
    return blocks_.size();
}

void BlockWatch::stop() {
    {
        const std::lock_guard lock{mutex_};
        stopped_ = true;
    }
    task_group_.stop();
}

void BlockWatch::schedule_locked(Milliseconds delay) {
    if (stopped_ || blocks_.empty()) return;
    const domain::Monotonic time = clock_.monotonic() + delay;
    if (wake_ && *wake_ <= time) return;
    wake_ = time;
    task_group_.run_after(delay, [this, time] { wake(time); });
}

void BlockWatch::wake(domain::Monotonic time) {
    {
        const std::lock_guard lock{mutex_};
        if (wake_ != time || looking_ || stopped_) return;
        wake_.reset();
        looking_ = true;
        again_ = false;
    }
    look();
    const std::lock_guard lock{mutex_};
    looking_ = false;
    schedule_locked(again_ ? Milliseconds{0} : options_.listening.poll_interval);
}

void BlockWatch::look() {
    Blocks blocks = take_due();
    if (blocks.empty()) return;
    View view = view_of(blocks);
    if (view.has(Found::another) || view.has(Found::beyond_head)) {
        blocks = all();
        view = view_of(blocks);
    }
    engine::BlockNews news = note(blocks, view);
    for (const Block& block : news.buried) bury_(block);
    std::optional<std::uint64_t> lowest;
    for (const Block& block : news.replaced) {
        lowest = std::min(lowest.value_or(block.number), block.number);
    }
    if (news.standing.empty() && news.replaced.empty() && news.buried.empty()) return;
    events_->block_news(std::move(news));
    // After the event: what is read again comes behind it.
    if (lowest) read_again_(*lowest);
}

// From the highest on: an answer that is seen on the chain before its receipt is was on the
// receipt's chain, whatever happens in between. A new block may be on another fork than those that
// were seen to stand, so the highest of these is asked for as well.
BlockWatch::Blocks BlockWatch::take_due() {
    const std::lock_guard lock{mutex_};
    Blocks due;
    asked_.clear();
    bool has_seen = false;
    for (auto next = blocks_.rbegin(); next != blocks_.rend(); ++next) {
        auto& [block, watched] = *next;
        if (watched.is_asked) asked_.push_back(block);
        const bool is_deep = head_ && block.number + options_.listening.reorg_depth <= *head_;
        const bool stands_for_the_rest = !watched.is_asked && !std::exchange(has_seen, true);
        if (watched.is_asked || is_deep || stands_for_the_rest) due.push_back(block);
        watched.is_asked = false;
    }
    return due;
}

BlockWatch::Blocks BlockWatch::all() const {
    const std::lock_guard lock{mutex_};
    Blocks blocks;
    for (auto next = blocks_.rbegin(); next != blocks_.rend(); ++next)
        blocks.push_back(next->first);
    return blocks;
}

BlockWatch::View BlockWatch::view_of(const Blocks& blocks) {
    View best = view_of(blocks, *nodes_.front());
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
        if (!best.has(Found::unknown) && !best.has(Found::beyond_head)) break;
        View other = view_of(blocks, *nodes_[i]);
        if (!other.has(Found::unknown) && !other.has(Found::beyond_head)) return other;
    }
    return best;
}

BlockWatch::View BlockWatch::view_of(const Blocks& blocks, jsonrpc::Node& node) const {
    std::vector<jsonrpc::Call> calls{{"eth_blockNumber", jsonrpc::Json::array()}};
    for (const Block& block : blocks) calls.push_back(block_call(block.number));
    std::vector<jsonrpc::Answer> answers;
    const std::size_t batch = std::max<std::size_t>(options_.batch_max, 1);
    for (std::size_t begin = 0; begin < calls.size(); begin += batch) {
        const auto first = calls.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto count = static_cast<std::ptrdiff_t>(std::min(batch, calls.size() - begin));
        std::ranges::move(node.call_all({first, first + count}), std::back_inserter(answers));
    }
    View view;
    const auto* head = std::get_if<jsonrpc::Json>(&answers.front());
    if (head != nullptr) view.head = jsonrpc::quantity(*head);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const BlockHash found = hash_in(answers[i + 1], blocks[i].number);
        if (std::holds_alternative<NoBlock>(found)) {
            const bool has_head = view.head && *view.head < blocks[i].number;
            view.found.push_back(has_head ? Found::beyond_head : Found::unknown);
            continue;
        }
        const auto* hash = std::get_if<domain::Bytes32>(&found);
        view.found.push_back(hash == nullptr           ? Found::unknown
                             : *hash == blocks[i].hash ? Found::standing
                                                       : Found::another);
    }
    return view;
}

engine::BlockNews BlockWatch::note(const Blocks& blocks, const View& view) {
    engine::BlockNews news;
    const std::lock_guard lock{mutex_};
    // What one look says buries nothing: a block that is let go is never asked for again.
    const std::uint64_t sure_head = std::min(head_.value_or(0), view.head.value_or(0));
    if (view.head) head_ = view.head;
    // Until all that was asked is known it is asked together.
    const bool is_complete = !view.has(Found::unknown) && !view.has(Found::beyond_head);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto entry = blocks_.find(blocks[i]);
        if (entry == blocks_.end()) continue;
        auto& [block, watched] = *entry;
        const bool was_asked = std::ranges::find(asked_, block) != asked_.end();
        const Found found = view.found[i];
        const bool is_gone =
            found == Found::another ||
            (found == Found::beyond_head && watched.beyond_head.observe(clock_.monotonic()));
        if (was_asked && !is_complete) watched.is_asked = true;
        if (found == Found::standing) {
            watched.beyond_head.reset();
            if (was_asked) news.standing.push_back(block);
            // However deep: what is asked once more is asked with all that was asked with it.
            if (watched.is_asked) continue;
            if (block.number + options_.listening.reorg_depth > sure_head) continue;
            news.buried.push_back(block);
            blocks_.erase(entry);
        } else if (is_gone) {
            news.replaced.push_back(block);
            blocks_.erase(entry);
        }
    }
    return news;
}

}  // namespace chains::evm
