#include "engine/chain_marks.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace engine {

namespace {

constexpr std::size_t rows_per_forgetting = 500;
// Recovering who signed takes time: of what has ended the newest have to do.
constexpr std::size_t signatures_checked_max = 1'000;

const std::string trial_word = "loopback";

struct Mark {
    std::string is;
    std::set<std::string> signers;

    [[nodiscard]] bool is_trial() const { return is.starts_with(trial_word); }
};

std::string name_of(store::Chain chain) {
    return chain == store::Chain::votes ? "chain.votes" : "chain.gateway";
}

std::string words_for(store::Chain chain) {
    return chain == store::Chain::votes ? "the vote chain" : "the gateway chain";
}

std::optional<Mark> read_mark(store::Store& store, store::Chain chain) {
    const std::optional<std::string> note = store.note(name_of(chain));
    if (!note) return std::nullopt;
    std::istringstream lines(*note);
    Mark mark;
    std::getline(lines, mark.is);
    for (std::string signer; lines >> signer;) mark.signers.insert(signer);
    return mark;
}

// A signer that is not known yet leaves those that were.
void write_mark(store::Store& store, const ChainIdentity& identity,
                const std::set<std::string>& before) {
    const std::set<std::string>& signers = identity.signers.empty() ? before : identity.signers;
    std::string note = identity.is + "\n";
    for (const std::string& signer : signers) note += signer + " ";
    store::Store::Transaction transaction(store);
    store.keep_note(name_of(identity.chain), note);
    transaction.commit();
}

bool is_empty(store::Store& store, store::Chain chain) {
    return store.count_unfinished(chain) == 0 && !store.has_ended(chain);
}

std::string requests(std::uint64_t count) {
    return std::to_string(count) + (count == 1 ? " request" : " requests");
}

[[noreturn]] void refuse(const store::Store& store, const ChainIdentity& identity,
                         const std::string& why) {
    throw ForeignDatabase(store::database_path(store.options()).string() +
                          " is not a database of " + words_for(identity.chain) +
                          " that is configured (" + identity.is + "): " + why);
}

[[noreturn]] void refuse_trial(const store::Store& store, const ChainIdentity& identity) {
    refuse(store, identity,
           "it belongs to the loopback, whose results are invented, and never becomes that of "
           "another chain; choose another --data-dir");
}

[[noreturn]] void refuse_unfinished(store::Store& store, const ChainIdentity& identity,
                                    const std::string& owner) {
    const std::uint64_t unfinished = store.count_unfinished(identity.chain);
    const std::string wait =
        unfinished == 0 ? "or run posthouse adopt with this configuration, which forgets what has "
                          "ended there"
                        : "or let " + requests(unfinished) +
                              " end with the configuration they were made with, then run posthouse "
                              "adopt with this one";
    refuse(store, identity, owner + "; choose another --data-dir, " + wait);
}

struct Signed {
    std::vector<std::int64_t> foreign;  // requests, the newest first
    bool has_own = false;
};

Signed look_at_signed(store::Store& store, const ChainIdentity& identity, bool ended) {
    Signed found;
    std::vector<std::int64_t>& foreign = found.foreign;
    std::size_t seen = 0;
    store.for_each_sealed(identity.chain, ended,
                          [&](std::int64_t request, domain::ByteView sealed) {
                              const bool by_signer = !ended || ++seen <= signatures_checked_max;
                              if (identity.is_own(sealed, by_signer)) {
                                  found.has_own = true;
                                  return;
                              }
                              if (foreign.empty() || foreign.back() != request)
                                  foreign.push_back(request);
                          });
    return found;
}

// Nobody wrote down whose it is.
void claim_unmarked(store::Store& store, const ChainIdentity& identity) {
    if (is_empty(store, identity.chain)) return;
    if (identity.has_trial_beside) {
        refuse_unfinished(store, identity,
                          "nobody wrote down whose it is, and a ledger of the loopback lies beside "
                          "it");
    }
    for (const bool ended : {false, true}) {
        if (look_at_signed(store, identity, ended).foreign.empty()) continue;
        refuse_unfinished(store, identity,
                          "nobody wrote down whose it is, and it holds transactions of another "
                          "chain or signer");
    }
}

void require_signers(store::Store& store, const ChainIdentity& identity, const Mark& mark) {
    if (identity.signers.empty()) return;
    std::set<std::string> unsettled;
    for (const std::string& account : store.unsettled_accounts()) {
        unsettled.insert(base::lower_case(account));
    }
    for (const std::string& signer : mark.signers) {
        const bool is_bound = unsettled.contains(signer) || unsettled.contains("");
        if (identity.signers.contains(signer) || !is_bound) continue;
        refuse(store, identity,
               "the account " + signer +
                   " has signed in it, and not all of that is settled: transactions are on their "
                   "way, or in blocks that may still be replaced; configure its key as well until "
                   "they are settled, or choose another --data-dir");
    }
}

std::uint64_t forget(store::Store& store, const std::vector<std::int64_t>& all) {
    for (std::size_t begin = 0; begin < all.size(); begin += rows_per_forgetting) {
        const std::size_t end = std::min(all.size(), begin + rows_per_forgetting);
        store::Store::Transaction transaction(store);
        store.forget({all.begin() + static_cast<std::ptrdiff_t>(begin),
                      all.begin() + static_cast<std::ptrdiff_t>(end)});
        transaction.commit();
    }
    return all.size();
}

std::uint64_t forget_ended(store::Store& store, store::Chain chain) {
    std::uint64_t forgotten = 0;
    for (std::size_t batch = rows_per_forgetting; batch == rows_per_forgetting;) {
        store::Store::Transaction transaction(store);
        batch = store.forget_ended(chain, rows_per_forgetting);
        transaction.commit();
        forgotten += batch;
    }
    return forgotten;
}

void forget_listening(store::Store& store, store::Chain chain) {
    if (chain != store::Chain::gateway) return;
    for (std::size_t most = rows_per_forgetting; most == rows_per_forgetting;) {
        store::Store::Transaction transaction(store);
        most = std::max(store.forget_listening(rows_per_forgetting),
                        store.forget_own(rows_per_forgetting));
        transaction.commit();
    }
}

Adopted adopt_unmarked(store::Store& store, const ChainIdentity& identity) {
    const Signed unfinished = look_at_signed(store, identity, false);
    const Signed ended = look_at_signed(store, identity, true);
    const bool has_own = unfinished.has_own || ended.has_own;
    const bool has_foreign = !unfinished.foreign.empty() || !ended.foreign.empty();
    if (identity.has_trial_beside && has_foreign && !has_own) refuse_trial(store, identity);
    if (!unfinished.foreign.empty() ||
        (identity.has_trial_beside && !has_own && store.count_unfinished(identity.chain) > 0)) {
        refuse_unfinished(store, identity, "what is unfinished in it may be another chain's");
    }
    Adopted adopted{has_foreign, forget(store, ended.foreign)};
    if (adopted.was_other) forget_listening(store, identity.chain);
    write_mark(store, identity, {});
    return adopted;
}

}  // namespace

