#include <dlfcn.h>
#include <pthread.h>

#include <chrono>
#include <map>
#include <new>
#include <thread>
#include <vector>

#include "state.h"

namespace sim {
namespace {

thread_local int32_t taskDevice = -1;

// All streams. Leaked, like everything here that outlives main: torch_npu synchronises at exit
// while other threads live.
struct Streams {
    std::mutex mutex;
    std::map<void *, Stream *> all;
    std::map<int32_t, Stream *> defaults;
    int32_t nextId = 0;
};
Streams &TheStreams() {
    static auto *streams = new Streams;
    return *streams;
}

// An event refers to its latest record; whoever waits means the record that was the latest then.
struct Event {
    std::mutex mutex;
    std::condition_variable changed;
    uint64_t recorded = 0;
    uint64_t completed = 0;
    uint64_t microseconds = 0;  // when the last completed record was reached

    bool Complete() {
        const std::lock_guard<std::mutex> lock(mutex);
        return completed >= recorded;
    }
    void Wait(uint64_t record) {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return completed >= record; });
    }
};

// All events. One may be destroyed while streams wait for it.
struct Events {
    std::mutex mutex;
    std::map<aclrtEvent, std::shared_ptr<Event>> all;
};
Events &TheEvents() {
    static auto *events = new Events;
    return *events;
}

void AfterForkInChild() {
    Streams &streams = TheStreams();
    new (&streams.mutex) std::mutex;
    for (auto &[handle, stream] : streams.all) {
        stream->Abandon();
    }
    new (&TheEvents().mutex) std::mutex;
    ResetMemoryLock();
}

Stream *NewStream(Streams &streams, int32_t device) {
    static const int registered = pthread_atfork(nullptr, nullptr, AfterForkInChild);
    static_cast<void>(registered);
    auto *stream = new Stream(device, streams.nextId++);
    streams.all[stream] = stream;
    return stream;
}

}  // namespace

Blocking::Blocking() {
    static const auto check = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
    static const auto initialized =
        reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
    static const auto save =
        reinterpret_cast<void *(*)()>(dlsym(RTLD_DEFAULT, "PyEval_SaveThread"));
    if (check != nullptr && save != nullptr && initialized() != 0 && check() == 1) {
        thread_ = save();
    }
}

Blocking::~Blocking() {
    if (thread_ != nullptr) {
        static const auto restore =
            reinterpret_cast<void (*)(void *)>(dlsym(RTLD_DEFAULT, "PyEval_RestoreThread"));
        restore(thread_);
    }
}

void Stream::Enqueue(Task task, bool essential) {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back({std::move(task), essential});
    ++enqueued_;
    if (!started_) {
        started_ = true;
        std::thread(&Stream::Work, this).detach();
    }
    changed_.notify_all();
}

void Stream::Work() {
    taskDevice = device;
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return !queue_.empty(); });
        // What follows a failure would work on garbage, until somebody has seen the failure.
        if (error_ == ACL_SUCCESS || queue_.front().essential) {
            Entry entry = std::move(queue_.front());
            queue_.pop_front();
            lock.unlock();
            std::string message;
            const aclError error = entry.task(message);
            entry.task = nullptr;
            lock.lock();
            if (error != ACL_SUCCESS && error_ == ACL_SUCCESS) {
                error_ = error;
                message_ = std::move(message);
            }
        } else {
            queue_.pop_front();
        }
        ++finished_;
        changed_.notify_all();
    }
}

aclError Stream::Synchronize(int32_t timeoutMs) {
    std::unique_lock<std::mutex> lock(mutex_);
    const uint64_t target = enqueued_;
    const auto done = [&] { return finished_ >= target; };
    if (!done()) {
        lock.unlock();
        const Blocking blocking;
        lock.lock();
        if (timeoutMs < 0) {
            changed_.wait(lock, done);
        } else if (!changed_.wait_for(lock, std::chrono::milliseconds(timeoutMs), done)) {
            lock.unlock();
            return Fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                        "stream %d did not finish its work within %d ms", id, timeoutMs);
        }
        lock.unlock();  // before the interpreter is taken back
    } else {
        lock.unlock();
    }
    lock.lock();
    const aclError error = error_;
    if (error != ACL_SUCCESS) {
        Fail(error, "%s", message_.c_str());
        error_ = ACL_SUCCESS;
        message_.clear();
    }
    return error;
}

