#pragma once

#include <string_view>

#include "domain/bytes.hpp"
#include "engine/key_material.hpp"

namespace engine {

// Key material in the public storage of a KMS node, one URL each (relayer-api 1.12):
// {storage_url without trailing slashes}/{storage_prefix}/{PublicKey|CRS}/{id, 64 digits}.
[[nodiscard]] engine::KeyMaterial stored_at(std::string_view storage_url,
                                            std::string_view storage_prefix,
                                            const domain::Bytes32& key_id,
                                            const domain::Bytes32& crs_id);

}  // namespace engine
