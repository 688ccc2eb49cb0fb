#include "commands/adopt.hpp"

#include <cstdlib>

#include "commands/chain_identities.hpp"
#include "store/store.hpp"

namespace commands {

int adopt(const config::Settings& settings, std::ostream& out) {
    store::Store store(settings.store);
    for (const engine::ChainIdentity& identity : chain_identities(settings)) {
        const engine::Adopted adopted = engine::adopt(store, identity);
        out << (identity.chain == store::Chain::votes ? "votes: " : "gateway: ") << identity.is;
        if (adopted.was_other) {
            out << ": adopted; requests of another chain that had ended and are forgotten: "
                << adopted.forgotten;
        }
        out << "\n";
    }
    store.truncate_wal();
    return EXIT_SUCCESS;
}

}  // namespace commands
