// Python's access to the simulator: amct_ops._sim._control.
#include <pybind11/pybind11.h>

#include <string>

#include "estimate.h"
#include "sim_runtime.h"

namespace py = pybind11;

namespace {

py::dict Profile() {
    const SimSocProfile *profile = simProfile();
    if (profile == nullptr) {
        throw py::value_error(simProfileError());
    }
    py::dict out;
    out["name"] = profile->name;
    out["npu_arch"] = "dav-" + std::to_string(profile->npuArch);
    out["aic_cores"] = profile->aicCores;
    out["aiv_cores"] = profile->aivCores;
    out["ub_bytes"] = profile->ubBytes;
    out["hbm_bytes"] = profile->hbmBytes;
    out["clock_mhz"] = profile->clockMhz;
    return out;
}

py::dict ByPipe(const double (&cycles)[sim::kPipes]) {
    py::dict out;
    for (const sim::Pipe pipe : {sim::Pipe::MTE2, sim::Pipe::V, sim::Pipe::MTE3, sim::Pipe::S}) {
        out[sim::PipeName(pipe)] = cycles[static_cast<int>(pipe)];
    }
    return out;
}

py::dict Launch(const sim::LaunchEstimate &launch) {
    py::dict out;
    out["kernel"] = launch.kernel;
    out["blocks"] = launch.blocks;
    out["cores"] = launch.cores;
    out["clock_mhz"] = launch.clockMhz;
    out["cycles"] = launch.cycles;
    out["busy"] = ByPipe(launch.usage.busy);
    out["bound"] = sim::PipeName(launch.bound);
    out["bytes_in"] = launch.usage.bytesIn;
    out["bytes_out"] = launch.usage.bytesOut;
    out["ub_bytes"] = launch.usage.ubBytes;
    out["untraced"] = launch.untraced;
    py::list spans;
    for (const auto &traced : launch.trace) {
        const sim::Span &span = traced.span;
        spans.append(
            py::make_tuple(traced.core, traced.block, sim::PipeName(span.pipe), span.api,
                           traced.begin + span.begin, span.end - span.begin,
                           std::string(span.loc.file) + ":" + std::to_string(span.loc.line)));
    }
    out["spans"] = spans;
    return out;
}

py::list TakeLaunches(int listener) {
    py::list out;
    for (const sim::LaunchEstimate &launch : sim::Take(listener)) {
        out.append(Launch(launch));
    }
    return out;
}

}  // namespace

PYBIND11_MODULE(_control, module) {
    module.doc() = "Control of the simulated NPU";
    module.def("profile", &Profile,
               "What the simulated SOC is: name, npu_arch, cores, sizes, clock.");
    module.def("listen", &sim::Listen, py::arg("trace"),
               "Begin to collect the estimates of launches; returns the listener.");
    module.def("take", &TakeLaunches, py::arg("listener"),
               "End a listener; returns a dictionary for each launch since its begin.");
}
