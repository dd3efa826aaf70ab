#include "estimate.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace sim {
namespace {

// Sustained, with all cores at work.
constexpr double kGlobalGbps2201 = 1500;
constexpr double kGlobalGbps3510 = 1600;
// Instructions that a trace holds, over all launches: viewers do not take more.
constexpr size_t kTraceLimit = 1'000'000;

struct Listener {
    bool trace;
    size_t traced = 0;
    std::vector<LaunchEstimate> launches;
};

std::mutex mutex;
std::map<int, Listener> listeners;
int nextListener = 1;

bool AnyoneTraces() {
    const std::lock_guard<std::mutex> lock(mutex);
    return std::any_of(listeners.begin(), listeners.end(),
                       [](const auto &entry) { return entry.second.trace; });
}

}  // namespace

int Listen(bool trace) {
    const std::lock_guard<std::mutex> lock(mutex);
    listeners[nextListener].trace = trace;
    return nextListener++;
}

std::vector<LaunchEstimate> Take(int listener) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = listeners.find(listener);
    if (found == listeners.end()) {
        return {};
    }
    std::vector<LaunchEstimate> launches = std::move(found->second.launches);
    listeners.erase(found);
    return launches;
}

Estimate::Estimate(const KernelInfo &kernel, uint32_t blocks, const SimSocProfile &profile)
    : bytesPerCycle_((profile.npuArch == 3510 ? kGlobalGbps3510 : kGlobalGbps2201) * 1000 /
                     profile.clockMhz),
      coreEnds_(std::max(profile.aivCores, 1)),
      traces_(AnyoneTraces()) {
    launch_.kernel = kernel.name;
    launch_.blocks = blocks;
    launch_.cores = profile.aivCores;
    launch_.clockMhz = profile.clockMhz;
}

void Estimate::AddBlock(uint32_t block, Timing &timing, const std::vector<Span> &spans) {
    const uint32_t core = block % static_cast<uint32_t>(coreEnds_.size());
    const double begin = coreEnds_[core];
    coreEnds_[core] += timing.End();
    launch_.usage.Add(timing.Used());
    for (const Span &span : spans) {
        if (launch_.trace.size() < kTraceLimit) {
            launch_.trace.push_back({core, block, begin, span});
        } else {
            ++launch_.untraced;
        }
    }
}

void Estimate::Publish() {
    const Usage &usage = launch_.usage;
    const auto busiest = std::max_element(std::begin(usage.busy), std::end(usage.busy));
    launch_.bound = static_cast<Pipe>(busiest - std::begin(usage.busy));
    launch_.cycles = *std::max_element(coreEnds_.begin(), coreEnds_.end());
    const double memory = static_cast<double>(usage.bytesIn + usage.bytesOut) / bytesPerCycle_;
    if (memory > launch_.cycles) {
        launch_.cycles = memory;
        launch_.bound = usage.bytesIn >= usage.bytesOut ? Pipe::MTE2 : Pipe::MTE3;
    }
    const std::lock_guard<std::mutex> lock(mutex);
    for (auto &[id, listener] : listeners) {
        listener.launches.push_back(launch_);
        LaunchEstimate &copy = listener.launches.back();
        const size_t room = listener.trace ? kTraceLimit - listener.traced : 0;
        if (copy.trace.size() > room) {
            copy.untraced += listener.trace ? copy.trace.size() - room : 0;
            copy.trace.resize(room);
        }
        listener.traced += copy.trace.size();
    }
}

}  // namespace sim
