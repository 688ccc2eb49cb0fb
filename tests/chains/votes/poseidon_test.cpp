#include "chains/votes/tree/poseidon.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "chains/votes/fields.hpp"
#include "chains/votes/naive_pallas.hpp"

namespace chains::votes {

namespace {

std::string hash_of(const std::vector<std::uint64_t>& numbers) {
    std::vector<tree::PallasField> message;
    for (const std::uint64_t value : numbers) message.push_back(tree::PallasField::from(value));
    return domain::to_hex(tree::poseidon_hash(message).encode());
}

}  // namespace

// From zcash-test-vectors, orchard_poseidon.
TEST_CASE("the permutation is that of the published vectors") {
    struct Row {
        std::array<const char*, 3> before;
        std::array<const char*, 3> after;
    };
    for (const Row& row : {
             Row{{"0000000000000000000000000000000000000000000000000000000000000000",
                  "0100000000000000000000000000000000000000000000000000000000000000",
                  "0200000000000000000000000000000000000000000000000000000000000000"},
                 {"56a4ec4a02bcb1aea042b6d0719ae6f70f2466f964b3ef9453b4640bcd6a522a",
                  "2ab8e528963e2a01fedad9be7f2ed4dc12553d34ae7dff7630a44a8b56d1c513",
                  "dd9d4ed3a12990357b2ca4bde1dfcff71a56847959cd6f25446597c668c8490a"}},
             Row{{"5c7a8f73adfc70fb3f139449ac6b57074c4d6e66b164939daffa2ef6ee692108",
                  "1add86b3f2e1bda62a5d2e0e982b77e6b0ef9ca3f24988c7b3534201cfb1cd0d",
                  "bd69b82532b6940ff2590f679ba9c7271fe01f7e9c8e36d6a5e29d4e30a73514"},
                 {"d06e2f8338928a7ee7380c77928087cda2fd2961a15269037a22d6d120aedd21",
                  "2955a45f416f10d6bc79ac94d0c069c949e5f4bd09481e1f368cb9b8ee51140d",
                  "0d8376bbe9d65d2b1e136fb7d982ab87c51c403044be5c799d56bb68acf95b10"}},
             Row{{"bc50984255d6afbe9ef92848ed5ac00862c2fa7b2fecbcb64b6968912a63810e",
                  "3dc166d56a1d62f5a8d7551db5fd9313e8c7203d996af7d477083756d59af80d",
                  "05a745f45d7ff6db10bc67fdf0f03ebf8130ab33362697b0e4e4c763ccb8f636"},
                 {"0b77ec5307145a0c052dc7a9d6f96ac341ae72640832d58e51eb92a417801712",
                  "3b523f44f00e463f8b0fd7d4fc0e280cdbdeb927f18168077bb362f2675a2e18",
                  "957a9706ffcc351564ae802a9911314c05e23e22afcf834059df80fac1057626"}},
             Row{{"868c53239cfbdf73caec65604037314faaceb56218c6bd30f8374ac13386793f",
                  "21a9fb80ad03bc0cda4a44946c00e1b1a1df0e5b87b5bece477a709649e95006",
                  "049139482564f185c7900e83c738070af6556df6ed4b4ddd3d9a69f53357d736"},
                 {"6a5a1919a449a5e029711f488adbd6b03e5c927b6f9d9d35c5b3cceb76605203",
                  "80475b4689596147ab2adf0173db289b3a26a104842173e88bdbfec04a28671b",
                  "1ef3c8d0f54444f555b15f7bc9fa4ffa0f567c0f19ac7d0ff944fd36426e323a"}},
             Row{{"7d4f5ccb01643c31db845eecd5d63dc16a95e3025b9792fff7f244fc71626939",
                  "26d62e9596fa825c6bf21aff9e68625a192440ea06828123d97884806f15fa08",
                  "d952754a2364b666ffc30fdb014786da3a6128aef784a64610a89d1a7099212d"},
                 {"1b4ac9bef56bdb6fb42d3e3cd3a2ac70a4c40c425b0bd6679ca57b307ef1d42f",
                  "1a2ef41194aaa23432e086ed8adbd1deec3c7cb396de35bae95aaf5a08a0ec36",
                  "68eb80c73e2ccbdee1ba71247761d5b5ecc620e6e48e003b023d9f5561662f20"}},
         }) {
        CAPTURE(row.before[0]);
        tree::PallasField::Triple state;
        for (std::size_t i = 0; i < 3; ++i) state[i] = element(row.before[i]);
        tree::poseidon_permute(state);
        for (std::size_t i = 0; i < 3; ++i)
            CHECK(domain::to_hex(state[i].encode()) == row.after[i]);
    }
}

// From zcash-test-vectors, orchard_poseidon_hash.
TEST_CASE("the hash of two elements is that of the published vectors") {
    struct Row {
        const char* left;
        const char* right;
        const char* hash;
    };
    for (const Row& row : {
             Row{"0000000000000000000000000000000000000000000000000000000000000000",
                 "0100000000000000000000000000000000000000000000000000000000000000",
                 "8358d711a0329d38becd54fba7c283ed3e089a39c91b6a9d10efb02bc3f12f06"},
             Row{"5c7a8f73adfc70fb3f139449ac6b57074c4d6e66b164939daffa2ef6ee692108",
                 "1add86b3f2e1bda62a5d2e0e982b77e6b0ef9ca3f24988c7b3534201cfb1cd0d",
                 "db2675ff3ef8fe30c4d5de61cac02a8ef1a08523be92394b79d26726303be603"},
             Row{"bd69b82532b6940ff2590f679ba9c7271fe01f7e9c8e36d6a5e29d4e30a73514",
                 "bc50984255d6afbe9ef92848ed5ac00862c2fa7b2fecbcb64b6968912a63810e",
                 "f5121d1e1d5cfe8da896ac0f9c183d760031f6ef8c7a41e65eb007cddc1d143d"},
             Row{"3dc166d56a1d62f5a8d7551db5fd9313e8c7203d996af7d477083756d59af80d",
                 "05a745f45d7ff6db10bc67fdf0f03ebf8130ab33362697b0e4e4c763ccb8f636",
                 "a416a5e7135136a05056900058fa50bf186ad73390ace6323d8d81aa8adbd411"},
             Row{"91476930e3385cd3e3379e3853d93467e001afa2fb8dc3436d75a4a6f2657210",
                 "4b192232ecb9f0c02411e52596bc5e90457e745939ffedbd12863ce71a02af11",
                 "b0144720f5f2a25d492a504ec0737f097ed852174f55f5863091306c1af20035"},
             Row{"7b417adb63b37122a5bf62d26f1e7f268fb86b12b56da9c382857deecc40a90d",
                 "5e29353971b34994b621b0b261aeb3786dd984d567db2857b927b7fae2db5831",
                 "bbbeb742d6e7c01adbf4d3855e35fec462043089c18ba80290647bb0e581ad11"},
         }) {
        CAPTURE(row.left);
        CHECK(domain::to_hex(tree::poseidon_hash(element(row.left), element(row.right)).encode()) ==
              row.hash);
    }
}

// The frozen vectors of the voting-circuits crate.
TEST_CASE("hashes of other numbers of elements are those of the reference") {
    struct Row {
        std::vector<std::uint64_t> message;
        const char* hash;
    };
    for (const Row& row : {
             Row{{0, 0}, "7a515983cec6c21e27c2f24fbc31c54d698400d33300ebc7f4677cb71b529403"},
             Row{{1, 2}, "4ce3bd9407dc758983c62390ce00463beb82796eb0d40a0398993cb4eca55535"},
             Row{{42, 99}, "82af2c9b765107909e53cd6c7f7f38b07344f4a3825a7bf8dda023c3d47f8b1a"},
             Row{{0, 0, 0}, "b8df7f7731eb636026669c75f554e389a85944cc4c30be2fd1d8763716a2ee0e"},
             Row{{1, 2, 3}, "eafce114beaa82503698d4acc618788b648cc6409822265f9e3eea1ec642ab18"},
             Row{{42, 99, 123}, "4acd8b30011fd817ee48bca248bf1436f09605ec96ff4380b6d569f0e94bb02a"},
             Row{{2, 42, 100, 7, 5},
                 "92854cb814abd253a3de546973049359f31a7c8a585eee95f7eb25b3d1a28215"},
         }) {
        CAPTURE(row.message.size());
        CHECK(hash_of(row.message) == row.hash);
    }
}

TEST_CASE("the hash agrees with the one written with big numbers") {
    std::mt19937_64 random(5);
    for (std::size_t size = 1; size <= 8; ++size)
        for (int i = 0; i < 3; ++i) {
            CAPTURE(size);
            std::vector<tree::PallasField> message;
            std::vector<naive::Number> numbers;
            while (message.size() < size) {
                const auto bytes = naive::random_element(random);
                message.push_back(element(bytes));
                numbers.emplace_back(bytes);
            }
            CHECK(tree::poseidon_hash(message).encode() == naive::hash(numbers).bytes());
        }
}

TEST_CASE("a message and the same with a zero after it differ") {
    CHECK(hash_of({5}) != hash_of({5, 0}));
    CHECK(hash_of({5, 6, 7}) != hash_of({5, 6, 7, 0}));
}

}  // namespace chains::votes
