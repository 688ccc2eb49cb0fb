// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.24;

/// What of ERC-20 a request needs, and a look before the first one.
contract FeeToken {
    error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed);
    error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed);

    string public constant symbol = "FEE";
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 11 * 10 ** 27;

    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    function mint(address account, uint256 value) external {
        balanceOf[account] = value;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed < value) revert ERC20InsufficientAllowance(msg.sender, allowed, value);
        if (balanceOf[from] < value) revert ERC20InsufficientBalance(from, balanceOf[from], value);
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        balanceOf[from] -= value;
        balanceOf[to] += value;
        return true;
    }

    function setAllowance(address account, address spender, uint256 value) external {
        allowance[account][spender] = value;
    }
}

contract ProtocolPayment {
    address internal constant BURNER = address(0xb0);

    uint256 internal price;
    FeeToken internal token;

    function getVersion() external pure returns (string memory) {
        return "ProtocolPayment v0.1.0";
    }

    function setToken(FeeToken value) external {
        token = value;
    }

    function collect(address payer) external {
        token.transferFrom(payer, BURNER, price);
    }

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
