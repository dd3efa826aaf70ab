// Ascend C for the host: what the simulated toolkit knows of it.
#pragma once

#include "sim/arithmetic.h"
#include "sim/cast.h"
#include "sim/compare.h"
#include "sim/control.h"
#include "sim/convert.h"
#include "sim/debug.h"
#include "sim/dma.h"
#include "sim/handshake.h"
#include "sim/highlevel.h"
#include "sim/move.h"
#include "sim/operators.h"
#include "sim/queue.h"
#include "sim/reduce.h"
#include "sim/scalar.h"
#include "sim/sort.h"
#include "sim/sync.h"
#include "sim/tensor.h"
#include "sim/tiling.h"
#include "sim/workspace.h"
#if __NPU_ARCH__ == 3510
#include "sim/reg_compute.h"
#endif