bool Stream::Idle() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return finished_ == enqueued_;
}

void Stream::Abandon() {
    new (&mutex_) std::mutex;
    new (&changed_) std::condition_variable;
    new (&queue_) std::deque<Entry>;  // the old one may be half changed
    finished_ = enqueued_;
    started_ = false;
    error_ = ACL_SUCCESS;
}

Stream *FindStream(aclrtStream handle) {
    Streams &streams = TheStreams();
    const std::lock_guard<std::mutex> lock(streams.mutex);
    if (handle == nullptr) {
        const int32_t device = CurrentDevice();
        if (device < 0) {
            Fail(ACL_ERROR_RT_CONTEXT_NULL, "the thread has no device: aclrtSetDevice comes first");
            return nullptr;
        }
        Stream *&stream = streams.defaults[device];
        if (stream == nullptr) {
            stream = NewStream(streams, device);
        }
        return stream;
    }
    const auto found = streams.all.find(handle);
    if (found == streams.all.end()) {
        Fail(ACL_ERROR_RT_PARAM_INVALID, "%p is no stream", handle);
        return nullptr;
    }
    return found->second;
}

aclError EnqueueOn(aclrtStream handle, Task task, bool essential) {
    Stream *stream = FindStream(handle);
    if (stream == nullptr) {
        return handle == nullptr ? ACL_ERROR_RT_CONTEXT_NULL : ACL_ERROR_RT_PARAM_INVALID;
    }
    stream->Enqueue(std::move(task), essential);
    return ACL_SUCCESS;
}

namespace {

// The event behind a handle. Returns nullptr, with a message, where there is none.
std::shared_ptr<Event> FindEvent(aclrtEvent handle) {
    const std::lock_guard<std::mutex> lock(TheEvents().mutex);
    const auto found = TheEvents().all.find(handle);
    if (found == TheEvents().all.end()) {
        Fail(ACL_ERROR_RT_PARAM_INVALID, "%p is no event", handle);
        return nullptr;
    }
    return found->second;
}

uint64_t Microseconds() {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
}

aclError NewEvent(aclrtEvent *event) {
    if (event == nullptr) {
        return Fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateEvent: event is null");
    }
    const auto made = std::make_shared<Event>();
    const std::lock_guard<std::mutex> lock(TheEvents().mutex);
    TheEvents().all[made.get()] = made;
    *event = made.get();
    return ACL_SUCCESS;
}

aclError SynchronizeAll(int32_t timeoutMs) {
    const int32_t device = CurrentDevice();
    if (device < 0) {
        return Fail(ACL_ERROR_RT_CONTEXT_NULL,
                    "the thread has no device: aclrtSetDevice comes first");
    }
    std::vector<Stream *> streams;
    {
        const std::lock_guard<std::mutex> lock(TheStreams().mutex);
        for (auto &[handle, stream] : TheStreams().all) {
            if (stream->device == device) {
                streams.push_back(stream);
            }
        }
    }
    aclError first = ACL_SUCCESS;
    std::string message;
    for (Stream *stream : streams) {
        const aclError error = stream->Synchronize(timeoutMs);
        if (error != ACL_SUCCESS && first == ACL_SUCCESS) {
            first = error;
            message = aclGetRecentErrMsg();
        }
    }
    return first == ACL_SUCCESS ? first : Fail(first, "%s", message.c_str());
}

}  // namespace
}  // namespace sim

using sim::Event;
using sim::Fail;
using sim::FindEvent;
using sim::FindStream;
using sim::Stream;

