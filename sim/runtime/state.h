// What the parts of the simulated ACL runtime share.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

// Everything else of this library is hidden.
#pragma GCC visibility push(default)
#include "acl/acl.h"
#include "acl/acl_op_compiler.h"
#include "acl/error_codes/rt_error_codes.h"
#include "sim_runtime.h"
#pragma GCC visibility pop

namespace sim {

// Makes `format` the thread's recent error message and returns `code`.
__attribute__((format(printf, 2, 3))) aclError Fail(aclError code, const char *format, ...);

// Refuses a function by name. Not ACL_ERROR_RT_FEATURE_NOT_SUPPORT: torch_npu ignores that one.
aclError Refuse(const char *function);

// Work of a stream: 0, or an error and its text.
using Task = std::function<aclError(std::string &message)>;

// An ordered queue with a thread of its own, which starts with the first task.
class Stream {
public:
    Stream(int32_t device, int32_t id) : device(device), id(id) {}

    // `essential` work runs even after a failure: others wait for it.
    void Enqueue(Task task, bool essential);
    // Waits until all that was enqueued before is done, at most `timeoutMs` (negative: for ever).
    // Returns the stream's error, if there is one, and forgets it.
    aclError Synchronize(int32_t timeoutMs);
    bool Idle();
    // In the child of a fork: the thread is gone, and so is its work.
    void Abandon();

    const int32_t device;
    const int32_t id;

private:
    struct Entry {
        Task task;
        bool essential;
    };
    void Work();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Entry> queue_;
    uint64_t enqueued_ = 0;
    uint64_t finished_ = 0;
    bool started_ = false;
    aclError error_ = ACL_SUCCESS;
    std::string message_;
};

// The stream behind a handle; nullptr is the current device's default one. Returns nullptr, with a
// message, where there is none.
Stream *FindStream(aclrtStream handle);
int32_t DeviceCount();
// -1 where the thread has none.
int32_t CurrentDevice();
// Runs work on a stream.
aclError EnqueueOn(aclrtStream stream, Task task, bool essential = false);

// Lets other Python threads run while this one waits: a stream's task may need the interpreter.
class Blocking {
public:
    Blocking();
    Blocking(const Blocking &) = delete;
    Blocking &operator=(const Blocking &) = delete;
    ~Blocking();

private:
    void *thread_ = nullptr;
};

// Bytes of device memory in use.
uint64_t UsedBytes(int32_t device);
// In the child of a fork: locks may be held by threads that are gone.
void ResetMemoryLock();

}  // namespace sim
