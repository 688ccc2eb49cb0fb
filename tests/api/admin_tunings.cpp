#include "api/admin_tunings.hpp"

namespace api {

engine::Tuning sample_tuning() {
    engine::Tuning tuning;
    tuning.per_seconds = {21, 22, 23};
    tuning.retry_after.public_decrypt_processing = domain::Milliseconds{5'000};
    tuning.retry_after.copro_kms_backoff_intervals = {{0, 4}, {60, 10}};
    return tuning;
}

}  // namespace api
