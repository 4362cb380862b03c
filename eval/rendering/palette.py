"""Colours and markers of matplotlib figures; the web pages define theirs in CSS."""

from __future__ import annotations

# Okabe and Ito (2008), with a grey of sufficient contrast: distinct for all colour vision.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#767676", "#E69F00")
BLUE, VERMILION, GREY = PALETTE[0], PALETTE[1], PALETTE[4]
MARKERS = "osD^vP"  # one per series, so that series differ by more than colour
