// C interface of the simulated ACL runtime (libascendcl.so) to the other parts of the simulator:
// the kernel engine, the host API and the Python control module. Everything else talks to it
// through the public ACL functions.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What one simulated SOC is. All simulated devices of a process have the same profile.
typedef struct SimSocProfile {
    const char *name;   // as npu-smi gives it, e.g. "Ascend910B3"
    int32_t npuArch;    // 2201 | 3510
    int32_t aicCores;   // cube cores
    int32_t aivCores;   // vector cores
    uint64_t ubBytes;   // Unified Buffer of one vector core, as GetCoreMemSize reports it
    uint64_t hbmBytes;  // device memory
    int32_t clockMhz;   // vector core clock
} SimSocProfile;

// One live allocation of device memory.
typedef struct SimAllocation {
    const void *base;
    uint64_t bytes;  // exactly as requested
    int32_t device;
} SimAllocation;

// Work of a stream. Returns 0, or an aclError that becomes the stream's error; then `message`
// (at most `capacity` bytes with the terminator) tells the user what happened.
typedef int (*SimTask)(void *arg, char *message, size_t capacity);

// The profile named by AMCT_SIM_SOC, else the first SOC that the toolkit was built for.
// Returns NULL after an unknown AMCT_SIM_SOC; simProfileError() then says what is wrong.
const SimSocProfile *simProfile(void);
const char *simProfileError(void);

// Runs task(arg) on the stream's thread after everything that was enqueued before.
// A NULL stream is the current device's default stream. Takes ownership of nothing.
// Returns 0, or an aclError when the stream is not usable (the task then never runs).
int simStreamEnqueue(void *stream, SimTask task, void *arg);

// Finds the live device allocation that holds `address`. Returns 1 if there is one, else 0.
int simFindAllocation(const void *address, SimAllocation *out);

// The device of the stream whose task the calling thread runs, -1 outside a task.
int simTaskDevice(void);

#ifdef __cplusplus
}
#endif
