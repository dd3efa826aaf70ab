// What the Ascend C compiler knows without a header. The compiler driver includes this file first
// in every Ascend C source; `__global__` and `__simd_vf__` are translated by the driver itself.
#pragma once

#include <cstdint>

#define __aicore__
#define __vector__
#define __cube__
#define __mix__(...)
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __local_mem__
#define __simd_callee__
#define __inout_pipe__(...)
#define __check_sync_alias__
#define __sync_alias__

// Each kernel is compiled once, for the vector core.
#if __NPU_ARCH__ == 2201
#define __CCE_AICORE__ 220
#define __DAV_C220__
#define __DAV_C220_VEC__
#elif __NPU_ARCH__ == 3510
#define __CCE_AICORE__ 310
#define __DAV_C310__
#define __DAV_C310_VEC__
#endif

// In the libraries of the toolkit.
#define SIM_API __attribute__((visibility("default")))

namespace sim {

// A kernel function, as the launch sees it.
struct KernelInfo {
    const char *name;
    int npuArch;       // that it was compiled for
    const char *file;  // of the kernel, or of the launch
    int line;
};

// Puts a launch on `stream`: run(closure) once for each block, then drop(closure).
SIM_API void LaunchErased(const KernelInfo &kernel, uint32_t blocks, void *stream,
                          void (*run)(void *), void (*drop)(void *), void *closure);

// Launches `body` with `blocks` blocks; the closure is copied, arguments included.
template <typename Body>
void Launch(const KernelInfo &kernel, uint32_t blocks, void *stream, Body body) {
    LaunchErased(
        kernel, blocks, stream, [](void *closure) { (*static_cast<Body *>(closure))(); },
        [](void *closure) { delete static_cast<Body *>(closure); }, new Body(body));
}

}  // namespace sim
