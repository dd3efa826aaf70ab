// Python's access to the simulator: amct_ops._sim._control.
#include <pybind11/pybind11.h>

#include <string>

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

}  // namespace

PYBIND11_MODULE(_control, module) {
    module.doc() = "Control of the simulated NPU";
    module.def("profile", &Profile,
               "What the simulated SOC is: name, npu_arch, cores, sizes, clock.");
}
