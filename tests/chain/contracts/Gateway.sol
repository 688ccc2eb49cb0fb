// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.24;

struct CtHandleContractPair {
    bytes32 ctHandle;
    address contractAddress;
}

struct HandleEntry {
    bytes32 handle;
    address contractAddress;
    address ownerAddress;
}

struct RequestValidity {
    uint256 startTimestamp;
    uint256 durationDays;
}

struct RequestValiditySeconds {
    uint256 startTimestamp;
    uint256 durationSeconds;
}

struct DelegationAccounts {
    address delegatorAddress;
    address delegateAddress;
}

struct ContractsInfo {
    uint256 chainId;
    address[] addresses;
}

struct SnsCiphertextMaterial {
    bytes32 ctHandle;
    uint256 keyId;
    bytes32 snsCiphertextDigest;
    address[] coprocessorTxSenderAddresses;
}

struct UserDecryptionRequestPayload {
    address userAddress;
    bytes publicKey;
    address[] allowedContracts;
    RequestValiditySeconds requestValidity;
    bytes extraData;
    bytes signature;
}

interface IPayment {
    function collect(address payer) external;
}

/// Decryption and InputVerification in one: every request is taken as it comes, nothing is verified
/// unless the test says so. It is neither until it gets a version. What happens to a request is set by the test: for all, or for one by its first handle or, for an
/// input proof, its user. All state is right when it is zero, so the code can be put anywhere.
contract Gateway {
    event VerifyProofRequest(
        uint256 indexed zkProofId,
        uint256 indexed contractChainId,
        address contractAddress,
        address userAddress,
        bytes ciphertextWithZKProof,
        bytes extraData
    );
    event PublicDecryptionRequest(
        uint256 indexed decryptionId,
        SnsCiphertextMaterial[] snsCtMaterials,
        bytes extraData
    );
    event PublicDecryptionRequest(uint256 indexed decryptionId, bytes32[] ctHandles, bytes extraData);
    event UserDecryptionRequest(
        uint256 indexed decryptionId,
        SnsCiphertextMaterial[] snsCtMaterials,
        address userAddress,
        bytes publicKey,
        bytes extraData
    );
    event UserDecryptionRequest(
        uint256 indexed decryptionId,
        bytes32[] ctHandles,
        address userAddress,
        bytes publicKey,
        bytes extraData
    );
    event UserDecryptionRequest(
        uint256 indexed decryptionId,
        SnsCiphertextMaterial[] snsCtMaterials,
        HandleEntry[] handles,
        UserDecryptionRequestPayload payload
    );
    event UserDecryptionRequest(
        uint256 indexed decryptionId,
        HandleEntry[] handles,
        UserDecryptionRequestPayload payload
    );

    event VerifyProofResponse(uint256 indexed zkProofId, bytes32[] ctHandles, bytes[] signatures);
    event RejectProofResponse(uint256 indexed zkProofId);
    event PublicDecryptionResponse(
        uint256 indexed decryptionId,
        bytes decryptedResult,
        bytes[] signatures,
        bytes extraData
    );
    event UserDecryptionResponse(
        uint256 indexed decryptionId,
        uint256 indexShare,
        bytes userDecryptedShare,
        bytes signature,
        bytes extraData
    );
    event UserDecryptionResponseThresholdReached(uint256 indexed decryptionId);
    event VerifyProofResponseCall(
        uint256 indexed zkProofId,
        bytes32[] ctHandles,
        bytes signature,
        address coprocessorTxSender,
        bytes extraData
    );
    event RejectProofResponseCall(uint256 indexed zkProofId, bytes extraData);
    event PublicDecryptionResponseCall(
        uint256 indexed decryptionId,
        bytes decryptedResult,
        bytes signature,
        address kmsTxSender,
        bytes extraData
    );

    error EnforcedPause();
    error CiphertextMaterialNotFound(bytes32 ctHandle);
    error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed);
    error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed);
    error InvalidUserSignature(bytes signature);
    error InvalidNullDurationDays();
    error MaxDurationDaysExceeded(uint256 maxValue, uint256 actualValue);
    error ContractAddressesMaxLengthExceeded(uint256 maxLength, uint256 actualLength);
    error UnsupportedFHEType(uint8 fheType);
    error InvalidFHEType(uint8 fheType);
    error StartTimestampInFuture(uint256 currentTimestamp, uint256 startTimestamp);
    error DifferentKeyIdsNotAllowed(SnsCiphertextMaterial first, SnsCiphertextMaterial invalid);
    error SomethingElse(uint256 number, string text);
    error NotAnswering();

    uint8 internal constant SHAPES_BOTH = 0;
    uint8 internal constant SHAPES_OLD = 1;
    uint8 internal constant SHAPES_NEW = 2;

    uint8 public mode;
    uint8 public shapes;
    uint8 public readiness; // 0 ready, 1 not ready, 2 reverts
    mapping(bytes32 => uint8) internal modePlusOne;
    mapping(bytes32 => uint8) internal readinessPlusOne;
    bool public paused;
    bool public verifies; // what the published contract verifies of a request
    uint256 public time; // what the contract takes for the time; 0: it does not look
    uint256 public threshold; // of shares that respondShare counts
    address public payment; // 0: requests cost nothing
    string internal version;
    mapping(bytes32 => uint256) internal keyOf; // of a handle; 0 is key 1
    mapping(uint256 => uint256) public sharesOf; // by request
    mapping(uint256 => bool) public reached;
    uint256 internal proofs;
    uint256 internal publics;
    uint256 internal users;

    // --- what the relayer calls ---

    function verifyProofRequest(
        uint256 contractChainId,
        address contractAddress,
        address userAddress,
        bytes calldata ciphertextWithZKProof,
        bytes calldata extraData
    ) external {
        if (silent(bytes32(uint256(uint160(userAddress))))) return;
        collect();
        emit VerifyProofRequest(
            ++proofs,
            contractChainId,
            contractAddress,
            userAddress,
            ciphertextWithZKProof,
            extraData
        );
    }

    function publicDecryptionRequest(bytes32[] calldata ctHandles, bytes calldata extraData) external {
        if (silent(ctHandles[0])) return;
        verifyHandles(ctHandles);
        collect();
        publics++;
        uint256 id = lastPublicId();
        if (shapes != SHAPES_NEW) emit PublicDecryptionRequest(id, materials(ctHandles), extraData);
        if (shapes != SHAPES_OLD) emit PublicDecryptionRequest(id, ctHandles, extraData);
    }

    function userDecryptionRequest(
        CtHandleContractPair[] calldata ctHandleContractPairs,
        RequestValidity calldata requestValidity,
        ContractsInfo calldata contractsInfo,
        address userAddress,
        bytes calldata publicKey,
        bytes calldata,
        bytes calldata extraData
    ) external {
        verify(requestValidity, contractsInfo);
        request(ctHandleContractPairs, userAddress, publicKey, extraData);
    }

    function delegatedUserDecryptionRequest(
        CtHandleContractPair[] calldata ctHandleContractPairs,
        RequestValidity calldata requestValidity,
        DelegationAccounts calldata delegationAccounts,
        ContractsInfo calldata contractsInfo,
        bytes calldata publicKey,
        bytes calldata,
        bytes calldata extraData
    ) external {
        verify(requestValidity, contractsInfo);
        request(ctHandleContractPairs, delegationAccounts.delegateAddress, publicKey, extraData);
    }

    function userDecryptionRequest(
        HandleEntry[] calldata handles,
        address userAddress,
        bytes calldata publicKey,
        address[] calldata allowedContracts,
        RequestValiditySeconds calldata requestValidity,
        bytes calldata signature,
        bytes calldata extraData
    ) external {
        if (silent(handles[0].handle)) return;
        verifyStart(requestValidity.startTimestamp);
        collect();
        users++;
        UserDecryptionRequestPayload memory payload;
        payload.userAddress = userAddress;
        payload.publicKey = publicKey;
        payload.allowedContracts = allowedContracts;
        payload.requestValidity = requestValidity;
        payload.extraData = extraData;
        payload.signature = signature;
        emitUnified(handles, payload);
    }

    function isPublicDecryptionReady(bytes32[] calldata ctHandles, bytes calldata) external view returns (bool) {
        bool all = ctHandles.length != 0;
        for (uint256 i = 0; i < ctHandles.length; i++) all = ready(ctHandles[i]) && all;
        return all;
    }

    function isUserDecryptionReady(
        CtHandleContractPair[] calldata ctHandleContractPairs,
        bytes calldata
    ) external view returns (bool) {
        bool all = ctHandleContractPairs.length != 0;
        for (uint256 i = 0; i < ctHandleContractPairs.length; i++)
            all = ready(ctHandleContractPairs[i].ctHandle) && all;
        return all;
    }

    /// Nobody knows this function before it has a version.
    function getVersion() external view returns (string memory) {
        if (bytes(version).length == 0) {
            assembly {
                revert(0, 0)
            }
        }
        return version;
    }

    // --- what the test sets ---

    function setVersion(string calldata value) external {
        version = value;
    }

    function setPaused(bool value) external {
        paused = value;
    }

    function setVerifies(bool value) external {
        verifies = value;
    }

    /// What the contract takes for the time of the block; 0: it does not look.
    function setTime(uint256 value) external {
        time = value;
    }

    function setThreshold(uint256 value) external {
        threshold = value;
    }

    function setPayment(address value) external {
        payment = value;
    }

    function setKeyOf(bytes32 ctHandle, uint256 keyId) external {
        keyOf[ctHandle] = keyId;
    }

    function setMode(uint8 value) external {
        mode = value;
    }

    /// A handle, or a user's address of an input proof as a number.
    function setModeOf(bytes32 subject, uint8 value) external {
        modePlusOne[subject] = value + 1;
    }

    function setShapes(uint8 value) external {
        shapes = value;
    }

    function setReadiness(uint8 value) external {
        readiness = value;
    }

    function setReadinessOf(bytes32 ctHandle, uint8 value) external {
        readinessPlusOne[ctHandle] = value + 1;
    }

    function lastProofId() public view returns (uint256) {
        return proofs;
    }

    function lastPublicId() public view returns (uint256) {
        return (uint256(1) << 248) + publics;
    }

    function lastUserId() public view returns (uint256) {
        return (uint256(2) << 248) + users;
    }

    // --- answers, to any id ---

    function respondInput(uint256 id, bytes32[] calldata ctHandles, bytes[] calldata signatures) external {
        emit VerifyProofResponse(id, ctHandles, signatures);
    }

    function rejectInput(uint256 id) external {
        emit RejectProofResponse(id);
    }

    function respondPublic(
        uint256 id,
        bytes calldata result,
        bytes[] calldata signatures,
        bytes calldata extraData
    ) external {
        emit PublicDecryptionResponse(id, result, signatures, extraData);
    }

    function respondUser(
        uint256 id,
        uint256 index,
        bytes calldata share,
        bytes calldata signature,
        bytes calldata extraData
    ) external {
        emit UserDecryptionResponse(id, index, share, signature, extraData);
    }

    /// As the published contract has it: it counts the shares, and says once when they are enough.
    function respondShare(
        uint256 id,
        bytes calldata share,
        bytes calldata signature,
        bytes calldata extraData
    ) external {
        emit UserDecryptionResponse(id, sharesOf[id]++, share, signature, extraData);
        if (reached[id] || sharesOf[id] < threshold) return;
        reached[id] = true;
        emit UserDecryptionResponseThresholdReached(id);
    }

    function thresholdReached(uint256 id) external {
        emit UserDecryptionResponseThresholdReached(id);
    }

    function respondInputCall(
        uint256 id,
        bytes32[] calldata ctHandles,
        bytes calldata signature,
        bytes calldata extraData
    ) external {
        emit VerifyProofResponseCall(id, ctHandles, signature, msg.sender, extraData);
    }

    function rejectInputCall(uint256 id, bytes calldata extraData) external {
        emit RejectProofResponseCall(id, extraData);
    }

    function respondPublicCall(
        uint256 id,
        bytes calldata result,
        bytes calldata signature,
        bytes calldata extraData
    ) external {
        emit PublicDecryptionResponseCall(id, result, signature, msg.sender, extraData);
    }

    /// Several of these calls in one transaction.
    function multicall(bytes[] calldata calls) external {
        for (uint256 i = 0; i < calls.length; i++) {
            (bool done, ) = address(this).delegatecall(calls[i]);
            require(done, "a call failed");
        }
    }

    // --- within ---

    function request(
        CtHandleContractPair[] calldata pairs,
        address userAddress,
        bytes calldata publicKey,
        bytes calldata extraData
    ) private {
        if (silent(pairs[0].ctHandle)) return;
        bytes32[] memory ctHandles = new bytes32[](pairs.length);
        for (uint256 i = 0; i < pairs.length; i++) ctHandles[i] = pairs[i].ctHandle;
        verifyHandles(ctHandles);
        collect();
        users++;
        uint256 id = lastUserId();
        if (shapes != SHAPES_NEW)
            emit UserDecryptionRequest(id, materials(ctHandles), userAddress, publicKey, extraData);
        if (shapes != SHAPES_OLD) emit UserDecryptionRequest(id, ctHandles, userAddress, publicKey, extraData);
    }

    function emitUnified(HandleEntry[] memory handles, UserDecryptionRequestPayload memory payload) private {
        uint256 id = lastUserId();
        bytes32[] memory ctHandles = new bytes32[](handles.length);
        for (uint256 i = 0; i < handles.length; i++) ctHandles[i] = handles[i].handle;
        if (shapes != SHAPES_NEW) emit UserDecryptionRequest(id, materials(ctHandles), handles, payload);
        if (shapes != SHAPES_OLD) emit UserDecryptionRequest(id, handles, payload);
    }

    function materials(bytes32[] memory ctHandles) private view returns (SnsCiphertextMaterial[] memory all) {
        all = new SnsCiphertextMaterial[](ctHandles.length);
        for (uint256 i = 0; i < ctHandles.length; i++) {
            all[i].ctHandle = ctHandles[i];
            all[i].keyId = keyOf[ctHandles[i]] == 0 ? 1 : keyOf[ctHandles[i]];
            all[i].snsCiphertextDigest = keccak256(abi.encode(ctHandles[i]));
            all[i].coprocessorTxSenderAddresses = new address[](1);
            all[i].coprocessorTxSenderAddresses[0] = address(this);
        }
    }

    function verify(RequestValidity calldata requestValidity, ContractsInfo calldata contractsInfo) private view {
        verifyStart(requestValidity.startTimestamp);
        if (!verifies) return;
        uint256 contracts = contractsInfo.addresses.length;
        if (contracts > 10) revert ContractAddressesMaxLengthExceeded(10, contracts);
        if (requestValidity.durationDays == 0) revert InvalidNullDurationDays();
        if (requestValidity.durationDays > 365) revert MaxDurationDaysExceeded(365, requestValidity.durationDays);
    }

    function verifyStart(uint256 startTimestamp) private view {
        if (time != 0 && startTimestamp > time) revert StartTimestampInFuture(time, startTimestamp);
    }

    function verifyHandles(bytes32[] memory ctHandles) private view {
        if (!verifies) return;
        for (uint256 i = 0; i < ctHandles.length; i++) {
            uint8 fheType = uint8(ctHandles[i][30]);
            if (fheType > 83) revert InvalidFHEType(fheType);
            if (fheType > 8) revert UnsupportedFHEType(fheType);
        }
        SnsCiphertextMaterial[] memory all = materials(ctHandles);
        for (uint256 i = 1; i < all.length; i++) {
            if (all[i].keyId != all[0].keyId) revert DifferentKeyIdsNotAllowed(all[0], all[i]);
        }
    }

    function collect() private {
        if (payment != address(0)) IPayment(payment).collect(msg.sender);
    }

    /// True: take the request and say nothing.
    function silent(bytes32 subject) private view returns (bool) {
        if (paused) revert EnforcedPause();
        uint8 own = modePlusOne[subject];
        uint8 now_ = own != 0 ? own - 1 : mode;
        if (now_ == 1) revert EnforcedPause();
        if (now_ == 2) revert CiphertextMaterialNotFound(subject);
        if (now_ == 3) revert ERC20InsufficientBalance(msg.sender, 3, 10);
        if (now_ == 4) revert ERC20InsufficientAllowance(address(this), 4, 10);
        if (now_ == 5) revert InvalidUserSignature(hex"0102");
        if (now_ == 6) revert SomethingElse(6, "six");
        if (now_ == 7) revert("a reason in words");
        if (now_ == 8) {
            assembly {
                revert(0, 0)
            }
        }
        // An estimate carries no fee; what is mined does.
        if (now_ == 10 && tx.gasprice != 0) revert EnforcedPause();
        return now_ == 9;
    }

    function ready(bytes32 ctHandle) private view returns (bool) {
        uint8 own = readinessPlusOne[ctHandle];
        uint8 now_ = own != 0 ? own - 1 : readiness;
        if (now_ == 2) revert NotAnswering();
        return now_ == 0;
    }
}
