#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <new>

#include "state.h"

namespace sim {
namespace {

constexpr size_t kAlignment = 512;
constexpr int32_t kHost = -1;
// An access that leaves an allocation must not hit the next one.
constexpr size_t kRedZone = 4096;
// So much freed memory is not given out again yet: an access to it is found, and harmless.
constexpr uint64_t kQuarantineBytes = uint64_t{1} << 30;
constexpr size_t kQuarantineBlocks = 1024;

// Allocations by their address, with exactly the size that was asked for.
using Allocations = std::map<uintptr_t, SimAllocation>;

struct Memory {
    std::mutex mutex;
    Allocations allocations;  // device kHost: pinned host memory
    std::map<int32_t, uint64_t> used;
    Allocations freed;
    std::deque<uintptr_t> freedOrder;  // the oldest first
    uint64_t freedBytes = 0;
};
Memory &TheMemory() {
    static auto *memory = new Memory;
    return *memory;
}

aclError Allocate(void **out, size_t size, int32_t device) {
    if (out == nullptr || size == 0) {
        return Fail(ACL_ERROR_INVALID_PARAM, "an allocation of %zu bytes", size);
    }
    if (simProfile() == nullptr) {
        return Fail(ACL_ERROR_INTERNAL_ERROR, "%s", simProfileError());
    }
    Memory &memory = TheMemory();
    const std::lock_guard<std::mutex> lock(memory.mutex);
    const uint64_t total = simProfile()->hbmBytes;
    const uint64_t used = memory.used[device];
    if (device != kHost && (size > total || used > total - size)) {
        return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                    "Failed to allocate %zu bytes on device %d: %llu of %llu are in use", size,
                    device, static_cast<unsigned long long>(used),
                    static_cast<unsigned long long>(total));
    }
    void *address = nullptr;
    if (posix_memalign(&address, kAlignment, size + kRedZone) != 0) {
        return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                    "Failed to allocate %zu bytes: this machine has no more memory", size);
    }
    memory.allocations[reinterpret_cast<uintptr_t>(address)] = {address, size, device};
    memory.used[device] += size;
    *out = address;
    return ACL_SUCCESS;
}

// Gives the pages of freed memory back to the system; their addresses stay taken.
void DropPages(const SimAllocation &allocation) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto base = reinterpret_cast<uintptr_t>(allocation.base);
    const uintptr_t begin = (base + page - 1) / page * page;
    const uintptr_t end = (base + allocation.bytes) / page * page;
    if (begin < end) {
        madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
    }
}

void Quarantine(Memory &memory, const SimAllocation &allocation) {
    DropPages(allocation);
    const auto address = reinterpret_cast<uintptr_t>(allocation.base);
    memory.freed[address] = allocation;
    memory.freedOrder.push_back(address);
    memory.freedBytes += allocation.bytes;
    while (memory.freedBytes > kQuarantineBytes || memory.freed.size() > kQuarantineBlocks) {
        const auto oldest = memory.freed.find(memory.freedOrder.front());
        memory.freedOrder.pop_front();
        memory.freedBytes -= oldest->second.bytes;
        std::free(const_cast<void *>(oldest->second.base));
        memory.freed.erase(oldest);
    }
}

aclError Release(void *address, bool host, const char *function) {
    Memory &memory = TheMemory();
    const std::lock_guard<std::mutex> lock(memory.mutex);
    const auto found = memory.allocations.find(reinterpret_cast<uintptr_t>(address));
    if (found == memory.allocations.end() || (found->second.device == kHost) != host) {
        return Fail(ACL_ERROR_INVALID_PARAM, "%s: %p was not allocated", function, address);
    }
    memory.used[found->second.device] -= found->second.bytes;
    Quarantine(memory, found->second);
    memory.allocations.erase(found);
    return ACL_SUCCESS;
}

// Under the lock.
const SimAllocation *FindIn(const Allocations &allocations, const void *address) {
    auto after = allocations.upper_bound(reinterpret_cast<uintptr_t>(address));
    if (after == allocations.begin()) {
        return nullptr;
    }
    const SimAllocation &candidate = std::prev(after)->second;
    const auto offset =
        reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(candidate.base);
    return offset < candidate.bytes ? &candidate : nullptr;
}
const SimAllocation *Find(const void *address) { return FindIn(TheMemory().allocations, address); }

// Whether [address, address + bytes) is allowed: it may not leave an allocation that it begins in.
// What lies in none is the program's own memory.
aclError CheckExtent(const void *address, size_t bytes, const char *what) {
    if (bytes != 0 && address == nullptr) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s: a null pointer", what);
    }
    const std::lock_guard<std::mutex> lock(TheMemory().mutex);
    const SimAllocation *allocation = Find(address);
    if (allocation == nullptr && FindIn(TheMemory().freed, address) != nullptr) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p, which was freed", what, address);
    }
    if (allocation != nullptr) {
        const auto offset =
            reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(allocation->base);
        if (bytes > allocation->bytes - offset) {
            return Fail(ACL_ERROR_RT_PARAM_INVALID,
                        "%s: bytes [%llu, %llu) of an allocation of %llu bytes", what,
                        static_cast<unsigned long long>(offset),
                        static_cast<unsigned long long>(offset + bytes),
                        static_cast<unsigned long long>(allocation->bytes));
        }
    }
    return ACL_SUCCESS;
}

