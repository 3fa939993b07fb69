"""Whether a number has the check digits of its kind: of a card, a bank account, a person. Blanks do not count."""

import re

_IDENTITY_DIGITS = "10X98765432"
"""Of ISO 7064, MOD 11-2, by the remainder of what stands before them."""


def is_card(number: str) -> bool:
    """Return whether the digits have the sum of Luhn."""
    digits = [int(digit) for digit in _plain(number)]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_account(number: str) -> bool:
    """Return whether an IBAN has the remainder of ISO 7064, MOD 97-10."""
    plain = _plain(number).upper()
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def is_identity(number: str) -> bool:
    """Return whether the last of the 18 places of a Chinese identity number is the one that belongs to the others."""
    plain = _plain(number).upper()
    weighted = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(plain[:17]))
    return _IDENTITY_DIGITS[weighted % 11] == plain[17]


def _plain(number: str) -> str:
    return re.sub(r"[\s-]", "", number)
