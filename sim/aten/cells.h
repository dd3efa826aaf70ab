// The fused cells of torch's LSTM and GRU, for which torch has no CPU kernel.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>

#include <optional>
#include <string>

// The kernel of a fused cell; none for all other operators.
std::optional<c10::KernelFunction> CellKernel(const std::string &operatorName);
