"""How good and how fast the default fit is on problems that nothing was tuned on."""
