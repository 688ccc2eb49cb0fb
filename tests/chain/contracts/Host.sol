// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.24;

/// Allows everything that is not denied.
contract AccessControl {
    error Unavailable();

    bool public revertsAll;
    bool public deniesAll;
    mapping(bytes32 => bool) public revertsFor; // by handle
    mapping(bytes32 => uint8) internal answers; // 1 allowed, 2 denied
    bool public paused;
    bool internal lacksInvalidation;
    mapping(address => uint256) internal invalidatedBefore;

    function getVersion() external pure returns (string memory) {
        return "ACL v0.5.0";
    }

    /// Older ones do not have it.
    function decryptionSignatureInvalidatedBefore(address account) external view returns (uint256) {
        if (lacksInvalidation) {
            assembly {
                revert(0, 0)
            }
        }
        return invalidatedBefore[account];
    }

    function setInvalidatedBefore(address account, uint256 value) external {
        invalidatedBefore[account] = value;
    }

    function setLacksInvalidation(bool value) external {
        lacksInvalidation = value;
    }

    function setPaused(bool value) external {
        paused = value;
    }

    function multicall(bytes[] calldata data) external returns (bytes[] memory results) {
        results = new bytes[](data.length);
        for (uint256 i = 0; i < data.length; i++) {
            (bool done, bytes memory result) = address(this).delegatecall(data[i]);
            if (!done) {
                assembly {
                    revert(add(result, 32), mload(result))
                }
            }
            results[i] = result;
        }
    }

    function isAllowed(bytes32 handle, address account) external view returns (bool) {
        return answer(handle, keccak256(abi.encode(handle, account)));
    }

    /// Clients look at this one.
    function persistAllowed(bytes32 handle, address account) external view returns (bool) {
        return answer(handle, keccak256(abi.encode(handle, account)));
    }

    function isAllowedForDecryption(bytes32 handle) external view returns (bool) {
        return answer(handle, handle);
    }

    function isHandleDelegatedForUserDecryption(
        address delegator,
        address delegate,
        address contractAddress,
        bytes32 handle
    ) external view returns (bool) {
        return answer(handle, keccak256(abi.encode(delegator, delegate, contractAddress, handle)));
    }

    function setRevertsAll(bool value) external {
        revertsAll = value;
    }

    function setDeniesAll(bool value) external {
        deniesAll = value;
    }

    function setRevertsFor(bytes32 handle, bool value) external {
        revertsFor[handle] = value;
    }

    function setAllowed(bytes32 handle, address account, bool value) external {
        answers[keccak256(abi.encode(handle, account))] = value ? 1 : 2;
    }

    function setAllowedForDecryption(bytes32 handle, bool value) external {
        answers[handle] = value ? 1 : 2;
    }

    function setDelegated(
        address delegator,
        address delegate,
        address contractAddress,
        bytes32 handle,
        bool value
    ) external {
        answers[keccak256(abi.encode(delegator, delegate, contractAddress, handle))] = value ? 1 : 2;
    }

    function answer(bytes32 handle, bytes32 key) private view returns (bool) {
        if (revertsAll || revertsFor[handle]) revert Unavailable();
        uint8 own = answers[key];
        return own != 0 ? own == 1 : !deniesAll;
    }
}

contract ProtocolConfig {
    struct KmsNodeParams {
        address txSenderAddress;
        address signerAddress;
        string ipAddress;
        string storageUrl;
        int32 partyId;
        string mpcIdentity;
        bytes caCert;
        string storagePrefix;
    }

    struct KmsThresholds {
        uint256 publicDecryption;
        uint256 userDecryption;
        uint256 kmsGen;
        uint256 mpc;
    }

    struct PcrValues {
        bytes pcr0;
        bytes pcr1;
        bytes pcr2;
    }

    event NewKmsContext(
        uint256 indexed contextId,
        uint256 indexed previousContextId,
        KmsNodeParams[] kmsNodeParams,
        KmsThresholds thresholds,
        string softwareVersion,
        PcrValues[] pcrValues
    );

    error InvalidKmsContext(uint256 contextId);

    uint256 internal context;
    uint256 internal epoch;

    function getVersion() external pure returns (string memory) {
        return "ProtocolConfig v0.2.0";
    }
    mapping(uint256 => uint256) internal anchors;
    mapping(uint256 => uint256) internal thresholds;

    function getCurrentKmsContextAndEpoch() external view returns (uint256, uint256) {
        return (context, epoch);
    }

    function getKmsContextAnchor(uint256 contextId) external view returns (uint256, bytes32) {
        return (anchors[contextId], keccak256(abi.encode(contextId)));
    }

    function getUserDecryptionThresholdForContext(uint256 contextId) external view returns (uint256) {
        if (thresholds[contextId] == 0) revert InvalidKmsContext(contextId);
        return thresholds[contextId];
    }

    /// 0: the context is not valid.
    function setThreshold(uint256 contextId, uint256 value) external {
        thresholds[contextId] = value;
    }

    function newContext(
        uint256 contextId,
        uint256 epochId,
        uint256 threshold,
        KmsNodeParams[] calldata nodes
    ) external {
        uint256 previous = context;
        context = contextId;
        epoch = epochId;
        anchors[contextId] = block.number;
        thresholds[contextId] = threshold;
        emit NewKmsContext(
            contextId,
            previous,
            nodes,
            KmsThresholds(threshold, threshold, threshold, 1),
            "1.0.0",
            new PcrValues[](0)
        );
    }
}

contract KMSGeneration {
    struct KeyDigest {
        uint8 keyType;
        bytes digest;
    }

    error NotGenerated(uint256 id);

    function getVersion() external pure returns (string memory) {
        return "KMSGeneration v0.5.0";
    }

    uint256 public getActiveKeyId;
    uint256 public getActiveCrsId;
    bool public withholds;

    function setActive(uint256 keyId, uint256 crsId) external {
        getActiveKeyId = keyId;
        getActiveCrsId = crsId;
    }

    function setWithholds(bool value) external {
        withholds = value;
    }

    function getKeyMaterials(uint256 id) external view returns (string[] memory urls, KeyDigest[] memory digests) {
        if (withholds || id != getActiveKeyId) revert NotGenerated(id);
        urls = new string[](1);
        urls[0] = "https://kms.invalid/key";
        digests = new KeyDigest[](2);
        digests[0] = KeyDigest(0, hex"00112233");
        digests[1] = KeyDigest(1, hex"445566");
    }

    function getCrsMaterials(uint256 id) external view returns (string[] memory urls, bytes memory digest) {
        if (withholds || id != getActiveCrsId) revert NotGenerated(id);
        urls = new string[](1);
        urls[0] = "https://kms.invalid/crs";
        digest = hex"8899";
    }
}

/// An account that is a contract (ERC-1271).
contract Wallet {
    error NotMine(bytes32 digest);

    uint8 public mode; // 0 magic, 1 wrong magic, 2 short return, 3 revert with data, 4 burn all gas, 5 revert bare

    function setMode(uint8 value) external {
        mode = value;
    }

    function isValidSignature(bytes32 digest, bytes calldata) external view returns (bytes4) {
        if (mode == 0) return this.isValidSignature.selector;
        if (mode == 1) return 0xffffffff;
        if (mode == 3) revert NotMine(digest);
        if (mode == 4) while (true) {}
        assembly {
            if eq(sload(mode.slot), 2) {
                mstore(0, shl(224, 0x1626ba7e))
                return(0, 4)
            }
            revert(0, 0)
        }
    }
}
