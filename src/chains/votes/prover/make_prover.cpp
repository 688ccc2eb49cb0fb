#include "chains/votes/prover/make_prover.hpp"

#include <stdexcept>

#include "chains/votes/prover/prover_command.hpp"
#include "chains/votes/prover/prover_http.hpp"
#include "chains/votes/prover/prover_loopback.hpp"

namespace chains::votes::prover {

std::unique_ptr<Prover> make_prover(const ProverOptions& options, ports::Logger& logger) {
    if (options.timeout <= domain::Milliseconds{0}) {
        throw std::invalid_argument("prover timeout is not positive");
    }
    switch (options.type) {
        case ProverType::loopback:
            return std::make_unique<LoopbackProver>();
        case ProverType::command:
            return std::make_unique<CommandProver>(options, logger);
        case ProverType::http:
            return std::make_unique<HttpProver>(options);
        case ProverType::none:
            break;
    }
    throw std::invalid_argument("there is no prover");
}

}  // namespace chains::votes::prover
