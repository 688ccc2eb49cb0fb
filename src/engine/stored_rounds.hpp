#pragma once

#include "engine/gateway.hpp"
#include "store/reader.hpp"

namespace engine {

// The rounds that shares are stored of, and the chain for all others (share-helper 1.2). A stored
// end counts whatever the chain says by now, and whether or not it can be asked. What can not be
// read is asked of the chain. Any thread, may block.
class StoredRounds final : public RoundDirectory {
public:
    StoredRounds(store::Reader& reader, RoundDirectory& chain) : reader_(reader), chain_(chain) {}

    [[nodiscard]] RoundAnswer find(const domain::Bytes32& round_id) override;

private:
    store::Reader& reader_;
    RoundDirectory& chain_;
};

}  // namespace engine