aclError CheckCopy(const void *dst, size_t room, const void *src, size_t count) {
    if (count > room) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "a copy of %zu bytes to a place of %zu", count,
                    room);
    }
    const aclError error = CheckExtent(dst, count, "a copy writes");
    return error != ACL_SUCCESS ? error : CheckExtent(src, count, "a copy reads");
}

}  // namespace

uint64_t UsedBytes(int32_t device) {
    const std::lock_guard<std::mutex> lock(TheMemory().mutex);
    return TheMemory().used[device];
}

void ResetMemoryLock() { new (&TheMemory().mutex) std::mutex; }

}  // namespace sim

using sim::Fail;

extern "C" {

int simFindAllocation(const void *address, SimAllocation *out) {
    const std::lock_guard<std::mutex> lock(sim::TheMemory().mutex);
    const SimAllocation *found = sim::Find(address);
    if (found == nullptr || found->device == sim::kHost) {
        return 0;
    }
    *out = *found;
    return 1;
}

aclError aclrtMalloc(void **out, size_t size, aclrtMemMallocPolicy) {
    int32_t device = 0;
    const aclError error = aclrtGetDevice(&device);
    return error != ACL_SUCCESS ? error : sim::Allocate(out, size, device);
}
aclError aclrtMallocAlign32(void **out, size_t size, aclrtMemMallocPolicy policy) {
    return aclrtMalloc(out, size, policy);
}
aclError aclrtFree(void *address) { return sim::Release(address, false, "aclrtFree"); }
aclError aclrtMallocHost(void **out, size_t size) { return sim::Allocate(out, size, sim::kHost); }
aclError aclrtMallocHostWithCfg(void **out, uint64_t size, aclrtMallocConfig *) {
    return sim::Allocate(out, size, sim::kHost);
}
aclError aclrtFreeHost(void *address) { return sim::Release(address, true, "aclrtFreeHost"); }

aclError aclrtGetMemInfo(aclrtMemAttr, size_t *free, size_t *total) {
    int32_t device = 0;
    if (const aclError error = aclrtGetDevice(&device)) {
        return error;
    }
    if (free == nullptr || total == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemInfo: null pointer");
    }
    *total = simProfile()->hbmBytes;
    *free = *total - sim::UsedBytes(device);
    return ACL_SUCCESS;
}

aclError aclrtPointerGetAttributes(const void *address, aclrtPtrAttributes *attributes) {
    const std::lock_guard<std::mutex> lock(sim::TheMemory().mutex);
    const SimAllocation *found = sim::Find(address);
    *attributes = {};
    if (found == nullptr) {
        attributes->location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    } else if (found->device == sim::kHost) {
        attributes->location.type = ACL_MEM_LOCATION_TYPE_HOST;
    } else {
        attributes->location = {static_cast<uint32_t>(found->device), ACL_MEM_LOCATION_TYPE_DEVICE};
    }
    return ACL_SUCCESS;
}

// Host memory is device memory here: it is reachable at its own address.
aclError aclrtHostRegister(void *address, uint64_t, aclrtHostRegisterType, void **device) {
    *device = address;
    return ACL_SUCCESS;
}
aclError aclrtHostRegisterV2(void *, uint64_t, uint32_t) { return ACL_SUCCESS; }
aclError aclrtHostUnregister(void *) { return ACL_SUCCESS; }

aclError aclrtMemcpy(void *dst, size_t room, const void *src, size_t count, aclrtMemcpyKind) {
    if (const aclError error = sim::CheckCopy(dst, room, src, count)) {
        return error;
    }
    const sim::Blocking blocking;
    std::memmove(dst, src, count);
    return ACL_SUCCESS;
}

aclError aclrtMemcpyAsync(void *dst, size_t room, const void *src, size_t count, aclrtMemcpyKind,
                          aclrtStream stream) {
    if (const aclError error = sim::CheckCopy(dst, room, src, count)) {
        return error;
    }
    return sim::EnqueueOn(stream, [=](std::string &) -> aclError {
        std::memmove(dst, src, count);
        return ACL_SUCCESS;
    });
}

// Asynchronous where both sides are pinned or device memory, else done before it returns.
aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t room, const void *src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
    bool known = false;
    {
        const std::lock_guard<std::mutex> lock(sim::TheMemory().mutex);
        known = sim::Find(dst) != nullptr && sim::Find(src) != nullptr;
    }
    const aclError error = aclrtMemcpyAsync(dst, room, src, count, kind, stream);
    return error != ACL_SUCCESS || known ? error : aclrtSynchronizeStream(stream);
}

aclError aclrtMemset(void *address, size_t room, int32_t value, size_t count) {
    if (count > room) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "a fill of %zu bytes in a place of %zu", count,
                    room);
    }
    if (const aclError error = sim::CheckExtent(address, count, "a fill writes")) {
        return error;
    }
    std::memset(address, value, count);
    return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void *address, size_t room, int32_t value, size_t count,
                          aclrtStream stream) {
    if (count > room) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "a fill of %zu bytes in a place of %zu", count,
                    room);
    }
    if (const aclError error = sim::CheckExtent(address, count, "a fill writes")) {
        return error;
    }
    return sim::EnqueueOn(stream, [=](std::string &) -> aclError {
        std::memset(address, value, count);
        return ACL_SUCCESS;
    });
}

// A hint to the cache.
aclError aclrtCmoAsync(void *, size_t, aclrtCmoType, aclrtStream) { return ACL_SUCCESS; }
}