void claim(store::Store& store, const ChainIdentity& identity) {
    const std::optional<Mark> mark = read_mark(store, identity.chain);
    if (!mark) {
        claim_unmarked(store, identity);
        write_mark(store, identity, {});
    } else if (mark->is == identity.is) {
        require_signers(store, identity, *mark);
        const bool is_news = !identity.signers.empty() && mark->signers != identity.signers;
        if (is_news) write_mark(store, identity, mark->signers);
    } else if (is_empty(store, identity.chain)) {
        forget_listening(store, identity.chain);
        write_mark(store, identity, {});
    } else if (mark->is_trial() && !identity.is_trial) {
        refuse_trial(store, identity);
    } else {
        refuse_unfinished(store, identity, "it belongs to " + mark->is);
    }
}

Adopted adopt(store::Store& store, const ChainIdentity& identity) {
    const std::optional<Mark> mark = read_mark(store, identity.chain);
    if (!mark) return adopt_unmarked(store, identity);
    if (mark->is == identity.is) {
        claim(store, identity);
        return {};
    }
    if (!is_empty(store, identity.chain)) {
        if (mark->is_trial() && !identity.is_trial) refuse_trial(store, identity);
        if (store.count_unfinished(identity.chain) > 0) {
            refuse_unfinished(store, identity, "it belongs to " + mark->is);
        }
    }
    Adopted adopted{true, forget_ended(store, identity.chain)};
    forget_listening(store, identity.chain);
    write_mark(store, identity, {});
    return adopted;
}

}  // namespace engine