extern "C" {

int simStreamEnqueue(void *stream, SimTask task, void *arg) {
    return sim::EnqueueOn(stream, [task, arg](std::string &message) -> aclError {
        char text[1024] = "";
        const int error = task(arg, text, sizeof(text));
        message = text;
        return error;
    });
}

int simTaskDevice() { return sim::taskDevice; }

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t, uint32_t) {
    const int32_t device = sim::CurrentDevice();
    if (stream == nullptr || device < 0) {
        return Fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtCreateStream: the thread has no device");
    }
    const std::lock_guard<std::mutex> lock(sim::TheStreams().mutex);
    *stream = sim::NewStream(sim::TheStreams(), device);
    return ACL_SUCCESS;
}

aclError aclrtCreateStream(aclrtStream *stream) {
    return aclrtCreateStreamWithConfig(stream, 0, 0);
}

aclError aclrtDestroyStream(aclrtStream handle) {
    Stream *stream = FindStream(handle);
    if (stream == nullptr || handle == nullptr) {
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyStream: %p is no stream", handle);
    }
    const aclError error = stream->Synchronize(-1);
    // The object stays: its thread sleeps in it.
    const std::lock_guard<std::mutex> lock(sim::TheStreams().mutex);
    sim::TheStreams().all.erase(handle);
    return error;
}

aclError aclrtDestroyStreamForce(aclrtStream handle) { return aclrtDestroyStream(handle); }

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream handle, int32_t timeout) {
    Stream *stream = FindStream(handle);
    return stream == nullptr ? ACL_ERROR_RT_PARAM_INVALID : stream->Synchronize(timeout);
}

aclError aclrtSynchronizeStream(aclrtStream handle) {
    return aclrtSynchronizeStreamWithTimeout(handle, -1);
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) { return sim::SynchronizeAll(timeout); }
aclError aclrtSynchronizeDevice() { return sim::SynchronizeAll(-1); }

aclError aclrtStreamQuery(aclrtStream handle, aclrtStreamStatus *status) {
    Stream *stream = FindStream(handle);
    if (stream == nullptr || status == nullptr) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    *status = stream->Idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream handle, int32_t *id) {
    Stream *stream = FindStream(handle);
    if (stream == nullptr || id == nullptr) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    *id = stream->id;
    return ACL_SUCCESS;
}

// What a failure does is fixed: it ends the work up to the synchronisation that reports it.
aclError aclrtSetStreamFailureMode(aclrtStream handle, uint64_t) {
    return FindStream(handle) == nullptr ? ACL_ERROR_RT_PARAM_INVALID : ACL_SUCCESS;
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream, uint32_t flag) {
    return flag == 0 ? ACL_SUCCESS : sim::Refuse("aclrtSetStreamOverflowSwitch(.., 1)");
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream, uint32_t *flag) {
    *flag = 0;
    return ACL_SUCCESS;
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc function, void *arguments) {
    return sim::EnqueueOn(
        stream,
        [function, arguments](std::string &) -> aclError {
            function(arguments);
            return ACL_SUCCESS;
        },
        true);
}

aclError aclrtLaunchCallback(aclrtCallback function, void *data, aclrtCallbackBlockType,
                             aclrtStream stream) {
    return aclrtLaunchHostFunc(stream, function, data);
}

// Callbacks run on their stream's thread; there is nothing to subscribe to, nothing to process.
aclError aclrtSubscribeReport(uint64_t, aclrtStream) { return ACL_SUCCESS; }
aclError aclrtUnSubscribeReport(uint64_t, aclrtStream) { return ACL_SUCCESS; }
aclError aclrtProcessReport(int32_t timeout) {
    const sim::Blocking blocking;
    std::this_thread::sleep_for(std::chrono::milliseconds(timeout < 0 ? 1000 : timeout));
    return ACL_ERROR_RT_REPORT_TIMEOUT;
}

aclError aclrtCreateEvent(aclrtEvent *event) { return sim::NewEvent(event); }
aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t) { return sim::NewEvent(event); }
aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t) { return sim::NewEvent(event); }

