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

/// Decryption and InputVerification in one: every request is taken as it comes, nothing is verified.
/// What happens to a request is set by the test: for all, or for one by its first handle or, for an
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
        publics++;
        uint256 id = lastPublicId();
        if (shapes != SHAPES_NEW) emit PublicDecryptionRequest(id, materials(ctHandles), extraData);
        if (shapes != SHAPES_OLD) emit PublicDecryptionRequest(id, ctHandles, extraData);
    }

    function userDecryptionRequest(
        CtHandleContractPair[] calldata ctHandleContractPairs,
        RequestValidity calldata,
        ContractsInfo calldata,
        address userAddress,
        bytes calldata publicKey,
        bytes calldata,
        bytes calldata extraData
    ) external {
        request(ctHandleContractPairs, userAddress, publicKey, extraData);
    }

    function delegatedUserDecryptionRequest(
        CtHandleContractPair[] calldata ctHandleContractPairs,
        RequestValidity calldata,
        DelegationAccounts calldata delegationAccounts,
        ContractsInfo calldata,
        bytes calldata publicKey,
        bytes calldata,
        bytes calldata extraData
    ) external {
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

    // --- what the test sets ---

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
        users++;
        uint256 id = lastUserId();
        bytes32[] memory ctHandles = new bytes32[](pairs.length);
        for (uint256 i = 0; i < pairs.length; i++) ctHandles[i] = pairs[i].ctHandle;
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
            all[i].keyId = 1;
            all[i].snsCiphertextDigest = keccak256(abi.encode(ctHandles[i]));
            all[i].coprocessorTxSenderAddresses = new address[](1);
            all[i].coprocessorTxSenderAddresses[0] = address(this);
        }
    }

    /// True: take the request and say nothing.
    function silent(bytes32 subject) private view returns (bool) {
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
