// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.24;

/// What of ERC-20 a look before the first request needs.
contract FeeToken {
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    function mint(address account, uint256 value) external {
        balanceOf[account] = value;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        return true;
    }

    function setAllowance(address account, address spender, uint256 value) external {
        allowance[account][spender] = value;
    }
}

contract ProtocolPayment {
    uint256 internal price;

    function setPrice(uint256 value) external {
        price = value;
    }

    function getInputVerificationPrice() external view returns (uint256) {
        return price;
    }

    function getPublicDecryptionPrice() external view returns (uint256) {
        return price;
    }

    function getUserDecryptionPrice() external view returns (uint256) {
        return price;
    }
}