aclError aclrtDestroyEvent(aclrtEvent handle) {
    const std::shared_ptr<Event> event = FindEvent(handle);
    if (event == nullptr) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    const std::lock_guard<std::mutex> lock(sim::TheEvents().mutex);
    sim::TheEvents().all.erase(handle);
    return ACL_SUCCESS;
}

aclError aclrtRecordEvent(aclrtEvent handle, aclrtStream stream) {
    const std::shared_ptr<Event> event = FindEvent(handle);
    if (event == nullptr || FindStream(stream) == nullptr) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    uint64_t record = 0;
    {
        const std::lock_guard<std::mutex> lock(event->mutex);
        record = ++event->recorded;
    }
    return sim::EnqueueOn(
        stream,
        [event, record](std::string &) -> aclError {
            const std::lock_guard<std::mutex> lock(event->mutex);
            if (record > event->completed) {
                event->completed = record;
                event->microseconds = sim::Microseconds();
            }
            event->changed.notify_all();
            return ACL_SUCCESS;
        },
        true);
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent handle) {
    const std::shared_ptr<Event> event = FindEvent(handle);
    if (event == nullptr) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    uint64_t record = 0;
    {
        const std::lock_guard<std::mutex> lock(event->mutex);
        record = event->recorded;
    }
    return sim::EnqueueOn(
        stream,
        [event, record](std::string &) -> aclError {
            event->Wait(record);
            return ACL_SUCCESS;
        },
        true);
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
    return FindEvent(event) == nullptr || FindStream(stream) == nullptr ? ACL_ERROR_RT_PARAM_INVALID
                                                                        : ACL_SUCCESS;
}

aclError aclrtSynchronizeEvent(aclrtEvent handle) {
    const std::shared_ptr<Event> event = FindEvent(handle);
    if (event == nullptr) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    if (!event->Complete()) {
        const sim::Blocking blocking;
        uint64_t record = 0;
        {
            const std::lock_guard<std::mutex> lock(event->mutex);
            record = event->recorded;
        }
        event->Wait(record);
    }
    return ACL_SUCCESS;
}

// Mind that complete is 1 here, and 0 in the next function.
aclError aclrtQueryEventStatus(aclrtEvent handle, aclrtEventRecordedStatus *status) {
    const std::shared_ptr<Event> event = FindEvent(handle);
    if (event == nullptr || status == nullptr) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    *status = event->Complete() ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent handle, aclrtEventWaitStatus *status) {
    const std::shared_ptr<Event> event = FindEvent(handle);
    if (event == nullptr || status == nullptr) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    *status = event->Complete() ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent handle, uint64_t *timestamp) {
    const std::shared_ptr<Event> event = FindEvent(handle);
    if (event == nullptr || timestamp == nullptr) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    const std::lock_guard<std::mutex> lock(event->mutex);
    if (event->completed == 0) {
        return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "the event was not recorded");
    }
    if (event->completed < event->recorded) {
        return Fail(ACL_ERROR_RT_EVENT_NOT_COMPLETE, "the event is not complete");
    }
    *timestamp = event->microseconds;
    return ACL_SUCCESS;
}

aclError aclrtEventElapsedTime(float *milliseconds, aclrtEvent start, aclrtEvent end) {
    uint64_t from = 0;
    uint64_t to = 0;
    aclError error = aclrtEventGetTimestamp(start, &from);
    if (error == ACL_SUCCESS) {
        error = aclrtEventGetTimestamp(end, &to);
    }
    if (error == ACL_SUCCESS && milliseconds == nullptr) {
        error = Fail(ACL_ERROR_INVALID_PARAM, "aclrtEventElapsedTime: null pointer");
    }
    if (error == ACL_SUCCESS) {
        *milliseconds =
            static_cast<float>(static_cast<double>(to) - static_cast<double>(from)) / 1000.0F;
    }
    return error;
}

aclError aclmdlRICaptureGetInfo(aclrtStream, aclmdlRICaptureStatus *status, aclmdlRI *model) {
    *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    if (model != nullptr) {
        *model = nullptr;
    }
    return ACL_SUCCESS;
}
}
