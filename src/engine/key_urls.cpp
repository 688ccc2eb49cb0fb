#include "engine/key_urls.hpp"

#include <string>

namespace engine {

engine::KeyMaterial stored_at(std::string_view storage_url, std::string_view storage_prefix,
                              const domain::Bytes32& key_id, const domain::Bytes32& crs_id) {
    while (storage_url.ends_with('/')) storage_url.remove_suffix(1);
    const std::string base = std::string(storage_url).append("/").append(storage_prefix);
    return {key_id,
            crs_id,
            {base + "/PublicKey/" + domain::to_hex(key_id)},
            {base + "/CRS/" + domain::to_hex(crs_id)}};
}

}  // namespace engine
