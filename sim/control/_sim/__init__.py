"""The simulated NPU, as Python sees it. Only wheels of the simulated toolkit hold this package.

It is public as :mod:`amct_ops.sim`.
"""
